// A library to preload: collectives of the sizes that its profile names run as their mock-ups, as
// PGMPITuneLib does; all others as ever. A call's way must be the same on all ranks, so it is chosen by what
// the MPI standard makes the same on all of them: the function, the communicator, the number of bytes, and
// for reductions datatype and operation. Not touched: intercommunicators, reductions with operations of the
// user's or with types that have gaps, Reduce_scatter with counts that differ, no bytes, more than INT_MAX bytes
// for all ranks. Each thread has its own scratch space. A call that MPI refuses on this rank is none that the other
// ranks could join: it goes on as it is, and is refused as without this library.
//
// Both MPI_NAME and PMPI_NAME are here: Open MPI's Fortran bindings call the latter. Each goes on to the next
// library that has its own name, so that other tools see what they would see without this one.
#include <mpi.h>
#include <pthread.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>

#include "guidelines/mpi/tuned/buffer.hpp"
#include "guidelines/mpi/tuned/next.hpp"
#include "guidelines/mpi/tuned/profile.hpp"
#include "guidelines/mpi/tuned/types.hpp"

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

namespace nplus1::guidelines::tuned {
namespace {

struct State {
  bool inside = false;  // a mock-up's own calls go straight to the library
  Scratch scratch;
  Scratch packed;
};

/// The calling thread's. The main thread's is never destroyed: destructors of static objects may still call MPI.
State& state() {
  thread_local State* own = nullptr;
  static const pthread_key_t at_thread_end = [] {
    pthread_key_t key{};
    pthread_key_create(&key, [](void* ended) {
      delete static_cast<State*>(ended);
      own = nullptr;
    });
    return key;
  }();
  if (own == nullptr) {
    own = new State;
    pthread_setspecific(at_thread_end, own);
  }
  return *own;
}

bool is_known(MPI_Op op) {
  const MPI_Op known[] = {MPI_MAX,  MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND,
                          MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
  return std::find(std::begin(known), std::end(known), op) != std::end(known);
}

/// The mock-up for this call; null: as ever.
Run chosen(const char* original, std::uint64_t size, MPI_Comm comm, int root = 0) {
  if (size == 0 || size == kNoSize || comm == MPI_COMM_NULL) return nullptr;
  int ranks = 0, inter = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return nullptr;
  PMPI_Comm_size(comm, &ranks);
  if (root < 0 || root >= ranks) return nullptr;
  if (size > static_cast<std::uint64_t>(INT_MAX) / static_cast<std::uint64_t>(ranks)) return nullptr;
  for (const Rule& rule : rules()) {
    if (rule.processes == ranks && rule.from <= size && size <= rule.to && rule.original == original)
      return rule.run;
  }
  return nullptr;
}

/// Whether calls go on as they are, whatever they are.
bool is_idle() {
  return rules().empty() || !has_handles() || state().inside;
}

bool can_be_reduced(const Buffer& send, MPI_Op op) {
  return is_known(op) && send.bytes() != kNoSize && is_predefined(send.type) && !has_gaps(send.type);
}

/// Each rank has a result.
Run chosen_reduction(const char* original, const Buffer& send, const void* receive, MPI_Op op,
                     MPI_Comm comm) {
  if (!can_be_reduced(send, op)) return nullptr;
  const Buffer result{receive, send.count, send.type};
  const bool sound = are_there(send, result, send.bytes()) && !are_one(send, result);
  return sound ? chosen(original, send.bytes(), comm) : nullptr;
}

int run_inside(Run run, const Call& call) {
  State& own = state();
  own.inside = true;
  const int error = run(call, own.scratch);
  own.inside = false;
  return error;
}

/// A buffer as bytes in a row: itself, or, if its type is none of those, a packed copy.
class Bytes {
 public:
  Bytes(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm, std::size_t slot)
      : buffer_{const_cast<void*>(buffer)}, count_{count}, type_{type}, comm_{comm} {
    if (buffer == MPI_IN_PLACE || count == 0 || in_a_row(type)) return;
    size_ = static_cast<int>(Buffer{buffer, count, type}.bytes());
    packed_ = state().packed.bytes(slot, static_cast<std::size_t>(size_));
  }
  /// Not significant here.
  Bytes() = default;
  [[nodiscard]] void* data() const { return packed_ != nullptr ? packed_ : buffer_; }
  void pack() const {
    if (packed_ != nullptr) tuned::pack(buffer_, count_, type_, packed_, size_, comm_);
  }
  void unpack() const {
    if (packed_ != nullptr) tuned::unpack(packed_, size_, buffer_, count_, type_, comm_);
  }

 private:
  void* buffer_ = nullptr;
  int count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  MPI_Comm comm_ = MPI_COMM_NULL;
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
  PMPI_Comm_size(comm, &ranks);
  return ranks;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

template <class Next>
int allgather(Next* next, const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
              MPI_Datatype receive_type, MPI_Comm comm) {
  const Buffer from{send, sends, send_type}, to{receive, receives, receive_type};
  const Run run = is_idle() ? nullptr : chosen("Allgather", to.bytes(), comm);
  if (run == nullptr || !are_there(from, to, to.bytes()) || are_one(from, to))
    return next(send, sends, send_type, receive, receives, receive_type, comm);
  return move(run, {send, sends, send_type, comm, 0},
              {receive, receives * size_of(comm), receive_type, comm, 1}, to.bytes(), 0, comm);
}

template <class Next>
int alltoall(Next* next, const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
             MPI_Datatype receive_type, MPI_Comm comm) {
  const Buffer from{send, sends, send_type}, to{receive, receives, receive_type};
  const Run run = is_idle() ? nullptr : chosen("Alltoall", to.bytes(), comm);
  if (run == nullptr || !are_there(from, to, to.bytes()) || are_one(from, to))
    return next(send, sends, send_type, receive, receives, receive_type, comm);
  const int ranks = size_of(comm);
  return move(run, {send, sends * ranks, send_type, comm, 0},
              {receive, receives * ranks, receive_type, comm, 1}, to.bytes(), 0, comm);
}

template <class Next>
int bcast(Next* next, void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Buffer all{buffer, count, type};
  const Run run = is_idle() ? nullptr : chosen("Bcast", all.bytes(), comm, root);
  if (run == nullptr || !all.is_there()) return next(buffer, count, type, root, comm);
  return move(run, {}, {buffer, count, type, comm, 1}, all.bytes(), root, comm);
}

/// A root's block is `whole`'s; where that is not significant, or in place, `own`'s.
template <class Choose>
Run chosen_at(bool is_root, const Buffer& own, const Buffer& whole, const Choose& choose) {
  const Buffer& said = is_root && own.is_in_place() ? whole : own;
  const std::uint64_t block = said.is_in_place() ? kNoSize : said.bytes();
  const Run run = choose(block);
  if (run == nullptr) return nullptr;
  if (!is_root) return own.is_there() ? run : nullptr;
  const bool twice = !kGathersInOneBuffer && are_one(own, whole);
  return are_there(own, whole, block) && !twice ? run : nullptr;
}

template <class Next>
int gather(Next* next, const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
           MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const Buffer own{send, sends, send_type}, all{receive, receives, receive_type};
  const bool is_root = !is_idle() && comm != MPI_COMM_NULL && rank_in(comm) == root;
  const Run run = is_idle() ? nullptr : chosen_at(is_root, own, all, [&](std::uint64_t block) {
    return chosen("Gather", block, comm, root);
  });
  if (run == nullptr) return next(send, sends, send_type, receive, receives, receive_type, root, comm);
  const std::uint64_t block = own.is_in_place() ? all.bytes() : own.bytes();
  if (!is_root) return move(run, {send, sends, send_type, comm, 0}, {}, block, root, comm);
  return move(run, {send, sends, send_type, comm, 0},
              {receive, receives * size_of(comm), receive_type, comm, 1}, block, root, comm);
}

template <class Next>
int scatter(Next* next, const void* send, int sends, MPI_Datatype send_type, void* receive, int receives,
            MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const Buffer own{receive, receives, receive_type}, all{send, sends, send_type};
  const bool is_root = !is_idle() && comm != MPI_COMM_NULL && rank_in(comm) == root;
  const Run run = is_idle() ? nullptr : chosen_at(is_root, own, all, [&](std::uint64_t block) {
    return chosen("Scatter", block, comm, root);
  });
  if (run == nullptr) return next(send, sends, send_type, receive, receives, receive_type, root, comm);
  const std::uint64_t block = own.is_in_place() ? all.bytes() : own.bytes();
  if (!is_root) return move(run, {}, {receive, receives, receive_type, comm, 1}, block, root, comm);
  return move(run, {send, sends * size_of(comm), send_type, comm, 0},
              {receive, receives, receive_type, comm, 1}, block, root, comm);
}

template <class Next>
int allreduce(Next* next, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm) {
  const Run run = is_idle() ? nullptr : chosen_reduction("Allreduce", {send, count, type}, receive, op, comm);
  if (run == nullptr) return next(send, receive, count, type, op, comm);
  return run_inside(run, {send, receive, count, type, op, 0, comm});
}

Run chosen_reduce(const Buffer& send, const void* receive, MPI_Op op, int root, MPI_Comm comm) {
  if (!can_be_reduced(send, op)) return nullptr;
  const Run run = chosen("Reduce", send.bytes(), comm, root);
  if (run == nullptr) return nullptr;
  const Buffer result{receive, send.count, send.type};
  const bool sound = rank_in(comm) == root ? are_there(send, result, send.bytes()) && !are_one(send, result)
                                           : send.is_there();
  return sound ? run : nullptr;
}

template <class Next>
int reduce(Next* next, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm) {
  const Run run = is_idle() ? nullptr : chosen_reduce({send, count, type}, receive, op, root, comm);
  if (run == nullptr) return next(send, receive, count, type, op, root, comm);
  return run_inside(run, {send, receive, count, type, op, root, comm});
}

template <class Next>
int reduce_scatter_block(Next* next, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  const Run run =
      is_idle() ? nullptr : chosen_reduction("Reduce_scatter_block", {send, count, type}, receive, op, comm);
  if (run == nullptr) return next(send, receive, count, type, op, comm);
  return run_inside(run, {send, receive, count, type, op, 0, comm});
}

bool are_equal(const int counts[], MPI_Comm comm) {
  if (counts == nullptr || comm == MPI_COMM_NULL) return false;
  return std::all_of(counts, counts + size_of(comm), [&](int count) { return count == counts[0]; });
}

template <class Next>
int reduce_scatter(Next* next, const void* send, void* receive, const int counts[], MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) {
  const Run run = is_idle() || !are_equal(counts, comm)
                      ? nullptr
                      : chosen_reduction("Reduce_scatter", {send, counts[0], type}, receive, op, comm);
  if (run == nullptr) return next(send, receive, counts, type, op, comm);
  return run_inside(run, {send, receive, counts[0], type, op, 0, comm});
}

template <class Next>
int scan(Next* next, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
         MPI_Comm comm) {
  const Run run = is_idle() ? nullptr : chosen_reduction("Scan", {send, count, type}, receive, op, comm);
  if (run == nullptr) return next(send, receive, count, type, op, comm);
  return run_inside(run, {send, receive, count, type, op, 0, comm});
}

template <class Function>
Function* following(const char* name) {
  return reinterpret_cast<Function*>(next_function(name));
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
