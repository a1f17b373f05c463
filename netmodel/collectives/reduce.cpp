// Everybody's vector combined at one member, by an operation that commutes.
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/halving.hpp"
#include "netmodel/collectives/trees.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// The gather of Rabenseifner's Reduce: in each round, who is not in the root's half of the tree sends what
/// it holds and leaves. Whoever plays number 0 is `zero`; `held_after(bit)` is what I hold after round `bit`.
template <class Held>
void gather_halves(const Fold& fold, std::int32_t number, std::int32_t root_number, std::int32_t zero,
                   Held held_after, std::vector<Step>& steps) {
  for (std::int32_t bit = fold.core / 2; bit > 0; bit /= 2) {
    const std::int32_t other = number ^ bit;
    const std::int32_t peer = other == 0 ? zero : fold.member(other);
    if ((other & -bit) == (root_number & -bit)) return send(steps, peer, held_after(bit));
    receive(steps, peer);
  }
}

}  // namespace

/// The root takes one vector after the other.
void reduce_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.me != call.root) return send(steps, call.root, count(call.size));
  for (std::int32_t from = 0; from < call.members; ++from) {
    if (from != call.root) receive_and_combine(steps, from);
  }
}

/// SMPI's: the root listens to all at once.
void reduce_simgrid_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  const std::size_t first_step = steps.size();
  reduce_linear(call, steps);
  join_from(steps, first_step);
}

void reduce_binomial(const CollectiveCall& call, std::vector<Step>& steps) {
  const Relative relative{call.members, call.root};
  const std::int32_t me = relative.of(call.me);
  for (std::int32_t bit = 1; bit < call.members; bit *= 2) {
    if ((me & bit) != 0) return send(steps, relative.member(me - bit), count(call.size));
    if (me + bit < call.members) receive_and_combine(steps, relative.member(me + bit));
  }
}

/// Reduce-scatter by halving, then a gather to the root. A root that sits out takes over from number 0 for
/// the gather.
void reduce_rabenseifner(const CollectiveCall& call, std::vector<Step>& steps) {
  const Fold fold{call.members, Fold::Out::kOdd};
  const EvenParts parts = halving_parts(call, fold.core);
  const bool root_sits_out = fold.sits_out(call.root);
  const std::int32_t zero = root_sits_out ? call.root : fold.member(0);
  const std::int32_t root_number = root_sits_out ? 0 : fold.number(call.root);
  const auto held_by = [&](std::int32_t number) {
    return [&fold, &parts, number](std::int32_t bit) { return held(fold, number, bit, parts); };
  };
  if (fold.sits_out(call.me)) {
    send(steps, Fold::partner(call.me), count(call.size));
    if (call.me != call.root) return;
    receive(steps, fold.member(0));
    return gather_halves(fold, 0, 0, zero, held_by(0), steps);
  }
  if (fold.paired(call.me)) receive_and_combine(steps, Fold::partner(call.me));
  const std::int32_t number = fold.number(call.me);
  append_halving(fold, number, parts, steps);
  if (number == 0 && root_sits_out) return send(steps, call.root, held(fold, 0, fold.core / 2, parts));
  gather_halves(fold, number, root_number, zero, held_by(number), steps);
}

void reduce_chain(const CollectiveCall& call, std::vector<Step>& steps) {
  up(ChainTree{call.members}, call, count(call.size), steps);
}

/// The chain in segments; partial results start at its far end.
void reduce_pipelined(const CollectiveCall& call, std::vector<Step>& steps) {
  const std::int64_t segment = piece_of(count(call.size), count(call.segment));
  for (std::int64_t sent = 0; sent < count(call.size); sent += segment) {
    up(ChainTree{call.members}, call, std::min(segment, count(call.size) - sent), steps);
  }
}

void reduce_binary(const CollectiveCall& call, std::vector<Step>& steps) {
  up(BinaryTree{call.members}, call, count(call.size), steps);
}

namespace {

/// Steps of the subtree of members first..first+size-1, whose root is the last of them.
void up_in_order(const CollectiveCall& call, std::int32_t first, std::int32_t size, std::int32_t parent,
                 std::vector<Step>& steps) {
  const std::int32_t root = first + size - 1;
  const std::int32_t right = size / 2;  // members first..first+right-1; the left subtree comes next
  if (call.me != root) {
    const bool in_right = call.me < first + right;
    return in_right ? up_in_order(call, first, right, root, steps)
                    : up_in_order(call, first + right, size - right - 1, root, steps);
  }
  if (size > 1) receive_and_combine(steps, root - 1);
  if (size > 2) receive_and_combine(steps, first + right - 1);
  if (parent != kNoMember) send(steps, parent, count(call.size));
}

}  // namespace

/// A binary tree that keeps the order of the members, for operations that don't commute. Its root is the last
/// member, which sends the result on.
void reduce_in_order_binary(const CollectiveCall& call, std::vector<Step>& steps) {
  const std::int32_t last = call.members - 1;
  up_in_order(call, 0, call.members, kNoMember, steps);
  if (call.root == last) return;
  if (call.me == last) send(steps, call.root, count(call.size));
  if (call.me == call.root) receive(steps, last);
}

/// As rabenseifner, with Open MPI's halving.
void reduce_openmpi_rabenseifner(const CollectiveCall& call, std::vector<Step>& steps) {
  const Fold fold{call.members, Fold::Out::kOdd};
  const std::int64_t size = count(call.size);
  const bool root_sits_out = fold.sits_out(call.root);
  const std::int32_t zero = root_sits_out ? call.root : fold.member(0);
  const std::int32_t root_number = root_sits_out ? 0 : fold.number(call.root);
  append_openmpi_halving(fold, call.me, size, steps);
  const auto kept = [&](std::int32_t number) {
    return [number, size](std::int32_t bit) { return window(number, bit, size).kept; };
  };
  if (fold.sits_out(call.me)) {
    if (call.me != call.root) return;
    receive(steps, fold.member(0));
    return gather_halves(fold, 0, 0, zero, kept(0), steps);
  }
  const std::int32_t number = fold.number(call.me);
  if (number == 0 && root_sits_out) return send(steps, call.root, kept(0)(fold.core / 2));
  gather_halves(fold, number, root_number, zero, kept(number), steps);
}

}  // namespace nplus1::netmodel::algorithms
