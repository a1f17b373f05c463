// Collective calls as the recording describes them (docs/formats/events.md), on bytes, or on doubles where
// something is summed up.
#pragma once

#include <mpi.h>

#include <vector>

#include "hypothesis/reenact/mpi/communicators.hpp"
#include "hypothesis/reenact/mpi/requests.hpp"

namespace nplus1::hypothesis::reenact {

class Collectives {
 public:
  /// A kCollective.
  void run(const RecordedCall& call, const LiveCommunicator& comm);
  /// A kIcollective.
  void start(const RecordedCall& call, const LiveCommunicator& comm, Pending& pending);

 private:
  std::vector<char> memory_;  // of blocking calls
  std::vector<int> counts_;
};

}  // namespace nplus1::hypothesis::reenact
