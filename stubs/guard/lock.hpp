// The runtime's lock: one for the rank's state, held in a call but where that sleeps or runs inside MPI.
#pragma once

#include <atomic>
#include <mutex>

#include "stubs/guard/guard.hpp"

namespace nplus1::stubs {

/// Knows who holds it, because a callback of the program's may leave a call by longjmp, past all destructors: the thread's
/// next call then gives back what the abandoned one held.
class Lock {
 public:
  void lock() {
    mutex_.lock();
    holder_.store(&call_state, std::memory_order_relaxed);
  }
  bool try_lock() {
    if (!mutex_.try_lock()) return false;
    holder_.store(&call_state, std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    holder_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }
  /// Whether the calling thread does.
  [[nodiscard]] bool is_held_here() const { return holder_.load(std::memory_order_relaxed) == &call_state; }

 private:
  std::mutex mutex_;
  std::atomic<const CallState*> holder_{nullptr};
};

}  // namespace nplus1::stubs
