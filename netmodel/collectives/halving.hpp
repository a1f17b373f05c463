// The reduce-scatters by recursive halving with which Rabenseifner's algorithms begin: MPICH's, which cuts
// the vector into parts once, and Open MPI's, which halves what is left and folds by halves, too. Private to
// netmodel/collectives.
#pragma once

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// What MPICH cuts the vector into: its non-blocking forms do it otherwise.
[[nodiscard]] inline EvenParts halving_parts(const CollectiveCall& call, std::int32_t parts) {
  return {count(call.size), parts, call.blocking ? Rest::kFirst : Rest::kLast};
}

/// In round `bit` number `number` keeps half of what it has and gives the other half to its partner;
/// afterwards it holds the reduction of part halved(number, core, core).
inline void append_halving(const Fold& fold, std::int32_t number, const EvenParts& parts,
                           std::vector<Step>& steps) {
  for (std::int32_t bit = 1; bit < fold.core; bit *= 2) {
    const Half given = halved(number ^ bit, 2 * bit, fold.core);
    const std::int32_t peer = fold.member(number ^ bit);
    exchange(steps, peer, parts.range(given.first, given.last), peer);
    combine(steps);
  }
}

/// What `number` holds after round `bit`.
[[nodiscard]] inline std::int64_t held(const Fold& fold, std::int32_t number, std::int32_t bit,
                                       const EvenParts& parts) {
  const Half half = halved(number, 2 * bit, fold.core);
  return parts.range(half.first, half.last);
}

/// What number `number` keeps and gives away in round `bit` of Open MPI's halving, in bytes.
struct Window {
  std::int64_t kept;
  std::int64_t given;
};
[[nodiscard]] inline Window window(std::int32_t number, std::int32_t bit, std::int64_t size) {
  const std::int64_t element = element_size(size);
  Window w{size / element, 0};
  for (std::int32_t b = 1; b <= bit; b *= 2) {
    const std::int64_t lower = w.kept / 2;
    const std::int64_t upper = w.kept - lower;
    w = (number & b) == 0 ? Window{lower, upper} : Window{upper, lower};
  }
  return {w.kept * element, w.given * element};
}

/// Pairs of the fold (its odd members sit out) reduce a half each; then the halving. A member that sits out
/// has handed over its half afterwards.
inline void append_openmpi_halving(const Fold& fold, std::int32_t me, std::int64_t size,
                                   std::vector<Step>& steps) {
  const std::int32_t partner = Fold::partner(me);
  const Window halves = window(0, 1, size);
  if (fold.sits_out(me)) {
    exchange(steps, partner, halves.kept, partner);
    combine(steps);
    return send(steps, partner, halves.given);
  }
  if (fold.paired(me)) {
    exchange(steps, partner, halves.given, partner);
    combine(steps);
    receive(steps, partner);
  }
  const std::int32_t number = fold.number(me);
  for (std::int32_t bit = 1; bit < fold.core; bit *= 2) {
    const std::int32_t peer = fold.member(number ^ bit);
    exchange(steps, peer, window(number, bit, size).given, peer);
    combine(steps);
  }
}

}  // namespace nplus1::netmodel::algorithms
