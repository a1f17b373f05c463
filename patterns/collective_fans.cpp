#include "patterns/collective_fans.hpp"

#include <algorithm>
#include <numeric>

#include "support/collective_forms.hpp"
#include "support/collective_names.hpp"

namespace nplus1::patterns {
namespace {

using events::Communicator;
using events::Event;

std::int64_t sum(std::span<const std::int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

bool in_first_group(const Communicator& c, RankId rank) {
  const auto end = c.members.begin() + static_cast<std::ptrdiff_t>(c.first_group);
  return std::find(c.members.begin(), end, rank) != end;
}

/// What rank gets of a reduce_scatter.
std::int64_t own_size(std::span<const std::int64_t> sizes, const Communicator& c, RankId rank) {
  const auto at =
      static_cast<std::size_t>(std::find(c.members.begin(), c.members.end(), rank) - c.members.begin());
  return at < sizes.size() ? sizes[at] : 0;
}

void fan_both(Fan& fan, std::int64_t contributes, std::int64_t gets) {
  fan.to_root = contributes;
  fan.from_root = gets;
}

void set_sizes(Fan& fan, const events::TimedEvent& timed, const Communicator& c) {
  const Event& event = timed.event;
  const auto sizes = timed.extension.sizes;
  const auto members = static_cast<std::int64_t>(c.members.size());
  switch (event.collective()) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kBcast:
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterv:
      fan.from_root = event.size;
      break;
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherv:
      fan.to_root = event.size;
      break;
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kScan:
    case CollectiveKind::kExscan:
      return fan_both(fan, event.size, event.size);
    case CollectiveKind::kAllgather:
      return fan_both(fan, event.size, members * event.size);
    case CollectiveKind::kAllgatherv:
      return fan_both(fan, event.size, sum(sizes));
    case CollectiveKind::kAlltoall:
      return fan_both(fan, members * event.size, members * event.size);
    case CollectiveKind::kAlltoallv:
      return fan_both(fan, event.size, sum(sizes.subspan(sizes.size() / 2)));
    case CollectiveKind::kReduceScatterBlock:
      return fan_both(fan, members * event.size, event.size);
    case CollectiveKind::kReduceScatter:
      return fan_both(fan, event.size, own_size(sizes, c, timed.rank));
    case CollectiveKind::kNeighborAllgather:
    case CollectiveKind::kNeighborAlltoall:
    case CollectiveKind::kSynchronize:
      break;
  }
}

/// Sources s, destinations d, s members, d members, perhaps d sizes of two words.
Fan neighbors(const events::TimedEvent& timed) {
  Fan fan;
  const auto words = timed.extension.words;
  if (words.size() < 2 || words.size() < std::size_t{2} + words[0] + words[1]) return fan;
  const auto rest = words.subspan(std::size_t{2} + words[0]);
  fan.neighbors = rest.first(words[1]);
  if (rest.size() >= std::size_t{3} * words[1])
    fan.neighbor_sizes = rest.subspan(words[1], std::size_t{2} * words[1]);
  fan.to_root = timed.event.size;
  return fan;
}

/// The root's place in the list of members. Only for calls that have messages: see fan_of.
std::size_t root_member(const Event& event, const Communicator& c, RankId rank) {
  const std::size_t root = event.peer < 0 ? 0 : static_cast<std::size_t>(event.peer);
  // On an intercommunicator the root is a rank of the other group.
  const bool other_is_second = c.first_group > 0 && event.peer >= 0 && in_first_group(c, rank);
  return other_is_second ? c.first_group + root : root;
}

}  // namespace

std::string_view layer_name(CollectiveKind kind) {
  if (kind >= CollectiveKind::kSynchronize) return {};
  return kCollectiveNames[static_cast<std::size_t>(kind)];
}

std::int64_t bytes_to_neighbor(const Fan& fan, std::size_t place) {
  if (fan.neighbor_sizes.size() < 2 * (place + 1)) return fan.to_root.value_or(0);
  return static_cast<std::int64_t>(fan.neighbor_sizes[2 * place] |
                                   std::uint64_t{fan.neighbor_sizes[2 * place + 1]} << 32);
}

Fan fan_of(const events::TimedEvent& timed, const Communicator* c) {
  const Event& event = timed.event;
  Fan fan;
  // MPI_ROOT and its group: the other group's calls stand for the messages.
  const bool beside = event.peer == events::kIntercommRoot || event.peer == kProcNull.value;
  if (event.collective() >= CollectiveKind::kSynchronize || beside) return fan;
  fan.unplaced = c == nullptr || c->members.empty();
  if (fan.unplaced) return fan;
  if (is_neighborhood(event.collective())) return neighbors(timed);
  const std::size_t root = root_member(event, *c, timed.rank);
  fan.unplaced = root >= c->members.size();
  if (fan.unplaced || c->members[root] == timed.rank) return fan;
  fan.root = c->members[root];
  set_sizes(fan, timed, *c);
  return fan;
}

}  // namespace nplus1::patterns
