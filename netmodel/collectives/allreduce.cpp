// Everybody's vector combined at everybody, by an operation that commutes.
#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/halving.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// Runs `core(number)` between the fold's first and last message, which carry the whole vector.
template <class Core>
void folded(const CollectiveCall& call, const Fold& fold, std::vector<Step>& steps, Core core) {
  const std::int32_t partner = Fold::partner(call.me);
  if (fold.sits_out(call.me)) {
    send(steps, partner, count(call.size));
    return receive(steps, partner);
  }
  if (fold.paired(call.me)) receive_and_combine(steps, partner);
  core(fold.number(call.me));
  if (fold.paired(call.me)) send(steps, partner, count(call.size));
}

}  // namespace

void allreduce_recursive_doubling(const CollectiveCall& call, std::vector<Step>& steps) {
  const Fold fold{call.members, Fold::Out::kEven};
  folded(call, fold, steps, [&](std::int32_t number) {
    for (std::int32_t bit = 1; bit < fold.core; bit *= 2) {
      const std::int32_t peer = fold.member(number ^ bit);
      exchange(steps, peer, count(call.size), peer);
      combine(steps);
    }
  });
}

/// Rabenseifner 2004: reduce-scatter by halving, allgather by doubling back along the same pairs.
void allreduce_rabenseifner(const CollectiveCall& call, std::vector<Step>& steps) {
  const Fold fold{call.members, Fold::Out::kEven};
  const EvenParts parts = halving_parts(call, fold.core);
  folded(call, fold, steps, [&](std::int32_t number) {
    append_halving(fold, number, parts, steps);
    for (std::int32_t bit = fold.core / 2; bit > 0; bit /= 2) {
      const std::int32_t peer = fold.member(number ^ bit);
      exchange(steps, peer, held(fold, number, bit, parts), peer);
    }
  });
}

/// Patarasuk, Yuan 2009: reduce-scatter and allgather, both round the ring.
void allreduce_ring(const CollectiveCall& call, std::vector<Step>& steps) {
  const EvenParts parts{count(call.size), call.members};
  const std::int32_t next = after(call, 1);
  std::int32_t part = call.me;
  for (std::int32_t i = 0; i < 2 * (call.members - 1); ++i) {
    if (i == call.members - 1) part = next;  // the part whose reduction ended here
    exchange(steps, next, parts.range(part, part + 1), before(call, 1));
    if (i < call.members - 1) combine(steps);
    part = (part == 0 ? call.members : part) - 1;
  }
}

void allreduce_reduce_bcast(const CollectiveCall& call, std::vector<Step>& steps) {
  CollectiveCall rooted = call;
  rooted.root = 0;
  reduce_binomial(rooted, steps);
  bcast_binomial(rooted, steps);
}

void allreduce_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  CollectiveCall rooted = call;
  rooted.root = 0;
  reduce_linear(rooted, steps);
  bcast_linear(rooted, steps);
}

void allreduce_openmpi_rabenseifner(const CollectiveCall& call, std::vector<Step>& steps) {
  const Fold fold{call.members, Fold::Out::kOdd};
  const std::int64_t size = count(call.size);
  const std::int32_t partner = Fold::partner(call.me);
  append_openmpi_halving(fold, call.me, size, steps);
  if (fold.sits_out(call.me)) return receive(steps, partner);
  const std::int32_t number = fold.number(call.me);
  for (std::int32_t bit = fold.core / 2; bit > 0; bit /= 2) {
    const std::int32_t peer = fold.member(number ^ bit);
    exchange(steps, peer, window(number, bit, size).kept, peer);
  }
  if (fold.paired(call.me)) send(steps, partner, size);
}

/// Whatever Open MPI takes for Reduce and Bcast.
void allreduce_openmpi_reduce_bcast(const CollectiveCall& call, std::vector<Step>& steps) {
  CollectiveCall rooted = call;
  rooted.root = 0;
  rooted.kind = CollectiveKind::kReduce;
  append_openmpi(rooted, steps);
  rooted.kind = CollectiveKind::kBcast;
  append_openmpi(rooted, steps);
}

/// SMPI's.
void allreduce_linear_reduce_bcast(const CollectiveCall& call, std::vector<Step>& steps) {
  CollectiveCall rooted = call;
  rooted.root = 0;
  reduce_simgrid_linear(rooted, steps);
  bcast_binomial(rooted, steps);
}

}  // namespace nplus1::netmodel::algorithms
