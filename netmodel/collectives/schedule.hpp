// Collectives as schedules of transfers: what each member sends and receives, in which order.
// The engine runs every member's steps on the network model; a member's steps are a pure function of the
// call, so nothing is stored. Algorithms follow MPICH 4.0 (Thakur, Rabenseifner, Gropp 2005) unless selected
// otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/collective_kind.hpp"
#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::netmodel {

inline constexpr std::int32_t kNoMember = -1;

/// How a step's transfers travel: all but kMessage are for networks that do (a part of) the collective
/// themselves.
enum class Transport : std::uint8_t {
  kMessage,
  kCopy,    // made by the network: leaves together with the member's last message; no overhead at either end
  kSignal,  // inside the network: takes no time
  /// Combined with the others' on its way: no overhead at its receiver; on a network with contention it loads
  /// the links to the member after its sender, so that the receiver's carry one vector, the one of the member
  /// before it.
  kCombined,
};

/// One step of one member: it starts the send (if any), then waits for the receive (if any), then goes on.
/// Transfers between one pair of members match in order. On a network with contention it also waits for a
/// send whose receiver has to be there first. A step that `joins` is started with the one before, and they
/// are waited for together (non-blocking operations and one Waitall).
struct Step {
  std::int32_t send_to = kNoMember;
  std::int32_t receive_from = kNoMember;
  Bytes size{};  // of the send; a receive takes what was sent
  Transport transport = Transport::kMessage;
  bool combines = false;  // what is received is combined with what is there: Selection::combining()
  bool joins = false;
};

/// What a Synchronize makes, as far as members tell each other something for it.
enum class Making : std::uint8_t {
  kOther,  // files, windows: nobody's messages are known
  kContext,  // a communicator, with whom the caller knows already: MPI_Comm_dup, MPI_Comm_create, MPI_Cart_create ...
  kSplit,  // communicators by color and key
};

/// One member's view of one collective call; all members must agree on it as MPI demands.
///
/// `size` is, in bytes: the whole vector for Bcast, Reduce, Allreduce, Scan, Exscan; one member's block for
/// Gather, Scatter, Allgather, Alltoall, Reduce_scatter_block and the neighbourhood forms; in Gatherv what I
/// contribute and in Scatterv what I get. A collective whose blocks are all empty moves nothing (as in
/// MPICH), except Barrier, Synchronize and the neighbourhood forms.
struct CollectiveCall {
  CollectiveKind kind{};
  bool blocking = true;  // libraries have other tables for non-blocking and persistent forms
  std::int32_t members = 0;
  std::int32_t me = 0;    // member index, 0..members-1
  std::int32_t root = 0;  // member index; ignored where there is none
  bool in_place = false;  // MPI_IN_PLACE: what I keep for myself is where it belongs
  /// Members of an intercommunicator's first group, which come first; 0: one group. Between groups a member
  /// of the root's group has `root` kNoMember and does nothing, `size` and `sizes` of a Gather or Scatter are
  /// what the other side's members send or get, the lists have an entry for each remote member (but those of
  /// Reduce_scatter: for each of the own group), and Allgather and Alltoall may have one: a remote member's
  /// block.
  std::int32_t first_group = 0;
  Bytes size{};
  /// Per member, where the call has it: what I send to each (Alltoallv, Scatterv at the root), what each
  /// contributes (Allgatherv, Gatherv at the root) or gets (Reduce_scatter). Where it is empty, every block
  /// is `size`.
  std::span<const std::int64_t> sizes{};
  /// Alltoallv: what I receive from each. Empty blocks are not exchanged; where this is empty (at all members
  /// or at none), every pair exchanges a message, if only an empty one.
  std::span<const std::int64_t> receive_sizes{};
  /// Alltoallv between groups: empty blocks are exchanged, whatever the lists say. Blocking forms always do.
  bool empty_blocks_travel = false;
  /// Neighbourhood collectives: member indices; `sizes` is then per destination.
  std::span<const std::uint32_t> sources{};
  std::span<const std::uint32_t> destinations{};
  Making making = Making::kOther;  // of a Synchronize
  /// How the algorithm is tuned: the selection's values, which append_steps() fills in.
  Bytes segment{};                  // pieces of a pipelined algorithm
  std::int32_t ranks_per_node = 1;  // two-level algorithms: members i*n .. i*n+n-1 share a node
};

/// Whether a call on one group moves nothing, as every member can tell from its own `size` and `sizes` (above): then its
/// schedule has no steps, and nobody waits for anybody.
[[nodiscard]] bool moves_nothing(CollectiveKind kind, Bytes size, std::span<const std::int64_t> sizes);

/// The same of a call between two groups: whether the caller gives and gets nothing, so that its schedule has no steps. Who
/// takes no part in a rooted call gives and gets nothing, whatever its group's root does.
[[nodiscard]] bool moves_nothing_between_groups(CollectiveKind kind, Bytes size,
                                                std::span<const std::int64_t> sizes);

/// What the caller copies from where it gives to where it gets: its own block of an exchange, the root's of a Gather or
/// Scatter, its vector or block of a reduction, which is there before the others' are combined with it. Nothing in place,
/// between groups and in the neighbourhood forms, where a member that is its own neighbour sends itself a message.
[[nodiscard]] Bytes own_copy(const CollectiveCall& call);

/// Which algorithm each collective uses: see collectives/selection.hpp.
class Selection;

/// Appends the steps of member `call.me` to `steps`; allocates nothing else. Any thread may call it.
/// Throws std::invalid_argument when the call contradicts itself (a root or list that doesn't fit `members`).
void append_steps(const CollectiveCall& call, const Selection& selection, std::vector<Step>& steps);

/// The same with MPICH's choice of algorithms.
void append_steps(const CollectiveCall& call, std::vector<Step>& steps);

/// One message of a schedule, between member indices.
struct Transfer {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  Bytes size{};

  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// What really goes over the wire: all messages of one collective, by source and then in the order sent.
/// `calls` is every member's view, in order of `me`. Any thread may call it; throws as append_steps() does.
[[nodiscard]] std::vector<Transfer> transfers(std::span<const CollectiveCall> calls,
                                              const Selection& selection);

}  // namespace nplus1::netmodel
