// A twin of this process measures what a stretch of the program takes when its data are in the caches: a copy of the
// process (fork) executes the stretch again and again, from the end of one MPI call to the beginning of the next, with
// all memory as it was before each pass, while the process itself waits. What the stretch costs after a wake-up, beside
// many other ranks on few cores, is what the host's caches cost; what a twin measures is the program's.
//
// Harmless: the twin has no memory in common with anybody but a page of ours, and of system calls only those that
// change its own memory: any other ends it (seccomp), as does any signal. It exists only while its process waits for
// it. Nobody else can wait for it (no SIGCHLD).
//
// One thread, Linux, x86-64 or whatever has ucontext and seccomp. Nothing here allocates, throws or takes a lock.
// Source: direct execution with re-execution from a checkpoint; measurements in docs/clock_model.md.
#pragma once

#include <cstdint>
#include <optional>

#include "stubs/clock/core_speed.hpp"

namespace nplus1::stubs::twin {

inline constexpr int kMostPasses = 32;
inline constexpr std::int64_t kLimitCpuNs = 200'000'000;  // of a twin

struct Measured {
  std::int64_t warm_ticks = 0;  // of the warm pass that counts, the shortest in cycles; 0: there is none
  CoreSpeed speed;              // of the core in it: cycles on average, loads as they took longest
  bool rough =
      false;       // others had the core, or part of it, in every pass: too long, nobody knows by how much
  int passes = 0;  // that ended

  /// In cycles, but for a factor that is the same for all of a processor.
  [[nodiscard]] double length() const {
    return static_cast<double>(warm_ticks) / static_cast<double>(speed.is_known() ? speed.chain_ticks : 1);
  }
  std::int64_t cost_ns =
      0;  // CPU time of process and twin, and what the twin slept: who waits for the process waits for it, too
};

/// Makes the page that process and twins share. False: no twins here (an old kernel, another architecture).
[[nodiscard]] bool begin() noexcept;

/// Whether nobody else has this core's other hardware thread now, as far as the core's readings so far tell. Takes as long as
/// core_speed().
[[nodiscard]] bool core_is_own() noexcept;

/// To be called where the thread leaves an MPI call. In the process: waits for a twin, at most `limit_ns`, and says
/// what it found. In the twin: returns nothing, once for each pass; the caller resumes the program. `usual`: the length of another
/// such stretch; if this one seems to be longer, the twin looks again a little later. 0: not known. `longest_ns`: of the CPU times
/// of such stretches; a twin whose first pass uses far more is given up.
[[nodiscard]] std::optional<Measured> measure(std::int64_t limit_ns, double usual = 0,
                                              std::int64_t longest_ns = kLimitCpuNs) noexcept;

/// Whether this process is a twin.
[[nodiscard]] bool is_twin() noexcept;
/// The twin resumes the program: the pass begins.
void begin_pass() noexcept;
/// The twin has come to the next MPI call: the pass ends.
[[noreturn]] void end_pass() noexcept;

}  // namespace nplus1::stubs::twin
