#include "stubs/clock/thread_clock.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace nplus1::stubs {
namespace {

constexpr double kShortIntervalNs = 3000;
double ns_per_tick = 1.0;
std::int64_t measuring_ticks = 0;

/// Between two readings of a loop that does nothing else; who computes for longer has a clock that goes on by itself.
constexpr double kLongestPollNs = 250;
/// On a simulated host that is slow enough a moment is longer than all virtual time: what no event can have.
Duration from_ns(double ns) {
  constexpr auto kEnd = static_cast<double>(events::kLatest);
  const double ps = ns * 1000.0;
  return ps < kEnd ? Duration{static_cast<std::int64_t>(ps)} : events::kBeyond;
}

}  // namespace

std::int64_t clock_ns(clockid_t id) {
  timespec t{};
  syscall(SYS_clock_gettime, id, &t);  // not through libc: clock_gettime may be our own virtual one
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

Reading reading_of(clockid_t id) {
  Reading reading;
  reading.tick_before = ticks();
  reading.ns = clock_ns(id);
  reading.tick_behind = ticks();
  return reading;
}

std::int64_t ticks() {
#if defined(__x86_64__)
  return static_cast<std::int64_t>(__rdtsc());
#else
  return clock_ns(CLOCK_MONOTONIC);
#endif
}

double nanoseconds_per_tick() {
  return ns_per_tick;
}

void set_ticks_of_measuring(std::int64_t ticks) {
  measuring_ticks = ticks;
}

std::int64_t ticks_of_measuring() {
  return measuring_ticks;
}

void calibrate_ticks() {
#if defined(__x86_64__)
  constexpr std::int64_t kOverNs = 2'000'000;
  ns_per_tick = rate_of([] { return reading_of(CLOCK_MONOTONIC_RAW); }, kOverNs);
#endif
}

void ThreadClock::configure(const Settings* settings, std::unique_ptr<semantics::ProcessorCounter> counter) {
  settings_ = settings;
  if (counter) instructions_.emplace(std::move(counter), 1.0 / ns_per_tick);
  // As the kernel numbers the CPU clocks of threads: other threads may have to read this one.
  constexpr unsigned kPerThreadCpu = 6;
  if (settings->accesses)
    cpu_clock_ = static_cast<clockid_t>(~static_cast<unsigned>(syscall(SYS_gettid)) << 3U | kPerThreadCpu);
}

void ThreadClock::start(Time now, Duration longest) {
  base_ = now;
  longest_ = longest;
  shown_ = Duration{};
  pending_ = Duration{};
  was_added_ = false;
  excluded_cpu_ns_ = excluded_wall_ns_ = 0;
  // Where accesses are recorded no estimate will do: handlers run within the interval.
  cpu_is_exact_ = (last_was_long_ || settings_->accesses) && !settings_->wall_clock && measures();
  if (cpu_is_exact_) start_cpu_ns_ = clock_ns(cpu_clock_);
  start_tick_ = ticks();
  if (instructions_ && measures()) instructions_->begin(kind_);
}

Duration ThreadClock::measured(std::int64_t tick) const {
  const double tick_ns = std::max(
      0.0, static_cast<double>(tick - start_tick_ - measuring_ticks) * ns_per_tick - excluded_wall_ns_);
  if (settings_->wall_clock) return from_ns(tick_ns * settings_->scale);
  if (tick_ns < kShortIntervalNs && !settings_->accesses) {
    last_was_long_ = false;
    return from_ns(tick_ns * settings_->scale);
  }
  last_was_long_ = true;
  // Without an exact start both readings are upper bounds: the wall time of the interval, and the CPU time
  // since an earlier reading.
  const double cpu_ns =
      std::max(0.0, static_cast<double>(clock_ns(cpu_clock_) - start_cpu_ns_) - excluded_cpu_ns_);
  return from_ns((cpu_is_exact_ ? cpu_ns : std::min(cpu_ns, tick_ns)) * settings_->scale);
}

Duration ThreadClock::stop(Duration rule_length, bool first, std::int64_t tick) {
  Duration compute = pending_;
  pending_ = Duration{};
  read_cost_.reset();
  if (!first && !measures()) return compute;
  if (settings_->compute == ComputeMode::kFixed) return compute + settings_->fixed;
  if (settings_->compute == ComputeMode::kTable) return compute + std::max(rule_length, Duration{});
  return events::sum_within(compute, ended(tick));
}

/// Where the kernel needed the counters for somebody else, what was measured counts.
Duration ThreadClock::counted(std::optional<double> ns, std::int64_t tick) const {
  return ns ? from_ns(*ns * settings_->scale) : measured(tick);
}

Duration ThreadClock::ended(std::int64_t tick) {
  if (!instructions_) return measured(tick);
  // The clock does not run back behind what the program was shown.
  return std::max(counted(instructions_->end(), tick), shown_);
}

Duration ThreadClock::elapsed() const {
  if (!measures()) return pending_;
  const Duration so_far = events::sum_within(
      pending_, instructions_ ? counted(instructions_->so_far(), ticks()) : measured(ticks()));
  // Reading it costs a little each time: a loop that waits for a later time than the recorded run saw ends, too.
  return longest_ < Duration{} ? so_far : std::max(pending_, std::min(so_far, longest_));
}

Time ThreadClock::read_in_twin() {
  pending_ += read_cost_.next();
  shown_ = std::max(shown_, pending_);
  return base_and(shown_);
}

Time ThreadClock::read() {
  if (static_cast<double>(ticks() - last_read_tick_) * ns_per_tick > kLongestPollNs &&
      settings_->compute == ComputeMode::kMeasured)
    read_cost_.reset();
  pending_ += read_cost_.next();
  shown_ = std::max(shown_, elapsed());
  last_read_tick_ = ticks();
  return base_and(shown_);
}

}  // namespace nplus1::stubs
