// Performs one rank's script: waits as long as the program computed, makes the MPI calls that it made, and
// adapts to how they come out (adaptation.hpp). What it costs to find out what comes next is hidden in the
// computing before it, where that is long enough.
//
// One thread. MPI's errors abort, as they do in a program that does not ask for something else.
#pragma once

#include <mpi.h>

#include <unordered_map>
#include <vector>

#include "hypothesis/recorded/adaptation.hpp"
#include "hypothesis/reenact/mpi/collectives.hpp"
#include "hypothesis/reenact/mpi/communicators.hpp"
#include "hypothesis/reenact/mpi/large_count.hpp"
#include "hypothesis/reenact/mpi/requests.hpp"
#include "hypothesis/reenact/mpi/script.hpp"
#include "hypothesis/reenact/mpi/watchdog.hpp"

namespace nplus1::hypothesis::reenact {

struct Performed {
  double seconds = 0;  // from the first call to the last
  double in_mpi = 0;   // of these
  double behind = 0;   // of computing that was over before it could be waited for
  std::uint64_t calls = 0;
  std::uint64_t messages = 0;  // sent
  std::uint64_t message_bytes = 0;
  std::uint64_t skipped = 0;  // calls that cannot be made: a message or a request that is not there
  AdaptationCounts adaptation;
};

class Performer {
 public:
  /// `largest`: bytes of the largest message of any rank. Throws std::bad_alloc.
  Performer(Script& script, const LiveCommunicators& communicators, std::size_t largest, bool adapts,
            Watchdog& watchdog);

  /// Once: calls are changed in place, as copies would cost more than many a call.
  [[nodiscard]] Performed perform();

 private:
  void perform(RecordedCall& call);
  [[nodiscard]] CallOutcome make(const RecordedCall& call);
  void send(const RecordedCall& call);
  void isend(const RecordedCall& call);
  void receive(const RecordedCall& call, CallOutcome& outcome);
  void ireceive(const RecordedCall& call);
  void probe(const RecordedCall& call, CallOutcome& outcome);
  void complete(const RecordedCall& call, CallOutcome& outcome);
  void wait(const RecordedCall& call, CallOutcome& outcome);
  void test(const RecordedCall& call, CallOutcome& outcome);
  void cancel(const RecordedCall& call);
  void free(const RecordedCall& call);
  void take_handles(const RecordedCall& call);
  void begin_persistent(const RecordedCall& call, const PersistentKey& key);
  [[nodiscard]] int peer_in(const LiveCommunicator& comm, std::int32_t world) const;
  void note_message(const LiveCommunicator& comm, const MPI_Status& status, CallOutcome& outcome) const;
  void count_message(const events::Event& event);

  Script& script_;
  const LiveCommunicators& communicators_;
  bool adapts_;
  Watchdog& watchdog_;
  Adaptation adaptation_;
  Requests requests_;
  Collectives collectives_;
  Memory send_buffer_;
  Memory receive_buffer_;
  std::vector<char> attached_;                            // for buffered sends
  std::unordered_map<std::uint64_t, MPI_Message> taken_;  // by source and sequence
  std::uint64_t others_taken_ = 0;                        // messages that are not the recorded ones
  std::vector<MPI_Request> handles_;                      // of the call being made
  std::vector<int> indices_;
  Performed performed_;
};

}  // namespace nplus1::hypothesis::reenact
