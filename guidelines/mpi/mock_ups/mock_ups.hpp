// The collectives that guidelines speak about, and for each guideline LHS <= RHS its right-hand side as a
// complete replacement of the left: the mock-up. From Hunold, Carpen-Amarie, Luebbe, Traeff: "Automatic
// Verification of Self-Consistent MPI Performance Guidelines" (Euro-Par 2016, appendix) and PGMPITuneLib.
// Unlike there, a mock-up copies what must be copied, pads instead of dropping elements that the number of
// ranks does not divide, leaves the send buffer alone, touches the receive buffer only where the original
// does, and takes MPI_IN_PLACE and any root.
//
// The functions are named ORIGINAL_with_PARTS in lower case. All ranks of call.comm call together, as MPI has
// it.
#pragma once

#include <string>
#include <vector>

#include "guidelines/mpi/mock_ups/call.hpp"

namespace nplus1::guidelines {

using Run = int (*)(const Call&, Scratch&);

/// How much of a buffer a call uses: nothing, call.count elements, or that for each rank or each neighbour.
enum class Extent { kNone, kBlock, kAll, kNeighbours };

/// Whose buffer is significant. Even and odd: of the pairs of ranks (0, 1), (2, 3), ...
enum class Who { kAll, kRoot, kEven, kOdd };

/// What call.type and call.comm are: bytes in a row or with gaps (Buffers::vector_of), the given communicator
/// or one with the neighbours of a two-dimensional torus.
enum class Layout { kContiguous, kVector };
enum class Topology { kNone, kTorus };

struct Operation {
  const char* name;  // as in MPI, without MPI_; with _vector for the same with gaps
  Run run;
  Extent send;
  Extent receive;
  Who sends = Who::kAll;
  Who receives = Who::kAll;
  bool reduces = false;
  bool has_in_place = false;
  Layout layout = Layout::kContiguous;
  Topology topology = Topology::kNone;
  [[nodiscard]] bool is_rooted() const {
    return sends == Who::kRoot || receives == Who::kRoot || (send == Extent::kNone);
  }
};

struct MockUp {
  const char* name;  // "Gather_with_Allgather"
  const char* original;
  Run run;
};

[[nodiscard]] const std::vector<Operation>& operations();
[[nodiscard]] const std::vector<MockUp>& mock_ups();

/// Null when there is none of that name.
[[nodiscard]] const Operation* find_operation(const std::string& name);
[[nodiscard]] const MockUp* find_mock_up(const std::string& name);

int allgather_with_allgatherv(const Call& call, Scratch& scratch);
int allgather_with_allreduce(const Call& call, Scratch& scratch);
int allgather_with_alltoall(const Call& call, Scratch& scratch);
int allgather_with_gather_bcast(const Call& call, Scratch& scratch);
int allreduce_with_reduce_bcast(const Call& call, Scratch& scratch);
int allreduce_with_reduce_scatter_allgatherv(const Call& call, Scratch& scratch);
int allreduce_with_reduce_scatter_block_allgather(const Call& call, Scratch& scratch);
int alltoall_with_alltoallv(const Call& call, Scratch& scratch);
int bcast_with_allgatherv(const Call& call, Scratch& scratch);
int bcast_with_scatter_allgather(const Call& call, Scratch& scratch);
int gather_with_allgather(const Call& call, Scratch& scratch);
int gather_with_gatherv(const Call& call, Scratch& scratch);
int gather_with_reduce(const Call& call, Scratch& scratch);
int reduce_with_allreduce(const Call& call, Scratch& scratch);
int reduce_with_reduce_scatter(const Call& call, Scratch& scratch);
int reduce_with_reduce_scatter_block_gather(const Call& call, Scratch& scratch);
int reduce_with_reduce_scatter_gatherv(const Call& call, Scratch& scratch);
int reduce_scatter_with_allreduce(const Call& call, Scratch& scratch);
int reduce_scatter_with_reduce_scatterv(const Call& call, Scratch& scratch);
int reduce_scatter_block_with_reduce_scatter(const Call& call, Scratch& scratch);
int reduce_scatter_block_with_reduce_then_scatter(const Call& call, Scratch& scratch);
int scan_with_exscan_reduce_local(const Call& call, Scratch& scratch);
int scatter_with_bcast(const Call& call, Scratch& scratch);
int scatter_with_scatterv(const Call& call, Scratch& scratch);

// The non-blocking form, waited for.
int allgather_with_iallgather_wait(const Call& call, Scratch& scratch);
int allreduce_with_iallreduce_wait(const Call& call, Scratch& scratch);
int alltoall_with_ialltoall_wait(const Call& call, Scratch& scratch);
int bcast_with_ibcast_wait(const Call& call, Scratch& scratch);
int gather_with_igather_wait(const Call& call, Scratch& scratch);
int reduce_with_ireduce_wait(const Call& call, Scratch& scratch);
int reduce_scatter_with_ireduce_scatter_wait(const Call& call, Scratch& scratch);
int reduce_scatter_block_with_ireduce_scatter_block_wait(const Call& call, Scratch& scratch);
int scan_with_iscan_wait(const Call& call, Scratch& scratch);
int scatter_with_iscatter_wait(const Call& call, Scratch& scratch);

// From each even rank to the next; Sendrecv: round the ring of all ranks.
int send(const Call& call, Scratch& scratch);
int send_with_isend_wait(const Call& call, Scratch& scratch);
int send_with_ssend(const Call& call, Scratch& scratch);
int sendrecv(const Call& call, Scratch& scratch);
int sendrecv_with_irecv_isend_waitall(const Call& call, Scratch& scratch);

// For types with gaps.
int allgather_vector_with_pack_allgather_unpack(const Call& call, Scratch& scratch);
int bcast_vector_with_pack_bcast_unpack(const Call& call, Scratch& scratch);
int send_vector_with_pack_send_unpack(const Call& call, Scratch& scratch);

// On a communicator with a topology.
int neighbor_allgather(const Call& call, Scratch& scratch);
int neighbor_allgather_with_irecv_isend_waitall(const Call& call, Scratch& scratch);
int neighbor_allgather_with_neighbor_allgatherv(const Call& call, Scratch& scratch);
int neighbor_allgather_with_neighbor_alltoall(const Call& call, Scratch& scratch);
int neighbor_alltoall(const Call& call, Scratch& scratch);
int neighbor_alltoall_with_irecv_isend_waitall(const Call& call, Scratch& scratch);
int neighbor_alltoall_with_neighbor_alltoallv(const Call& call, Scratch& scratch);

}  // namespace nplus1::guidelines
