#include "guidelines/mpi/reference.hpp"

#include <cstring>
#include <string_view>

namespace nplus1::guidelines {
namespace {

constexpr int kReferenceTag = 31;

/// Elements of a call's type, which may have gaps, one block for each rank.
struct Blocks {
  explicit Blocks(const Call& call) : shape{call}, count{call.count}, type{call.type}, comm{call.comm} {
    MPI_Aint low = 0;
    MPI_Type_get_extent(type, &low, &extent);
  }
  [[nodiscard]] void* of(int rank, void* buffer) const { return at(buffer, offset(rank)); }
  [[nodiscard]] const void* of(int rank, const void* buffer) const {
    return static_cast<const char*>(buffer) + offset(rank);
  }
  [[nodiscard]] std::size_t offset(int rank) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(count) *
           static_cast<std::size_t>(extent);
  }
  void send(const void* block, int to) const { MPI_Send(block, count, type, to, kReferenceTag, comm); }
  void receive(void* block, int from) const {
    MPI_Recv(block, count, type, from, kReferenceTag, comm, MPI_STATUS_IGNORE);
  }
  /// This rank's block goes to `to`, one of `from`'s comes.
  void exchange(const void* mine, int to, void* theirs, int from) const {
    MPI_Sendrecv(mine, count, type, to, kReferenceTag, theirs, count, type, from, kReferenceTag, comm,
                 MPI_STATUS_IGNORE);
  }

  Shape shape;
  int count;
  MPI_Datatype type;
  MPI_Comm comm;
  MPI_Aint extent = 0;
};

int bcast(const Call& c, Scratch&) {
  const Blocks blocks{c};
  if (blocks.shape.rank != c.root) {
    blocks.receive(c.receive, c.root);
    return MPI_SUCCESS;
  }
  for (int i = 0; i < blocks.shape.ranks; ++i)
    if (i != c.root) blocks.send(c.receive, i);
  return MPI_SUCCESS;
}

int alltoall(const Call& c, Scratch&) {
  const Blocks blocks{c};
  const int rank = blocks.shape.rank, ranks = blocks.shape.ranks;
  for (int i = 0; i < ranks; ++i) {
    const int to = (rank + i) % ranks, from = (rank + ranks - i) % ranks;
    blocks.exchange(blocks.of(to, c.send), to, blocks.of(from, c.receive), from);
  }
  return MPI_SUCCESS;
}

int allgather(const Call& c, Scratch&) {
  const Blocks blocks{c};
  const int rank = blocks.shape.rank, ranks = blocks.shape.ranks;
  for (int i = 0; i < ranks; ++i) {
    const int to = (rank + i) % ranks, from = (rank + ranks - i) % ranks;
    blocks.exchange(c.send, to, blocks.of(from, c.receive), from);
  }
  return MPI_SUCCESS;
}

int gather(const Call& c, Scratch&) {
  const Blocks blocks{c};
  const bool is_root = blocks.shape.rank == c.root;
  if (!is_root) blocks.send(c.send, c.root);
  for (int i = 0; is_root && i < blocks.shape.ranks; ++i) {
    if (i != c.root)
      blocks.receive(blocks.of(i, c.receive), i);
    else
      blocks.exchange(c.send, i, blocks.of(i, c.receive), i);
  }
  return MPI_SUCCESS;
}

int scatter(const Call& c, Scratch&) {
  const Blocks blocks{c};
  const bool is_root = blocks.shape.rank == c.root;
  if (!is_root) blocks.receive(c.receive, c.root);
  for (int i = 0; is_root && i < blocks.shape.ranks; ++i) {
    if (i != c.root)
      blocks.send(blocks.of(i, c.send), i);
    else
      blocks.exchange(blocks.of(i, c.send), i, c.receive, i);
  }
  return MPI_SUCCESS;
}

/// receive = the contributions of rank 0 to this one, in their order: inout = in op inout.
int scan(const Call& c, Scratch& scratch) {
  const Blocks blocks{c};
  const int rank = blocks.shape.rank;
  std::memcpy(c.receive, c.send, blocks.shape.block);
  if (rank > 0) {
    char* before = scratch.bytes(0, blocks.shape.block);
    blocks.receive(before, rank - 1);
    MPI_Reduce_local(before, c.receive, c.count, c.type, c.op);
  }
  if (rank + 1 < blocks.shape.ranks) blocks.send(c.receive, rank + 1);
  return MPI_SUCCESS;
}

/// Of `count` elements on the last rank, which has the scan of all.
char* reduced(const Call& c, int count, Scratch& scratch) {
  Call whole = c;
  whole.count = count;
  whole.receive = scratch.bytes(1, Shape{whole}.block);
  scan(whole, scratch);
  return static_cast<char*>(whole.receive);
}

int allreduce(const Call& c, Scratch& scratch) {
  Call result = c;
  result.root = Shape{c}.ranks - 1;
  char* const all = reduced(c, c.count, scratch);
  if (Shape{c}.rank == result.root) std::memcpy(c.receive, all, Shape{c}.block);
  return bcast(result, scratch);
}

int reduce(const Call& c, Scratch& scratch) {
  const Blocks blocks{c};
  const int last = blocks.shape.ranks - 1, rank = blocks.shape.rank;
  char* const all = reduced(c, c.count, scratch);
  if (rank == last && c.root != last) blocks.send(all, c.root);
  if (rank == c.root && c.root != last) blocks.receive(c.receive, last);
  if (rank == c.root && c.root == last) std::memcpy(c.receive, all, blocks.shape.block);
  return MPI_SUCCESS;
}

int reduce_scatter(const Call& c, Scratch& scratch) {
  Call pieces = c;
  pieces.send = reduced(c, c.count * Shape{c}.ranks, scratch);
  pieces.root = Shape{c}.ranks - 1;
  return scatter(pieces, scratch);
}

struct Reference {
  std::string_view name;
  Run run;
};
constexpr Reference kReferences[] = {{"Allgather", allgather},
                                     {"Allgather_vector", allgather},
                                     {"Allreduce", allreduce},
                                     {"Alltoall", alltoall},
                                     {"Bcast", bcast},
                                     {"Bcast_vector", bcast},
                                     {"Gather", gather},
                                     {"Reduce", reduce},
                                     {"Reduce_scatter", reduce_scatter},
                                     {"Reduce_scatter_block", reduce_scatter},
                                     {"Scan", scan},
                                     {"Scatter", scatter}};

}  // namespace

Run reference_of(const Operation& operation) {
  for (const auto& [name, run] : kReferences)
    if (name == operation.name) return run;
  return nullptr;
}

}  // namespace nplus1::guidelines
