// A library to preload: collectives of the sizes that its profile names run as their mock-ups, as
// PGMPITuneLib does; all others as ever. A call's way must be the same on all ranks, so it is chosen by what
// the MPI standard makes the same on all of them: the function, the communicator, the number of bytes, and
// for reductions datatype and operation. Not touched: intercommunicators, reductions with operations of the
// user's or with types that have gaps, Reduce_scatter with counts that differ, more than INT_MAX bytes for
// all ranks. Each thread has its own scratch space.
//
// Both MPI_NAME and PMPI_NAME are here: Open MPI's Fortran bindings call the latter. Each goes on to the next
// library that has its own name, so that other tools see what they would see without this one.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>

#include "guidelines/mpi/tuned/profile.hpp"

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

namespace nplus1::guidelines::tuned {
namespace {

struct State {
  bool inside = false;  // a mock-up's own calls go straight to the library
  Scratch scratch;
  Scratch packed;
};
thread_local State state;

std::uint64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

bool has_gaps(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  int size = 0;
  MPI_Type_get_extent(type, &low, &extent);
  MPI_Type_size(type, &size);
  return low != 0 || extent != size;
}

bool is_predefined(MPI_Op op) {
  const MPI_Op known[] = {MPI_MAX,  MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND,
                          MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
  return std::find(std::begin(known), std::end(known), op) != std::end(known);
}

/// The mock-up for this call; null: as ever.
Run chosen(const char* original, std::uint64_t size, MPI_Comm comm) {
  if (state.inside || rules().empty()) return nullptr;
  int ranks = 0, inter = 0;
  MPI_Comm_test_inter(comm, &inter);
  MPI_Comm_size(comm, &ranks);
  if (inter != 0 || size > static_cast<std::uint64_t>(INT_MAX) / static_cast<std::uint64_t>(ranks))
    return nullptr;
  for (const Rule& rule : rules()) {
    if (rule.processes == ranks && rule.from <= size && size <= rule.to && rule.original == original)
      return rule.run;
  }
  return nullptr;
}

Run chosen_reduction(const char* original, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (state.inside || !is_predefined(op) || has_gaps(type)) return nullptr;
  return chosen(original, bytes_of(count, type), comm);
}

int run_inside(Run run, const Call& call) {
  state.inside = true;
  const int error = run(call, state.scratch);
  state.inside = false;
  return error;
}

/// A buffer as bytes in a row: itself, or, if its type has gaps, a packed copy.
class Bytes {
 public:
  Bytes(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm, std::size_t slot)
      : buffer_{const_cast<void*>(buffer)}, count_{count}, type_{type}, comm_{comm} {
    if (buffer == MPI_IN_PLACE || buffer == nullptr || !has_gaps(type)) return;
    size_ = static_cast<int>(bytes_of(count, type));
    packed_ = state.packed.bytes(slot, static_cast<std::size_t>(size_));
  }
  [[nodiscard]] void* data() const { return packed_ != nullptr ? packed_ : buffer_; }
  void pack() const {
    int position = 0;
    if (packed_ != nullptr) PMPI_Pack(buffer_, count_, type_, packed_, size_, &position, comm_);
  }
  void unpack() const {
    int position = 0;
    if (packed_ != nullptr) PMPI_Unpack(packed_, size_, &position, buffer_, count_, type_, comm_);
  }

 private:
  void* buffer_;
  int count_;
  MPI_Datatype type_;
  MPI_Comm comm_;
  int size_ = 0;
  char* packed_ = nullptr;
};

/// Moves data: `block` bytes of each rank, whatever the types are.
int move(Run run, const Bytes& send, const Bytes& receive, std::uint64_t block, int root, MPI_Comm comm) {
  send.pack();
  receive.pack();  // may be in place, or partly overwritten
  Call call;
  call.send = send.data();
  call.receive = receive.data();
  call.count = static_cast<int>(block);
  call.root = root;
  call.comm = comm;
  const int error = run_inside(run, call);
  if (error == MPI_SUCCESS) receive.unpack();
  return error;
}

int size_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

template <class Next>
int allgather(Next* next, const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
              MPI_Datatype receive_type, MPI_Comm comm) {
  const std::uint64_t block = bytes_of(receives, receive_type);
  const Run run = chosen("Allgather", block, comm);
  if (run == nullptr) return next(send, sends, send_type, receive, receives, receive_type, comm);
  return move(run, {send, sends, send_type, comm, 0},
              {receive, receives * size_of(comm), receive_type, comm, 1}, block, 0, comm);
}

template <class Next>
int alltoall(Next* next, const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
             MPI_Datatype receive_type, MPI_Comm comm) {
  const std::uint64_t block = bytes_of(receives, receive_type);
  const Run run = chosen("Alltoall", block, comm);
  if (run == nullptr) return next(send, sends, send_type, receive, receives, receive_type, comm);
  const int ranks = size_of(comm);
  return move(run, {send, sends * ranks, send_type, comm, 0},
              {receive, receives * ranks, receive_type, comm, 1}, block, 0, comm);
}

template <class Next>
int bcast(Next* next, void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const std::uint64_t block = bytes_of(count, type);
  const Run run = chosen("Bcast", block, comm);
  if (run == nullptr) return next(buffer, count, type, root, comm);
  return move(run, {nullptr, 0, MPI_BYTE, comm, 0}, {buffer, count, type, comm, 1}, block, root, comm);
}

template <class Next>
int gather(Next* next, const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
           MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const std::uint64_t block =
      send == MPI_IN_PLACE ? bytes_of(receives, receive_type) : bytes_of(sends, send_type);
  const Run run = chosen("Gather", block, comm);
  if (run == nullptr) return next(send, sends, send_type, receive, receives, receive_type, root, comm);
  if (rank_in(comm) != root)
    return move(run, {send, sends, send_type, comm, 0}, {nullptr, 0, MPI_BYTE, comm, 1}, block, root, comm);
  return move(run, {send, sends, send_type, comm, 0},
              {receive, receives * size_of(comm), receive_type, comm, 1}, block, root, comm);
}

template <class Next>
int scatter(Next* next, const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
            MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const std::uint64_t block =
      receive == MPI_IN_PLACE ? bytes_of(sends, send_type) : bytes_of(receives, receive_type);
  const Run run = chosen("Scatter", block, comm);
  if (run == nullptr) return next(send, sends, send_type, receive, receives, receive_type, root, comm);
  if (rank_in(comm) != root)
    return move(run, {nullptr, 0, MPI_BYTE, comm, 0}, {receive, receives, receive_type, comm, 1}, block, root,
                comm);
  return move(run, {send, sends * size_of(comm), send_type, comm, 0},
              {receive, receives, receive_type, comm, 1}, block, root, comm);
}

template <class Next>
int allreduce(Next* next, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm) {
  const Run run = chosen_reduction("Allreduce", count, type, op, comm);
  if (run == nullptr) return next(send, receive, count, type, op, comm);
  return run_inside(run, {send, receive, count, type, op, 0, comm});
}

template <class Next>
int reduce(Next* next, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm) {
  const Run run = chosen_reduction("Reduce", count, type, op, comm);
  if (run == nullptr) return next(send, receive, count, type, op, root, comm);
  return run_inside(run, {send, receive, count, type, op, root, comm});
}

template <class Next>
int reduce_scatter_block(Next* next, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  const Run run = chosen_reduction("Reduce_scatter_block", count, type, op, comm);
  if (run == nullptr) return next(send, receive, count, type, op, comm);
  return run_inside(run, {send, receive, count, type, op, 0, comm});
}

template <class Next>
int reduce_scatter(Next* next, const void* send, void* receive, const int counts[], MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) {
  const int ranks = size_of(comm);
  const bool equal = std::all_of(counts, counts + ranks, [&](int count) { return count == counts[0]; });
  const Run run = equal ? chosen_reduction("Reduce_scatter", counts[0], type, op, comm) : nullptr;
  if (run == nullptr) return next(send, receive, counts, type, op, comm);
  return run_inside(run, {send, receive, counts[0], type, op, 0, comm});
}

template <class Next>
int scan(Next* next, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
         MPI_Comm comm) {
  const Run run = chosen_reduction("Scan", count, type, op, comm);
  if (run == nullptr) return next(send, receive, count, type, op, comm);
  return run_inside(run, {send, receive, count, type, op, 0, comm});
}

template <class Function>
Function* following(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace nplus1::guidelines::tuned

using namespace nplus1::guidelines::tuned;

#define NPLUS1_EXPORT_AS(NAME, TUNED, PARAMETERS, ...)          \
  NPLUS1_EXPORT int NAME PARAMETERS {                           \
    static auto* const next = following<decltype(NAME)>(#NAME); \
    return TUNED(next, __VA_ARGS__);                            \
  }
#define NPLUS1_EXPORT_BOTH(NAME, TUNED, PARAMETERS, ...)       \
  NPLUS1_EXPORT_AS(MPI_##NAME, TUNED, PARAMETERS, __VA_ARGS__) \
  NPLUS1_EXPORT_AS(PMPI_##NAME, TUNED, PARAMETERS, __VA_ARGS__)

NPLUS1_EXPORT_BOTH(Allgather, allgather,
                   (const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
                    MPI_Datatype receive_type, MPI_Comm comm),
                   send, sends, send_type, receive, receives, receive_type, comm)
NPLUS1_EXPORT_BOTH(Alltoall, alltoall,
                   (const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
                    MPI_Datatype receive_type, MPI_Comm comm),
                   send, sends, send_type, receive, receives, receive_type, comm)
NPLUS1_EXPORT_BOTH(Bcast, bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
                   buffer, count, type, root, comm)
NPLUS1_EXPORT_BOTH(Gather, gather,
                   (const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
                    MPI_Datatype receive_type, int root, MPI_Comm comm),
                   send, sends, send_type, receive, receives, receive_type, root, comm)
NPLUS1_EXPORT_BOTH(Scatter, scatter,
                   (const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
                    MPI_Datatype receive_type, int root, MPI_Comm comm),
                   send, sends, send_type, receive, receives, receive_type, root, comm)
NPLUS1_EXPORT_BOTH(Allreduce, allreduce,
                   (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                   send, receive, count, type, op, comm)
NPLUS1_EXPORT_BOTH(Reduce, reduce,
                   (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                    MPI_Comm comm),
                   send, receive, count, type, op, root, comm)
NPLUS1_EXPORT_BOTH(Reduce_scatter_block, reduce_scatter_block,
                   (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                   send, receive, count, type, op, comm)
NPLUS1_EXPORT_BOTH(Reduce_scatter, reduce_scatter,
                   (const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm),
                   send, receive, counts, type, op, comm)
NPLUS1_EXPORT_BOTH(Scan, scan,
                   (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                   send, receive, count, type, op, comm)
