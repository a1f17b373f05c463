#include "hypothesis/reenact/mpi/communicators.hpp"

#include <algorithm>

namespace nplus1::hypothesis::reenact {
namespace {

constexpr std::size_t kMostDistinct = 500;

bool is_neighbourhood(const events::Event& event) {
  const bool collective =
      event.kind == events::EventKind::kCollective || event.kind == events::EventKind::kIcollective;
  return collective && (event.collective() == CollectiveKind::kNeighborAllgather ||
                        event.collective() == CollectiveKind::kNeighborAlltoall);
}

MPI_Comm make_handle(const std::vector<RankId>& members) {
  std::vector<int> ranks;
  for (const RankId member : members) ranks.push_back(member.value);
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm handle = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &handle);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return handle;
}

}  // namespace

LiveCommunicators::LiveCommunicators(const Script& script, RankId me, int ranks) {
  std::vector<RankId> world;
  for (int r = 0; r < ranks; ++r) world.emplace_back(r);
  by_members_[world] = MPI_COMM_WORLD;
  make({CommId{0}, world, 0}, me, ranks);
  live_.at(0).handle = MPI_COMM_WORLD;
  for (const auto& [id, recorded] : script.communicators)
    if (id != 0) make(recorded, me, ranks);
  add_neighbours(script);
}

void LiveCommunicators::make(const events::Communicator& recorded, RankId me, int ranks) {
  LiveCommunicator& c = live_[recorded.id.value];
  c.members = recorded.members;
  c.between_groups = recorded.first_group > 0;
  c.rank_of.assign(static_cast<std::size_t>(ranks), -1);
  for (std::size_t i = 0; i < c.members.size(); ++i)
    if (c.members[i].index() < c.rank_of.size()) c.rank_of[c.members[i].index()] = static_cast<int>(i);
  const bool mine = c.rank_of[me.index()] >= 0;
  if (!mine || recorded.id.value == 0) return;
  if (live_.size() > kMostDistinct) {
    const auto same = by_members_.find(c.members);
    if (same != by_members_.end()) {
      ++shared_;
      c.handle = same->second;
      return;
    }
  }
  c.handle = make_handle(c.members);
  by_members_.emplace(c.members, c.handle);
}

/// The first neighbourhood collective on a communicator tells its edges.
void LiveCommunicators::add_neighbours(const Script& script) {
  std::map<std::uint32_t, const RecordedCall*> first;
  for (const RecordedCall& call : script.calls)
    if (is_neighbourhood(call.event)) first.emplace(call.event.comm.value, &call);
  for (const auto& [id, call] : first) {
    LiveCommunicator& c = live_.at(id);
    if (call->words.size() < 2) continue;
    const auto sources = static_cast<int>(call->words[0]);
    const auto destinations = static_cast<int>(call->words[1]);
    std::vector<int> edges(call->words.begin() + 2, call->words.end());
    edges.resize(static_cast<std::size_t>(sources) + static_cast<std::size_t>(destinations));
    MPI_Dist_graph_create_adjacent(c.handle, sources, edges.data(), MPI_UNWEIGHTED, destinations,
                                   edges.data() + sources, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c.neighbours);
  }
}

}  // namespace nplus1::hypothesis::reenact
