// Ends a re-enactment that is stuck: one that does otherwise than it was recorded may wait for what nobody
// sends any more. A thread of its own, which sleeps; the process that finds itself stuck first says so, and
// leaves with kStuck, upon which mpirun ends the others.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "events/event.hpp"

namespace nplus1::hypothesis::reenact {

/// Exit code of a re-enactment that was stuck.
inline constexpr int kStuck = 87;

class Watchdog {
 public:
  /// `note`: a file that only the first process to be stuck can make.
  Watchdog(int rank, std::chrono::duration<double> patience, bool deterministic, std::string note);
  ~Watchdog();

  /// From the rank: it is about to make this call.
  void calls(const events::Event& event) {
    call_.store(event.call, std::memory_order_relaxed);
    peer_.store(event.peer, std::memory_order_relaxed);
    tag_.store(event.tag, std::memory_order_relaxed);
    turn_.fetch_add(1, std::memory_order_release);
  }

 private:
  void watch();
  [[noreturn]] void bark();

  int rank_;
  std::chrono::duration<double> patience_;
  bool deterministic_;
  std::string note_;
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<std::uint16_t> call_{0};
  std::atomic<std::int32_t> peer_{0};
  std::atomic<std::int32_t> tag_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace nplus1::hypothesis::reenact
