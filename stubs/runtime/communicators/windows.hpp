// The windows of one-sided communication, as the simulator knows them: each has a communicator of its own, whose number
// stands in its events. With the runtime's lock held.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stubs/runtime/communicators/communicators.hpp"

namespace nplus1::stubs {

struct Window {
  std::shared_ptr<Communicator> comm;
  // The epochs that the program has begun: a call that contradicts them is MPI's to refuse, before the simulator is told.
  bool started = false;
  bool posted = false;
  bool all_locked = false;
  std::set<int> locked;                // targets
  std::vector<std::uint32_t> targets;  // of MPI_Win_start: world ranks
  std::vector<std::uint32_t> origins;  // of MPI_Win_post

  [[nodiscard]] bool in_epoch() const { return started || posted || all_locked || !locked.empty(); }
  [[nodiscard]] bool is_member(int rank) const { return rank >= 0 && rank < comm->members(); }
  [[nodiscard]] bool reaches(int rank) const {
    return is_member(rank) && (all_locked || locked.count(rank) != 0);
  }
};

class Windows {
 public:
  /// Null for windows that came about in a way that the simulator was not told of.
  [[nodiscard]] Window* find(MPI_Win handle) {
    const auto found = by_handle_.find(handle);
    return found == by_handle_.end() ? nullptr : &found->second;
  }
  void add(MPI_Win handle, std::shared_ptr<Communicator> comm) {
    Window window;
    window.comm = std::move(comm);
    by_handle_[handle] = std::move(window);
  }
  void forget(MPI_Win handle) { by_handle_.erase(handle); }

 private:
  std::unordered_map<MPI_Win, Window> by_handle_;
};

}  // namespace nplus1::stubs
