// The reduce-scatter by recursive halving with which both of Rabenseifner's algorithms begin.
// Private to netmodel/collectives.
#pragma once

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// In round `bit` number `number` keeps half of what it has and gives the other half to its partner;
/// afterwards it holds the reduction of part halved(number, core, core).
inline void append_halving(const Fold& fold, std::int32_t number, const EvenParts& parts,
                           std::vector<Step>& steps) {
  for (std::int32_t bit = 1; bit < fold.core; bit *= 2) {
    const Half given = halved(number ^ bit, 2 * bit, fold.core);
    const std::int32_t peer = fold.member(number ^ bit);
    exchange(steps, peer, parts.range(given.first, given.last), peer);
  }
}

/// What `number` holds after round `bit`.
[[nodiscard]] inline std::int64_t held(const Fold& fold, std::int32_t number, std::int32_t bit,
                                       const EvenParts& parts) {
  const Half half = halved(number, 2 * bit, fold.core);
  return parts.range(half.first, half.last);
}

}  // namespace nplus1::netmodel::algorithms
