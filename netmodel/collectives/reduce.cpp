// Everybody's vector combined at one member, by an operation that commutes.
#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/halving.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// The gather of Rabenseifner's Reduce: in each round, who is not in the root's half of the tree sends what
/// it holds and leaves. Whoever plays number 0 is `zero`.
void gather_halves(const Fold& fold, std::int32_t number, std::int32_t root_number, std::int32_t zero,
                   const EvenParts& parts, std::vector<Step>& steps) {
  for (std::int32_t bit = fold.core / 2; bit > 0; bit /= 2) {
    const std::int32_t other = number ^ bit;
    const std::int32_t peer = other == 0 ? zero : fold.member(other);
    if ((other & -bit) == (root_number & -bit)) return send(steps, peer, held(fold, number, bit, parts));
    receive(steps, peer);
  }
}

}  // namespace

void reduce_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.me != call.root) return send(steps, call.root, count(call.size));
  for (std::int32_t from = 0; from < call.members; ++from) {
    if (from != call.root) receive(steps, from);
  }
}

void reduce_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  for (std::int32_t bit = 1; bit < call.members; bit *= 2) {
    if ((me & bit) != 0) return send(steps, relative.member(me - bit), count(call.size));
    if (me + bit < call.members) receive(steps, relative.member(me + bit));
  }
}

/// Reduce-scatter by halving, then a gather to the root. A root that sits out takes over from number 0 for
/// the gather.
void reduce_rabenseifner(const CollectiveCall& call, std::vector<Step>& steps) {
  const Fold fold{call.members, Fold::Out::kOdd};
  const EvenParts parts{count(call.size), fold.core};
  const bool root_sits_out = fold.sits_out(call.root);
  const std::int32_t zero = root_sits_out ? call.root : fold.member(0);
  const std::int32_t root_number = root_sits_out ? 0 : fold.number(call.root);
  if (fold.sits_out(call.me)) {
    send(steps, Fold::partner(call.me), count(call.size));
    if (call.me != call.root) return;
    receive(steps, fold.member(0));
    return gather_halves(fold, 0, 0, zero, parts, steps);
  }
  if (fold.paired(call.me)) receive(steps, Fold::partner(call.me));
  const std::int32_t number = fold.number(call.me);
  append_halving(fold, number, parts, steps);
  if (number == 0 && root_sits_out) return send(steps, call.root, held(fold, 0, fold.core / 2, parts));
  gather_halves(fold, number, root_number, zero, parts, steps);
}

}  // namespace nplus1::netmodel::algorithms
