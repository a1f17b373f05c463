// What `nplus1 run` says to a simulator that it starts itself, beside a launcher, on the simulator's stdin.
#pragma once

namespace nplus1::simnode::settings {

/// At once: who started it is no part of the job. Where that one is killed, the ranks run on, and are simulated to their end.
inline constexpr char kBeside = 'b';
/// The launcher has ended.
inline constexpr char kJobOver = 'e';

}  // namespace nplus1::simnode::settings
