// Around one MPI call of the program's: what the rank is doing, while it lasts, and its counts, once it is over. Made by
// the handlers; a call within a call has none.
#pragma once

#include <mpi.h>

#include "stubs/statistics/recorder.hpp"

namespace nplus1::stubs::statistics {

class Scope {
 public:
  Scope();
  /// On `comm`, of a collective or with a peer.
  explicit Scope(MPI_Comm comm);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Before the call: whom it waits for. `peer` as of the communicator.
  void waits_for(int peer, page::WaitKind kind);
  void waits_for(const MPI_Request* requests, int count);
  /// The call takes part in a collective operation with that root (-1: none).
  void takes_part(int root);
  /// The state is complete: other processes may see it.
  void publish();

  /// After the call, where MPI has accepted it.
  void sent(int destination, std::int64_t bytes);
  /// The same of a persistent send; `peer` is a world rank.
  void started(CommUse& comm, std::int32_t peer, std::int64_t bytes);
  /// A persistent collective on `comm`.
  void started(CommUse& comm, const Fan& fan);
  /// One access to a file, in the layer of reads or of writes.
  void accessed(std::uint64_t layer, std::int64_t bytes);
  void opened() { ++messages_; }
  /// `blocking`: the operation ends with the call.
  void collective(Fan fan, bool blocking);
  /// Blocking: its time counts as waiting.
  void may_wait() { waits_ = true; }

  [[nodiscard]] Recorder& recorder() { return *recorder_; }
  [[nodiscard]] Thread& thread() { return *thread_; }
  /// Null where the communicator is not known.
  [[nodiscard]] CommUse* comm() { return comm_; }
  /// What there is to know of a request that the call has made, for who waits for it.
  void made(MPI_Request request, int peer, page::WaitKind kind);
  /// Of a communicator that MPI has accepted.
  CommUse* accepted_comm();

 private:
  void begin();
  void payload(std::uint64_t bytes);
  void count(std::uint64_t ticks);

  Recorder* recorder_;
  Thread* thread_;
  page::ThreadState* state_;
  MPI_Comm handle_{};
  CommUse* comm_ = nullptr;
  std::int64_t entry_;
  std::uint32_t path_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t least_ = 0;
  std::uint64_t most_ = 0;
  std::optional<Fan> fan_;
  std::uint64_t fan_bytes_ = 0;
  bool has_comm_ = false;
  bool blocking_ = false;
  bool waits_ = false;
};

/// Starts a prepared operation's counts: for MPI_Start.
void count_start(Scope& scope, MPI_Request request);

}  // namespace nplus1::stubs::statistics
