// Types with gaps, packed by hand. Packing is what is compared, and no local copy in the sense of the column
// without copies. All ranks are taken to represent data alike, so that a packed message is as long as its
// type.
#include "guidelines/mpi/mock_ups/mock_ups.hpp"
#include "guidelines/mpi/mock_ups/peers.hpp"

namespace nplus1::guidelines {
namespace {

int pack(const void* from, const Call& c, char* to, std::size_t bytes) {
  int position = 0;
  return MPI_Pack(from, c.count, c.type, to, static_cast<int>(bytes), &position, c.comm);
}

int unpack(char* from, std::size_t bytes, void* to, int count, const Call& c) {
  int position = 0;
  return MPI_Unpack(from, static_cast<int>(bytes), &position, to, count, c.type, c.comm);
}

/// This rank's block in a receive buffer of all.
const void* own_block(const Call& c, const Shape& shape) {
  if (!in_place(c)) return c.send;
  MPI_Aint low = 0, extent = 0;
  MPI_Type_get_extent(c.type, &low, &extent);
  return at(c.receive, static_cast<std::size_t>(extent * c.count) * static_cast<std::size_t>(shape.rank));
}

}  // namespace

int bcast_vector_with_pack_bcast_unpack(const Call& c, Scratch& scratch) {
  const Shape shape{c};
  const bool is_root = shape.rank == c.root;
  char* packed = scratch.bytes(0, shape.block);
  int error = is_root ? pack(c.receive, c, packed, shape.block) : MPI_SUCCESS;
  if (error != MPI_SUCCESS) return error;
  error = MPI_Bcast(packed, static_cast<int>(shape.block), MPI_PACKED, c.root, c.comm);
  return error != MPI_SUCCESS || is_root ? error : unpack(packed, shape.block, c.receive, c.count, c);
}

int allgather_vector_with_pack_allgather_unpack(const Call& c, Scratch& scratch) {
  const Shape shape{c};
  const int bytes = static_cast<int>(shape.block);
  char *own = scratch.bytes(0, shape.block), *all = scratch.bytes(1, shape.all());
  int error = pack(own_block(c, shape), c, own, shape.block);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Allgather(own, bytes, MPI_PACKED, all, bytes, MPI_PACKED, c.comm);
  return error == MPI_SUCCESS ? unpack(all, shape.all(), c.receive, c.count * shape.ranks, c) : error;
}

int send_vector_with_pack_send_unpack(const Call& c, Scratch& scratch) {
  const Shape shape{c};
  const Pair pair{c};
  const int bytes = static_cast<int>(shape.block);
  char* packed = scratch.bytes(0, shape.block);
  if (pair.sends) {
    const int error = pack(c.send, c, packed, shape.block);
    return error == MPI_SUCCESS ? MPI_Send(packed, bytes, MPI_PACKED, pair.other, kMockUpTag, c.comm) : error;
  }
  if (!pair.receives) return MPI_SUCCESS;
  const int error = MPI_Recv(packed, bytes, MPI_PACKED, pair.other, kMockUpTag, c.comm, MPI_STATUS_IGNORE);
  return error == MPI_SUCCESS ? unpack(packed, shape.block, c.receive, c.count, c) : error;
}

}  // namespace nplus1::guidelines
