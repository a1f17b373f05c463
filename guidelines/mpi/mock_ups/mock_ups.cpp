#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines {
namespace {

int allgather(const Call& c, Scratch&) {
  return MPI_Allgather(c.send, c.count, c.type, c.receive, c.count, c.type, c.comm);
}
int allreduce(const Call& c, Scratch&) {
  return MPI_Allreduce(c.send, c.receive, c.count, c.type, c.op, c.comm);
}
int alltoall(const Call& c, Scratch&) {
  return MPI_Alltoall(c.send, c.count, c.type, c.receive, c.count, c.type, c.comm);
}
int bcast(const Call& c, Scratch&) {
  return MPI_Bcast(c.receive, c.count, c.type, c.root, c.comm);
}
int gather(const Call& c, Scratch&) {
  return MPI_Gather(c.send, c.count, c.type, c.receive, c.count, c.type, c.root, c.comm);
}
int reduce(const Call& c, Scratch&) {
  return MPI_Reduce(c.send, c.receive, c.count, c.type, c.op, c.root, c.comm);
}
int reduce_scatter(const Call& c, Scratch& scratch) {
  const Pieces pieces = equal_pieces(c.count, Shape{c}.ranks, scratch);
  return MPI_Reduce_scatter(c.send, c.receive, pieces.counts, c.type, c.op, c.comm);
}
int reduce_scatter_block(const Call& c, Scratch&) {
  return MPI_Reduce_scatter_block(c.send, c.receive, c.count, c.type, c.op, c.comm);
}
int scan(const Call& c, Scratch&) {
  return MPI_Scan(c.send, c.receive, c.count, c.type, c.op, c.comm);
}
int scatter(const Call& c, Scratch&) {
  return MPI_Scatter(c.send, c.count, c.type, c.receive, c.count, c.type, c.root, c.comm);
}

template <class T>
const T* find(const std::vector<T>& all, const std::string& name) {
  for (const T& one : all) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

}  // namespace

const std::vector<Operation>& operations() {
  constexpr Extent kNone = Extent::kNone, kBlock = Extent::kBlock, kAll = Extent::kAll,
                   kNeighbours = Extent::kNeighbours;
  constexpr Who kEverybody = Who::kAll, kRoot = Who::kRoot, kEven = Who::kEven, kOdd = Who::kOdd;
  constexpr Layout kVector = Layout::kVector;
  constexpr Topology kTorus = Topology::kTorus;
  // name, function, send, receive, who sends, who receives, reduces, has MPI_IN_PLACE, layout, topology
  static const std::vector<Operation> all{
      {"Allgather", allgather, kBlock, kAll, kEverybody, kEverybody, false, true},
      {"Allreduce", allreduce, kBlock, kBlock, kEverybody, kEverybody, true, true},
      {"Alltoall", alltoall, kAll, kAll, kEverybody, kEverybody, false, true},
      {"Bcast", bcast, kNone, kBlock},
      {"Gather", gather, kBlock, kAll, kEverybody, kRoot, false, true},
      {"Reduce", reduce, kBlock, kBlock, kEverybody, kRoot, true, true},
      {"Reduce_scatter", reduce_scatter, kAll, kBlock, kEverybody, kEverybody, true, true},
      {"Reduce_scatter_block", reduce_scatter_block, kAll, kBlock, kEverybody, kEverybody, true, true},
      {"Scan", scan, kBlock, kBlock, kEverybody, kEverybody, true, true},
      {"Scatter", scatter, kAll, kBlock, kRoot, kEverybody, false, true},
      {"Send", send, kBlock, kBlock, kEven, kOdd},
      {"Sendrecv", sendrecv, kBlock, kBlock},
      {"Allgather_vector", allgather, kBlock, kAll, kEverybody, kEverybody, false, true, kVector},
      {"Bcast_vector", bcast, kNone, kBlock, kEverybody, kEverybody, false, false, kVector},
      {"Send_vector", send, kBlock, kBlock, kEven, kOdd, false, false, kVector},
      {"Neighbor_allgather", neighbor_allgather, kBlock, kNeighbours, kEverybody, kEverybody, false, false,
       Layout::kContiguous, kTorus},
      {"Neighbor_alltoall", neighbor_alltoall, kNeighbours, kNeighbours, kEverybody, kEverybody, false, false,
       Layout::kContiguous, kTorus},
  };
  return all;
}

const std::vector<MockUp>& mock_ups() {
  static const std::vector<MockUp> all{
      {"Allgather_with_Allgatherv", "Allgather", allgather_with_allgatherv},
      {"Allgather_with_Allreduce", "Allgather", allgather_with_allreduce},
      {"Allgather_with_Alltoall", "Allgather", allgather_with_alltoall},
      {"Allgather_with_Gather_Bcast", "Allgather", allgather_with_gather_bcast},
      {"Allreduce_with_Reduce_Bcast", "Allreduce", allreduce_with_reduce_bcast},
      {"Allreduce_with_Reduce_scatter_Allgatherv", "Allreduce", allreduce_with_reduce_scatter_allgatherv},
      {"Allreduce_with_Reduce_scatter_block_Allgather", "Allreduce",
       allreduce_with_reduce_scatter_block_allgather},
      {"Alltoall_with_Alltoallv", "Alltoall", alltoall_with_alltoallv},
      {"Bcast_with_Allgatherv", "Bcast", bcast_with_allgatherv},
      {"Bcast_with_Scatter_Allgather", "Bcast", bcast_with_scatter_allgather},
      {"Gather_with_Allgather", "Gather", gather_with_allgather},
      {"Gather_with_Gatherv", "Gather", gather_with_gatherv},
      {"Gather_with_Reduce", "Gather", gather_with_reduce},
      {"Reduce_with_Allreduce", "Reduce", reduce_with_allreduce},
      {"Reduce_with_Reduce_scatter", "Reduce", reduce_with_reduce_scatter},
      {"Reduce_with_Reduce_scatter_Gatherv", "Reduce", reduce_with_reduce_scatter_gatherv},
      {"Reduce_with_Reduce_scatter_block_Gather", "Reduce", reduce_with_reduce_scatter_block_gather},
      {"Reduce_scatter_with_Allreduce", "Reduce_scatter", reduce_scatter_with_allreduce},
      {"Reduce_scatter_with_Reduce_Scatterv", "Reduce_scatter", reduce_scatter_with_reduce_scatterv},
      {"Reduce_scatter_block_with_Allreduce", "Reduce_scatter_block", reduce_scatter_with_allreduce},
      {"Reduce_scatter_block_with_Reduce_Scatter", "Reduce_scatter_block",
       reduce_scatter_block_with_reduce_then_scatter},
      {"Reduce_scatter_block_with_Reduce_scatter", "Reduce_scatter_block",
       reduce_scatter_block_with_reduce_scatter},
      {"Scan_with_Exscan_Reduce_local", "Scan", scan_with_exscan_reduce_local},
      {"Scatter_with_Bcast", "Scatter", scatter_with_bcast},
      {"Scatter_with_Scatterv", "Scatter", scatter_with_scatterv},

      {"Allgather_with_Iallgather_Wait", "Allgather", allgather_with_iallgather_wait},
      {"Allreduce_with_Iallreduce_Wait", "Allreduce", allreduce_with_iallreduce_wait},
      {"Alltoall_with_Ialltoall_Wait", "Alltoall", alltoall_with_ialltoall_wait},
      {"Bcast_with_Ibcast_Wait", "Bcast", bcast_with_ibcast_wait},
      {"Gather_with_Igather_Wait", "Gather", gather_with_igather_wait},
      {"Reduce_with_Ireduce_Wait", "Reduce", reduce_with_ireduce_wait},
      {"Reduce_scatter_with_Ireduce_scatter_Wait", "Reduce_scatter",
       reduce_scatter_with_ireduce_scatter_wait},
      {"Reduce_scatter_block_with_Ireduce_scatter_block_Wait", "Reduce_scatter_block",
       reduce_scatter_block_with_ireduce_scatter_block_wait},
      {"Scan_with_Iscan_Wait", "Scan", scan_with_iscan_wait},
      {"Scatter_with_Iscatter_Wait", "Scatter", scatter_with_iscatter_wait},

      {"Send_with_Isend_Wait", "Send", send_with_isend_wait},
      {"Send_with_Ssend", "Send", send_with_ssend},
      {"Sendrecv_with_Irecv_Isend_Waitall", "Sendrecv", sendrecv_with_irecv_isend_waitall},

      {"Allgather_vector_with_Pack_Allgather_Unpack", "Allgather_vector",
       allgather_vector_with_pack_allgather_unpack},
      {"Bcast_vector_with_Pack_Bcast_Unpack", "Bcast_vector", bcast_vector_with_pack_bcast_unpack},
      {"Send_vector_with_Pack_Send_Unpack", "Send_vector", send_vector_with_pack_send_unpack},

      {"Neighbor_allgather_with_Irecv_Isend_Waitall", "Neighbor_allgather",
       neighbor_allgather_with_irecv_isend_waitall},
      {"Neighbor_allgather_with_Neighbor_allgatherv", "Neighbor_allgather",
       neighbor_allgather_with_neighbor_allgatherv},
      {"Neighbor_allgather_with_Neighbor_alltoall", "Neighbor_allgather",
       neighbor_allgather_with_neighbor_alltoall},
      {"Neighbor_alltoall_with_Irecv_Isend_Waitall", "Neighbor_alltoall",
       neighbor_alltoall_with_irecv_isend_waitall},
      {"Neighbor_alltoall_with_Neighbor_alltoallv", "Neighbor_alltoall",
       neighbor_alltoall_with_neighbor_alltoallv},
  };
  return all;
}

const Operation* find_operation(const std::string& name) {
  return find(operations(), name);
}

const MockUp* find_mock_up(const std::string& name) {
  return find(mock_ups(), name);
}

}  // namespace nplus1::guidelines
