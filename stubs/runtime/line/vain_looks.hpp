// How often the rank, waiting inside MPI, has looked in vain: for the simulator's view of a standstill that is no matter
// of events (simnode/node/standstill.hpp). From any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "stubs/guard/lock.hpp"
#include "stubs/runtime/line/line.hpp"

namespace nplus1::stubs {

class VainLooks {
 public:
  VainLooks(Lock& lock, Line& line) : lock_{lock}, line_{line} {}

  /// The rank waits, and has just looked in vain. `simulated`: somebody wants to know.
  void note(bool simulated);
  /// Somebody outside of the job may from now on end a call that waits inside MPI (a process that was spawned, a disk).
  void expect_others() { expects_others_.store(true, std::memory_order_relaxed); }

 private:
  void tell();

  Lock& lock_;
  Line& line_;
  std::atomic<bool> expects_others_{false};
  std::atomic<std::uint32_t> looks_{0};  // over TCP
  std::atomic<std::int64_t> told_ns_{0};
};

}  // namespace nplus1::stubs
