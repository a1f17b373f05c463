// Collectives as schedules of transfers: what each member sends and receives, in which order.
// The engine runs every member's steps on the network model; a member's steps are a pure function of the call,
// so nothing is stored. Algorithms follow MPICH 4.0 (Thakur, Rabenseifner, Gropp 2005) unless selected otherwise.
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

/// One step of one member: it starts the send (if any), then waits for the receive (if any), then goes on.
/// Transfers between one pair of members match in order.
struct Step {
  std::int32_t send_to = kNoMember;
  std::int32_t receive_from = kNoMember;
  Bytes size{};  // of the send; a receive takes what was sent
};

/// One member's view of one collective call. `size` is, in bytes: the whole vector for Bcast, Reduce, Allreduce,
/// Scan, Exscan; one member's block for Gather, Scatter, Allgather, Alltoall, Reduce_scatter_block.
struct CollectiveCall {
  CollectiveKind kind{};
  std::int32_t members = 0;
  std::int32_t me = 0;       // member index, 0..members-1
  std::int32_t root = 0;     // member index; ignored where there is none
  Bytes size{};
  /// Per member, where the call has it: what I send to each (Alltoallv, Scatterv at the root), what each
  /// contributes (Allgatherv) or gets (Reduce_scatter). Empty elsewhere.
  std::span<const std::int64_t> sizes;
  /// Neighbourhood collectives: member indices; `sizes` is then per destination.
  std::span<const std::uint32_t> sources;
  std::span<const std::uint32_t> destinations;
};

/// Which algorithm each collective uses: `mpich` (the default: by size, members and power of two),
/// or overrides such as "bcast=chain,allreduce=ring".
class Selection;

/// Appends the steps of member `call.me` to `steps`.
void append_steps(const CollectiveCall& call, std::vector<Step>& steps);

}  // namespace nplus1::netmodel
