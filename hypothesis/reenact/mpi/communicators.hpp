// The recording's communicators, made anew under the MPI of the re-enactment. Collective over MPI_COMM_WORLD:
// every process makes all of its communicators, in the order of their ids, before the re-enactment begins.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "events/definitions.hpp"
#include "hypothesis/reenact/mpi/script.hpp"

namespace nplus1::hypothesis::reenact {

struct LiveCommunicator {
  MPI_Comm handle = MPI_COMM_NULL;
  MPI_Comm neighbours = MPI_COMM_NULL;  // with the edges of its neighbourhood collectives
  bool between_groups = false;          // was an intercommunicator
  std::vector<RankId> members;
  std::vector<int> rank_of;  // by world rank; -1: no member
};

class LiveCommunicators {
 public:
  /// An intercommunicator becomes an intracommunicator of both groups, and its collectives barriers. Beyond
  /// some 500 communicators, those of the same members become one: MPI libraries do not have more than a few
  /// thousand.
  LiveCommunicators(const Script& script, RankId me, int ranks);
  [[nodiscard]] const LiveCommunicator& of(CommId id) const { return live_.at(id.value); }
  [[nodiscard]] std::size_t shared() const { return shared_; }

 private:
  void make(const events::Communicator& recorded, RankId me, int ranks);
  void add_neighbours(const Script& script);

  std::map<std::uint32_t, LiveCommunicator> live_;
  std::map<std::vector<RankId>, MPI_Comm> by_members_;
  std::size_t shared_ = 0;
};

}  // namespace nplus1::hypothesis::reenact
