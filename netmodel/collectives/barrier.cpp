// Everybody waits for everybody, without payload.
#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {

/// Hensgen, Finkel, Manber 1988: after round k a member has heard of the 2^k members before it.
void barrier_dissemination(const CollectiveCall& call, std::vector<Step>& steps) {
  for (std::int32_t distance = 1; distance < call.members; distance *= 2) {
    exchange(steps, after(call, distance), 0, before(call, distance));
  }
}

/// Everybody reports to member 0, which listens to all at once and then answers all at once.
void barrier_linear(const CollectiveCall& call, std::vector<Step>& steps) {
  if (call.me != 0) return exchange(steps, 0, 0, 0);
  const std::size_t reports = steps.size();
  for (std::int32_t from = 1; from < call.members; ++from) receive(steps, from);
  join_from(steps, reports);
  const std::size_t answers = steps.size();
  for (std::int32_t to = 1; to < call.members; ++to) send(steps, to, 0);
  join_from(steps, answers);
}

/// A binomial tree up, and down again.
void barrier_tree(const CollectiveCall& call, std::vector<Step>& steps) {
  CollectiveCall rooted = call;
  rooted.root = 0;
  rooted.size = {};
  reduce_binomial(rooted, steps);
  bcast_binomial(rooted, steps);
}

/// Members beyond a power of two report to one `core` before them, and hear from it at the end.
void barrier_recursive_doubling(const CollectiveCall& call, std::vector<Step>& steps) {
  const std::int32_t core = floor_power_of_two(call.members);
  if (call.me >= core) return exchange(steps, call.me - core, 0, call.me - core);
  const bool paired = call.me + core < call.members;
  if (paired) receive(steps, call.me + core);
  for (std::int32_t bit = 1; bit < core; bit *= 2) exchange(steps, call.me ^ bit, 0, call.me ^ bit);
  if (paired) send(steps, call.me + core, 0);
}

namespace {

void append_as_mpich(CollectiveCall call, CollectiveKind kind, std::int64_t size, std::vector<Step>& steps) {
  call.kind = kind;
  call.size = bytes(size);
  (call.blocking ? mpich_choice(call) : mpich_nonblocking_choice(call))(call, steps);
}

}  // namespace

/// MPICH 4.0.2, MPIR_Comm_split_impl and MPIR_Get_contextid_sparse_group: color and key of everybody, then the bits of the
/// context ids that all have free.
void synchronize_context_id(const CollectiveCall& call, std::vector<Step>& steps) {
  constexpr std::int64_t kColorAndKey = 2 * 4;
  constexpr std::int64_t kContextIds = (64 + 1) * 4;
  if (call.making == Making::kOther) return barrier_dissemination(call, steps);
  if (call.making == Making::kSplit) append_as_mpich(call, CollectiveKind::kAllgather, kColorAndKey, steps);
  append_as_mpich(call, CollectiveKind::kAllreduce, kContextIds, steps);
}

}  // namespace nplus1::netmodel::algorithms
