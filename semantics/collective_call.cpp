#include "semantics/collective_call.hpp"

#include <stdexcept>

#include "events/mpi_call.hpp"
#include "events/neighbours.hpp"

namespace nplus1::semantics {
namespace {

using netmodel::CollectiveCall;

bool neighborhood(CollectiveKind kind) {
  return kind == CollectiveKind::kNeighborAllgather || kind == CollectiveKind::kNeighborAlltoall;
}

/// Edges and, where they have them, the bytes to each: kept in `sizes`.
void read_edges(std::span<const std::uint32_t> words, CollectiveCall& call,
                std::vector<std::int64_t>& sizes) {
  const auto neighbours = events::neighbours_of(words);
  if (!neighbours) throw std::invalid_argument("neighbourhood collective without its list of neighbours");
  call.sources = neighbours->sources;
  call.destinations = neighbours->destinations;
  if (!neighbours->have_sizes()) return;
  for (std::size_t i = 0; i < call.destinations.size(); ++i) sizes.push_back(neighbours->size(i));
  call.sizes = sizes;
}

/// `others`: how many members the lists are about.
void read_lists(const events::Extension& extension, std::int32_t others, CollectiveCall& call) {
  call.sizes = extension.sizes;
  const auto p = static_cast<std::size_t>(others);
  if (call.kind == CollectiveKind::kAlltoallv && extension.sizes.size() >= 2 * p) {
    call.sizes = extension.sizes.first(p);
    call.receive_sizes = extension.sizes.subspan(p, p);
  }
}

/// Between groups the root is named as the other group sees it.
std::int32_t root_between_groups(std::int32_t peer, Membership who) {
  if (peer == events::kIntercommRoot) return who.me;
  if (peer == kProcNull.value) return netmodel::kNoMember;
  return (who.me < who.first_group ? who.first_group : 0) + (peer < 0 ? 0 : peer);
}

netmodel::Making making(events::MpiCall call) {
  using events::MpiCall;
  using netmodel::Making;
  switch (call) {
    case MpiCall::MPI_Comm_split:
    case MpiCall::MPI_Comm_split_type:
    case MpiCall::MPI_Cart_sub:
      return Making::kSplit;
    case MpiCall::MPI_Comm_dup:
    case MpiCall::MPI_Comm_dup_with_info:
    case MpiCall::MPI_Comm_idup:
    case MpiCall::MPI_Comm_idup_with_info:
    case MpiCall::MPI_Comm_create:
    case MpiCall::MPI_Comm_create_group:
    case MpiCall::MPI_Cart_create:
    case MpiCall::MPI_Graph_create:
    case MpiCall::MPI_Dist_graph_create:
    case MpiCall::MPI_Dist_graph_create_adjacent:
      return Making::kContext;
    default:
      return Making::kOther;
  }
}

}  // namespace

CollectiveCall collective_call(const events::Event& event, const events::Extension& extension, Membership who,
                               std::vector<std::int64_t>& edge_sizes) {
  CollectiveCall call;
  call.kind = event.collective();
  call.blocking = event.kind != events::EventKind::kIcollective;
  call.members = who.members;
  call.me = who.me;
  call.first_group = who.first_group;
  call.root = who.first_group == 0 ? event.peer : root_between_groups(event.peer, who);
  call.in_place = event.has(events::kInPlace);
  call.size = event.payload();
  if (call.kind == CollectiveKind::kSynchronize)
    call.making = making(static_cast<events::MpiCall>(event.call));
  call.empty_blocks_travel = call.kind == CollectiveKind::kAlltoallv && event.has(events::kEmptyBlocksTravel);
  if (neighborhood(call.kind)) {
    read_edges(extension.words, call, edge_sizes);
  } else {
    const std::int32_t remote = who.me < who.first_group ? who.members - who.first_group : who.first_group;
    read_lists(extension, who.first_group == 0 ? who.members : remote, call);
  }
  return call;
}

}  // namespace nplus1::semantics
