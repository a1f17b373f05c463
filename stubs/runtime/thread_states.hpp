// The states of the process's threads that have called MPI: made at a thread's first call, kept until the end. With the
// runtime's lock held, but for what says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "events/event.hpp"
#include "stubs/clock/settings.hpp"
#include "stubs/guard/lock.hpp"
#include "stubs/runtime/line/line.hpp"
#include "stubs/runtime/thread_state.hpp"
#include "stubs/transport/last_words.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

class ThreadStates {
 public:
  ThreadStates(Lock& lock, const Settings& settings, Line& line)
      : lock_{lock}, settings_{settings}, line_{line} {}

  /// Whether several threads may call MPI: then the simulator sees what each does.
  void may_be_several(bool several) { several_ = several; }
  /// The calling thread's state, made at its first call.
  ThreadState& mine();
  /// The same, taking the lock only if it must.
  ThreadState& locked_mine();
  /// Null if the calling thread has made no call. Without a lock.
  [[nodiscard]] static ThreadState* mine_if_known() noexcept;
  /// The calling thread ends, of which the simulator is told. Takes the lock.
  void end_mine();
  /// That have called MPI. Without a lock: of the thread itself and those that it knows of, others may just have come.
  [[nodiscard]] std::size_t count() const { return count_.load(std::memory_order_relaxed); }
  /// Whether the calling thread is the only one that has called MPI. Without a lock.
  [[nodiscard]] bool are_mine_alone() const { return mine_if_known() != nullptr && count() == 1; }

  /// The simulator's answer, for the thread that it names.
  void take(const events::Answer& answer, const std::vector<std::uint32_t>& words);
  void start_clock(ThreadState& thread, Time now) const {
    thread.start_clock(now, settings_.compute == ComputeMode::kRecorded);
  }
  /// The threads whose calls are not those of the recording that gives the compute times.
  void tell_departures(transport::LastWords& words) const;

  /// Shows whether the calling thread is inside MPI, where each thread is seen. Without a lock.
  static void show(bool inside);
  /// What of its CPU time the thread will be charged begins here, for who watches it. By the thread itself, outside MPI.
  static void show_new_beginning(const ThreadState& thread, transport::RankBlock& block);
  /// While the rank waits for the MPI library itself, the simulator must not wait for the rank. By the thread itself.
  void set_native_wait(ThreadState& thread, bool on);
  /// Marks the change between application and MPI, for the simulator's bound on a running rank.
  void set_inside(bool inside);

 private:
  ThreadState& make();
  void take_cell(ThreadState& thread);

  Lock& lock_;
  const Settings& settings_;
  Line& line_;
  bool several_ = false;
  std::vector<std::unique_ptr<ThreadState>> states_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace nplus1::stubs
