#include "stubs/runtime/twins.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "stubs/twin/twin.hpp"

namespace nplus1::stubs {
namespace {

constexpr double kShareOfCpu = 0.05;
constexpr std::int64_t kAdvanceNs = 3'000'000;     // may be spent before it is earned, for short programs
constexpr std::int64_t kLimitNs = 100'000'000;     // real time of a twin
constexpr std::int64_t kLimitEachNs = 40'000'000;  // for each rank that its core has, if that is more
constexpr double kLongestPs = 20e9;  // on average: what caches cost hardly matters to longer stretches

std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 31U;
  x *= 0x7fb5d329728ea185U;
  x ^= x >> 27U;
  return x;
}

/// A twin has its core for itself no more than its process has.
std::int64_t limit_ns(int ranks) {
  const auto cores = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  return std::max(kLimitNs, kLimitEachNs * ranks / cores);
}

/// Threads of the process, those of the MPI library too.
int threads_here() {
  struct stat tasks {};
  return stat("/proc/self/task", &tasks) == 0 ? static_cast<int>(tasks.st_nlink) - 2 : 0;
}

}  // namespace

Twins::Twins(Runtime& runtime)
    : runtime_{runtime}, random_{static_cast<unsigned>(runtime.me().index() + 1)} {}

double Twins::Kind::need() const {
  const double tries = samples + failures + 1.0;
  return count < 2 || total_ps > kLongestPs * count ? 0 : total_ps / (tries * tries);
}

void Twins::told(const events::Event& event) {
  if (warm_ticks_ != 0) {
    events::Event warm;
    warm.kind = events::EventKind::kWarmTime;
    warm.thread = event.thread;
    warm.aux = runtime_.line.next_ordinal() - 1;
    const std::int64_t net = std::max<std::int64_t>(warm_ticks_ - ticks_of_measuring(), 1);
    warm.compute_ps = static_cast<std::int64_t>(1000.0 * nanoseconds_per_tick() * runtime_.settings().scale *
                                                static_cast<double>(net));
    warm.size = rough_ ? 1 : 0;
    runtime_.line.write(warm, nullptr);
    warm_ticks_ = 0;
  }
  Kind& before = kinds_[kind_];
  ++before.count;
  before.total_ps += static_cast<double>(event.compute_ps);
  most_needed_ = std::max(most_needed_, before.need());
  kind_ = mixed(mixed(event.site.value + 1) + static_cast<std::uint64_t>(event.size));
  at_beginning_ = true;
}

bool Twins::is_due(const Kind& kind) {
  // Ranks that do the same do not all measure the same stretches.
  const double luck = 0.5 + static_cast<double>(random_()) / static_cast<double>(std::minstd_rand::max());
  return kind.need() > 0 && kind.need() * luck >= 0.5 * most_needed_;
}

void Twins::leave() {
  const bool at_beginning = at_beginning_;
  at_beginning_ = false;
  if (!at_beginning || twin::is_twin() || ticks() < next_tick_) return;
  if (runtime_.degraded() || runtime_.threads.count() > 1) return;
  Kind& kind = kinds_[kind_];
  if (is_due(kind)) sample(kind);
  if (!twin::is_twin())
    runtime_.threads.locked_mine().clock.begin_again();  // what was decided here is not the program's
}

void Twins::sample(Kind& kind) {
  ThreadState& thread = runtime_.threads.locked_mine();
  if (threads_here() > 1 + runtime_.native_threads()) return plan_next();
  const auto stand_still = [&](bool inside) {
    const std::lock_guard guard{runtime_.lock};
    runtime_.threads.set_inside(inside);
  };
  stand_still(true);
  const auto measured = twin::measure(limit_ns(runtime_.ranks()));
  if (twin::is_twin()) {
    thread.clock.start(thread.clock.base());
    return twin::begin_pass();
  }
  stand_still(false);
  warm_ticks_ = measured->warm_ticks;
  rough_ = measured->rough;
  calls_since_ = 0;
  ++(warm_ticks_ != 0 ? kind.samples : kind.failures);
  spent_ns_ += measured->cpu_ns;
  most_needed_ = 0;
  for (const auto& [key, other] : kinds_) most_needed_ = std::max(most_needed_, other.need());
  plan_next();
  thread.clock.start_exactly();
  thread.clock.start(thread.clock.base());
}

void Twins::plan_next() {
  const auto earned_at =
      static_cast<double>(spent_ns_ - kAdvanceNs) / kShareOfCpu;  // of the process's CPU time
  const double missing = earned_at - static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID));
  next_tick_ = ticks() + static_cast<std::int64_t>(std::max(missing, 0.0) / nanoseconds_per_tick());
}

}  // namespace nplus1::stubs
