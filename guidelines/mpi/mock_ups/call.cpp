#include "guidelines/mpi/mock_ups/call.hpp"

#include <cstring>

namespace nplus1::guidelines {
namespace {

template <class T>
T* at_least(std::vector<T>& buffer, std::size_t n) {
  if (buffer.size() < n) buffer.resize(n);
  return buffer.data();
}

}  // namespace

char* Scratch::bytes(std::size_t slot, std::size_t bytes) {
  return at_least(bytes_[slot], bytes + 1);  // never null, so that a buffer of nothing is a buffer still
}

int* Scratch::integers(std::size_t slot, int n) {
  return at_least(integers_[slot], static_cast<std::size_t>(n));
}

void Scratch::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0 || to == from) return;
  const double begin = MPI_Wtime();
  std::memcpy(to, from, bytes);
  copying_ += MPI_Wtime() - begin;
}

void Scratch::zero(void* to, std::size_t bytes) {
  if (bytes == 0) return;
  const double begin = MPI_Wtime();
  std::memset(to, 0, bytes);
  copying_ += MPI_Wtime() - begin;
}

double Scratch::take_copy_time() {
  const double taken = copying_;
  copying_ = 0;
  return taken;
}

Shape::Shape(const Call& call) {
  int size = 0;
  MPI_Comm_rank(call.comm, &rank);
  MPI_Comm_size(call.comm, &ranks);
  MPI_Type_size(call.type, &size);
  element = static_cast<std::size_t>(size);
  block = element * static_cast<std::size_t>(call.count);
}

Pieces cut(int count, int ranks, Scratch& scratch) {
  const Pieces pieces{scratch.integers(0, ranks), scratch.integers(1, ranks)};
  for (int i = 0, offset = 0; i < ranks; ++i) {
    pieces.counts[i] = count / ranks + (i < count % ranks ? 1 : 0);
    pieces.offsets[i] = offset;
    offset += pieces.counts[i];
  }
  return pieces;
}

Pieces equal_pieces(int count, int ranks, Scratch& scratch) {
  return cut(count * ranks, ranks, scratch);
}

}  // namespace nplus1::guidelines
