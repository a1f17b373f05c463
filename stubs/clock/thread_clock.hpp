// One thread's virtual clock: runs while the thread is in the application, stands still inside the stubs.
//
// Measured compute is thread CPU time (or wall time with --clock wall). Reading the thread CPU clock takes a
// system call, so intervals under kShortInterval are taken from the time stamp counter alone, and the CPU
// clock is read at the start of an interval only where the last interval was long (docs/architecture.md, "The
// clock").
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>

#include "events/limits.hpp"
#include "semantics/instruction_clock.hpp"
#include "stubs/clock/settings.hpp"
#include "stubs/clock/time_pair.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

/// Nanoseconds per tick of the time stamp counter, set once by calibrate_ticks().
void calibrate_ticks();
[[nodiscard]] std::int64_t ticks();
[[nodiscard]] double nanoseconds_per_tick();
/// Ticks of an interval in which the program does nothing: that much is taken off each. Set once.
void set_ticks_of_measuring(std::int64_t ticks);
[[nodiscard]] std::int64_t ticks_of_measuring();
/// The system's clock `id`, never a virtual one.
[[nodiscard]] std::int64_t clock_ns(clockid_t id);
/// ... between two readings of the time stamp counter.
[[nodiscard]] Reading reading_of(clockid_t id);

class ThreadClock {
 public:
  /// By the thread whose clock it is.
  /// `counter`: the thread's, for --clock instructions; none: CPU time.
  void configure(const Settings* settings, std::unique_ptr<semantics::ProcessorCounter> counter = nullptr);

  /// The thread enters the application at virtual time `now`. `longest`: of a recorded interval, what is left of it;
  /// negative where none is given.
  void start(Time now, Duration longest = Duration{-1});
  /// The compute time since start(); the clock stands still until the next start(). `rule_length` is the
  /// length given by a compute table, negative if none applies. Without `first` only what was measured or
  /// added counts. `tick`: when the thread entered the call.
  [[nodiscard]] Duration stop(Duration rule_length, bool first, std::int64_t tick);
  /// What the next interval is one of: those that begin behind the same call with a message of the same size.
  void next_begins_after(std::uint32_t site, std::int64_t size) {
    kind_ = (std::uint64_t{site} << 32U) ^ (static_cast<std::uint64_t>(size) * 0x9e3779b97f4a7c15U);
  }
  /// As far as start()'s interval has been shown to the program: a recorded one does not end before.
  [[nodiscard]] Duration shown() const { return shown_; }
  /// What was measured since start(), however long the interval is to be.
  [[nodiscard]] Duration measured_so_far() const { return events::sum_within(pending_, measured(ticks())); }
  /// The stubs were busy since start(): the interval begins only now.
  void begin_again() { start_tick_ = ticks(); }
  /// Adds virtual time that passes without CPU time: a sleep, nplus1_compute().
  void add(Duration d) {
    pending_ = events::sum_within(pending_, d);
    was_added_ = true;
  }
  /// Whether any was, since start(); what a few readings of the clock cost is none.
  [[nodiscard]] bool was_given_time() const { return was_added_ || pending_ > kFewReadings; }
  /// The virtual time now, for MPI_Wtime and the like, from inside the application. Costs a little each time, more while
  /// neither computing nor a communication call comes between, so that loops on the clock end (DESIGN.md, decision 4).
  [[nodiscard]] Time read();
  /// The same for a twin, without a system call: later each time, however long it took.
  [[nodiscard]] Time read_in_twin();
  /// What the next reading costs: for who reads it inside of MPI.
  [[nodiscard]] Duration cost_of_reading() { return read_cost_.next(); }
  /// Compute time since start() without stopping; includes what was added.
  [[nodiscard]] Duration elapsed() const;
  [[nodiscard]] Time base() const { return base_; }
  /// So much later than base(), or when no event can be.
  [[nodiscard]] Time base_and(Duration d) const {
    return kTimeZero + events::sum_within(base_ - kTimeZero, d);
  }
  /// The time stamp counter at the last start().
  [[nodiscard]] std::int64_t start_tick() const { return start_tick_; }
  /// The stubs have used much CPU time themselves: the next start() reads the CPU clock, so that none of it
  /// can be taken for the program's.
  void start_exactly() { last_was_long_ = true; }
  /// So much of the time since start() was not the program's: CPU time, and real time.
  void exclude(double cpu_ns, double wall_ns) {
    excluded_cpu_ns_ += cpu_ns;
    excluded_wall_ns_ += wall_ns;
  }

 private:
  [[nodiscard]] Duration measured(std::int64_t tick) const;
  [[nodiscard]] Duration ended(std::int64_t tick);
  [[nodiscard]] Duration counted(std::optional<double> ns, std::int64_t tick) const;
  [[nodiscard]] bool measures() const {
    return settings_->compute == ComputeMode::kMeasured || settings_->compute == ComputeMode::kRecorded;
  }

  const Settings* settings_ = nullptr;
  Time base_ = kTimeZero;
  static constexpr Duration kFewReadings{1'000'000};
  Duration pending_{};
  bool was_added_ = false;  // more than what reading the clock costs
  semantics::PollCost read_cost_{Duration{20'000}, Duration{10'000'000}};
  std::int64_t start_tick_ = 0;
  std::int64_t last_read_tick_ = 0;
  std::int64_t start_cpu_ns_ = 0;  // at or before the start of the interval
  bool cpu_is_exact_ = false;      // start_cpu_ns_ was read at the very start
  mutable bool last_was_long_ = true;
  Duration longest_{-1};
  Duration shown_{};
  std::optional<semantics::InstructionClock> instructions_;
  std::uint64_t kind_ = 0;
  double excluded_cpu_ns_ = 0;
  double excluded_wall_ns_ = 0;
  clockid_t cpu_clock_ = CLOCK_THREAD_CPUTIME_ID;  // this thread's, whoever asks
};

}  // namespace nplus1::stubs
