#include "netmodel/collectives/schedule.hpp"

#include <algorithm>
#include <stdexcept>

#include "netmodel/collectives/algorithms.hpp"
#include "netmodel/collectives/selection.hpp"
#include "support/collective_forms.hpp"

namespace nplus1::netmodel {
namespace algorithms {

std::int64_t Blocks::range(std::int32_t first, std::int32_t last) const {
  if (sizes_.empty()) return each_ * (last - first);
  std::int64_t sum = 0;
  for (std::int32_t i = first; i < last; ++i) sum += of(i);
  return sum;
}

std::int64_t Blocks::cyclic(std::int32_t first, std::int32_t blocks) const {
  const std::int32_t last = first + blocks;
  return last <= members_ ? range(first, last) : range(first, members_) + range(0, last - members_);
}

Half halved(std::int32_t number, std::int32_t bit, std::int32_t core) {
  Half half{0, core};
  for (std::int32_t b = 1; b < bit; b <<= 1) {
    const std::int32_t middle = (half.first + half.last) / 2;
    ((number & b) != 0 ? half.first : half.last) = middle;
  }
  return half;
}

}  // namespace algorithms

namespace {

bool is_member(std::int32_t member, const CollectiveCall& call) {
  return member >= 0 && member < call.members;
}

bool are_members(std::span<const std::uint32_t> neighbours, const CollectiveCall& call) {
  return std::all_of(neighbours.begin(), neighbours.end(),
                     [&call](std::uint32_t n) { return n < static_cast<std::uint32_t>(call.members); });
}

bool fits(std::size_t entries, std::size_t expected) {
  return entries == 0 || entries == expected;
}

void check(const CollectiveCall& call) {
  const std::size_t blocks =
      is_neighborhood(call.kind) ? call.destinations.size() : static_cast<std::size_t>(call.members);
  if (!is_member(call.me, call)) throw std::invalid_argument{"collective: `me` is not a member"};
  if (is_rooted(call.kind) && !is_member(call.root, call)) {
    throw std::invalid_argument{"collective: the root is not a member"};
  }
  if (!are_members(call.sources, call) || !are_members(call.destinations, call))
    throw std::invalid_argument{"collective: a neighbour is not a member"};
  if (!fits(call.sizes.size(), blocks))
    throw std::invalid_argument{"collective: `sizes` doesn't fit the members"};
  if (!fits(call.receive_sizes.size(), static_cast<std::size_t>(call.members))) {
    throw std::invalid_argument{"collective: `receive_sizes` doesn't fit the members"};
  }
}

}  // namespace

/// MPICH returns at once, or need not wait.
bool moves_nothing(CollectiveKind kind, Bytes size, std::span<const std::int64_t> sizes) {
  switch (kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSynchronize:
    case CollectiveKind::kNeighborAllgather:
    case CollectiveKind::kNeighborAlltoall:
    case CollectiveKind::kGatherv:  // these three skip empty blocks one by one
    case CollectiveKind::kScatterv:
    case CollectiveKind::kAlltoallv:
      return false;
    case CollectiveKind::kAllgatherv:
    case CollectiveKind::kReduceScatter:
      if (!sizes.empty())
        return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t s) { return s == 0; });
      return count(size) == 0;
    default:
      return count(size) == 0;
  }
}

Bytes own_copy(const CollectiveCall& call) {
  if (call.in_place || call.first_group != 0) return {};
  switch (call.kind) {
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherv:
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterv:
      return call.me == call.root ? call.size : Bytes{};
    case CollectiveKind::kAllgather:
    case CollectiveKind::kAllgatherv:
    case CollectiveKind::kAlltoall:
    case CollectiveKind::kReduce:
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kReduceScatterBlock:
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return call.size;
    case CollectiveKind::kAlltoallv:  // whose size is that of all blocks
    case CollectiveKind::kReduceScatter:
      return bytes(algorithms::Blocks{call}.of(call.me));
    default:
      return {};
  }
}

void append_steps(const CollectiveCall& call, const Selection& selection, std::vector<Step>& steps) {
  if (call.first_group != 0) return algorithms::append_between_groups(call, selection, steps);
  check(call);
  if (is_neighborhood(call.kind) || (call.members > 1 && !moves_nothing(call.kind, call.size, call.sizes)))
    selection.choose(call).append(selection.tuned(call), steps);
}

void append_steps(const CollectiveCall& call, std::vector<Step>& steps) {
  static const Selection mpich;
  append_steps(call, mpich, steps);
}

std::vector<Transfer> transfers(std::span<const CollectiveCall> calls, const Selection& selection) {
  std::vector<Transfer> result;
  std::vector<Step> steps;
  for (const CollectiveCall& call : calls) {
    steps.clear();
    append_steps(call, selection, steps);
    for (const Step& step : steps) {
      const bool sends = step.send_to != kNoMember && step.transport != Transport::kSignal;
      if (sends) result.push_back({call.me, step.send_to, step.size});
    }
  }
  return result;
}

}  // namespace nplus1::netmodel
