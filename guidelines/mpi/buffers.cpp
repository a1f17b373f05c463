#include "guidelines/mpi/buffers.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace nplus1::guidelines {
namespace {

constexpr std::size_t kGuard = 16;
constexpr char kGuardByte = 0x5a;

std::size_t blocks_of(Extent extent, const Call& call) {
  int ranks = 0, in = 0, out = 0, weighted = 0;
  switch (extent) {
    case Extent::kNone:
      return 0;
    case Extent::kBlock:
      return 1;
    case Extent::kAll:
      MPI_Comm_size(call.comm, &ranks);
      return static_cast<std::size_t>(ranks);
    case Extent::kNeighbours:
      break;
  }
  MPI_Dist_graph_neighbors_count(call.comm, &in, &out, &weighted);
  return static_cast<std::size_t>(in);
}

std::size_t bytes_of(Extent extent, const Call& call) {
  MPI_Aint low = 0, size = 0;
  MPI_Type_get_extent(call.type, &low, &size);
  return blocks_of(extent, call) * static_cast<std::size_t>(size) * static_cast<std::size_t>(call.count);
}

bool is_one_of(Who who, int rank, int ranks, int root) {
  switch (who) {
    case Who::kAll:
      return true;
    case Who::kRoot:
      return rank == root;
    case Who::kEven:
      return rank % 2 == 0 && rank + 1 < ranks;
    case Who::kOdd:
      break;
  }
  return rank % 2 == 1;
}

void fill_with(std::vector<char>& buffer, std::size_t bytes, std::mt19937& random) {
  buffer.assign(bytes + kGuard, kGuardByte);
  for (std::size_t i = 0; i < bytes; ++i) buffer[i] = static_cast<char>(random() & 0xff);
}

bool guard_holds(const std::vector<char>& buffer) {
  return std::all_of(buffer.end() - kGuard, buffer.end(), [](char c) { return c == kGuardByte; });
}

}  // namespace

Buffers::Buffers(const Operation& operation, const Case& c, MPI_Comm comm)
    : case_{c}, own_comm_{operation.topology == Topology::kTorus} {
  own_type_ = operation.layout == Layout::kVector && c.count > 0;
  call_.type = own_type_ ? vector_of(c.count) : c.type;
  call_.count = own_type_ ? 1 : c.count;
  call_.comm = own_comm_ ? torus_of(comm) : comm;
  call_.op = c.op;
  call_.root = c.root;
  choose_place(operation);
  const bool holds_input = send_in_place_ && operation.send == Extent::kAll;
  result_bytes_ = receives_ && !receive_in_place_ ? bytes_of(operation.receive, call_) : 0;
  send_.resize((sends_ ? bytes_of(operation.send, call_) : 0) + kGuard);
  receive_.resize((holds_input ? bytes_of(Extent::kAll, call_) : result_bytes_) + kGuard);
  fill();
}

Buffers::~Buffers() {
  if (own_type_) MPI_Type_free(&call_.type);
  if (own_comm_) MPI_Comm_free(&call_.comm);
}

void Buffers::choose_place(const Operation& operation) {
  int ranks = 0;
  MPI_Comm_rank(call_.comm, &rank_);
  MPI_Comm_size(call_.comm, &ranks);
  sends_ = operation.send != Extent::kNone && is_one_of(operation.sends, rank_, ranks, case_.root);
  receives_ = is_one_of(operation.receives, rank_, ranks, case_.root);
  // A rooted operation has MPI_IN_PLACE at its root only, Scatter for the receive buffer.
  const bool here = case_.in_place && operation.has_in_place, is_scatter = operation.sends == Who::kRoot;
  receive_in_place_ = here && is_scatter && sends_;
  send_in_place_ = here && !is_scatter && receives_;
}

void Buffers::fill() {
  std::mt19937 random{case_.seed * 7919U + static_cast<unsigned>(rank_)};
  fill_with(send_, send_.size() - kGuard, random);
  fill_with(receive_, receive_.size() - kGuard, random);
  send_before_ = send_;
}

Call Buffers::call() {
  Call call = call_;
  call.send = send_in_place_ ? MPI_IN_PLACE : sends_ ? send_.data() : nullptr;
  call.receive = receive_in_place_ ? MPI_IN_PLACE : receives_ ? receive_.data() : nullptr;
  return call;
}

bool Buffers::unharmed() const {
  return send_ == send_before_ && guard_holds(send_) && guard_holds(receive_);
}

MPI_Datatype vector_of(int bytes) {
  constexpr int kLargestBlock = 8;
  const int block = std::min(kLargestBlock, bytes & -bytes);
  MPI_Datatype vector = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_vector(bytes / block, block, 2 * block, MPI_BYTE, &vector);
  MPI_Type_create_resized(vector, 0, 2 * static_cast<MPI_Aint>(bytes), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&vector);
  return type;
}

MPI_Comm torus_of(MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::array<int, 2> dims{};
  MPI_Dims_create(ranks, 2, dims.data());
  const int rows = dims[0], columns = dims[1], row = rank / columns, column = rank % columns;
  std::vector<int> neighbours;
  for (const int other :
       {(row + rows - 1) % rows * columns + column, (row + 1) % rows * columns + column,
        row * columns + (column + columns - 1) % columns, row * columns + (column + 1) % columns}) {
    const bool known = std::find(neighbours.begin(), neighbours.end(), other) != neighbours.end();
    if (other != rank && !known) neighbours.push_back(other);
  }
  const int n = static_cast<int>(neighbours.size());
  neighbours.push_back(0);  // never null
  MPI_Comm torus = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(comm, n, neighbours.data(), MPI_UNWEIGHTED, n, neighbours.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &torus);
  return torus;
}

}  // namespace nplus1::guidelines
