// A kMatch answer that comes before its message has, on networks with contention: who sends it is certain, when it is
// there is not. Between the simulator and its ranks only.
#pragma once

#include <cstdint>

namespace nplus1::events {

/// Answer::flag of such a kMatch; another kMatch, with the time, follows.
inline constexpr std::uint8_t kOnItsWay = 2;

}  // namespace nplus1::events
