#include "guidelines/mpi/verify.hpp"

#include <cstring>
#include <random>

namespace nplus1::guidelines {
namespace {

constexpr std::size_t kGuard = 16;
constexpr char kGuardByte = 0x5a;

std::size_t bytes_of(Extent extent, const Shape& shape) {
  return extent == Extent::kNone ? 0 : extent == Extent::kBlock ? shape.block : shape.all();
}

void fill_with(std::vector<char>& buffer, std::size_t bytes, std::mt19937& random) {
  buffer.assign(bytes + kGuard, kGuardByte);
  for (std::size_t i = 0; i < bytes; ++i) buffer[i] = static_cast<char>(random() & 0xff);
}

bool guard_holds(const std::vector<char>& buffer) {
  for (std::size_t i = buffer.size() - kGuard; i < buffer.size(); ++i) {
    if (buffer[i] != kGuardByte) return false;
  }
  return true;
}

/// The lowest rank that says false, or -1.
int first_false(bool good, int rank, int ranks, MPI_Comm comm) {
  int mine = good ? ranks : rank, lowest = ranks;
  MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm);
  return lowest == ranks ? -1 : lowest;
}

}  // namespace

Buffers::Buffers(const Operation& operation, const Case& c, MPI_Comm comm) : case_{c}, comm_{comm} {
  Call sizes;
  sizes.count = c.count;
  sizes.type = c.type;
  sizes.comm = comm;
  const Shape shape{sizes};
  rank_ = shape.rank;
  const bool is_root = rank_ == c.root;
  sends_ = operation.send != Extent::kNone && (is_root || !operation.send_at_root);
  receives_ = is_root || !operation.receive_at_root;
  // A rooted operation has MPI_IN_PLACE at its root only, Scatter for the receive buffer.
  const bool here = c.in_place && operation.has_in_place;
  receive_in_place_ = here && operation.send_at_root && is_root;
  send_in_place_ = here && !operation.send_at_root && (is_root || !operation.receive_at_root);
  result_bytes_ = receives_ && !receive_in_place_ ? bytes_of(operation.receive, shape) : 0;
  const bool holds_input = send_in_place_ && operation.send == Extent::kAll;
  send_.resize(sends_ ? bytes_of(operation.send, shape) + kGuard : kGuard);
  receive_.resize((holds_input ? shape.all() : result_bytes_) + kGuard);
  fill();
}

void Buffers::fill() {
  std::mt19937 random{case_.seed * 7919U + static_cast<unsigned>(rank_)};
  fill_with(send_, send_.size() - kGuard, random);
  fill_with(receive_, receive_.size() - kGuard, random);
  send_before_ = send_;
}

Call Buffers::call() {
  Call call;
  call.send = send_in_place_ ? MPI_IN_PLACE : sends_ ? send_.data() : nullptr;
  call.receive = receive_in_place_ ? MPI_IN_PLACE : receives_ ? receive_.data() : nullptr;
  call.count = case_.count;
  call.type = case_.type;
  call.op = case_.op;
  call.root = case_.root;
  call.comm = comm_;
  return call;
}

bool Buffers::unharmed() const {
  return send_ == send_before_ && guard_holds(send_) && guard_holds(receive_);
}

std::string difference(const Operation& operation, Run mock_up, const Case& c, MPI_Comm comm) {
  Scratch scratch;
  Buffers expected{operation, c, comm}, found{operation, c, comm};
  int codes = operation.run(expected.call(), scratch);
  if (codes == MPI_SUCCESS) codes = mock_up(found.call(), scratch);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const bool same =
      codes == MPI_SUCCESS && std::memcmp(expected.result(), found.result(), found.result_bytes()) == 0;
  if (const int bad = first_false(same, rank, ranks, comm); bad >= 0)
    return "rank " + std::to_string(bad) + " has another result";
  if (const int bad = first_false(found.unharmed(), rank, ranks, comm); bad >= 0)
    return "rank " + std::to_string(bad) + " wrote where it must not";
  return {};
}

}  // namespace nplus1::guidelines
