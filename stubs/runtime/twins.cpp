#include "stubs/runtime/twins.hpp"

#include <algorithm>
#include <cstddef>

#include "stubs/twin/alone.hpp"
#include "stubs/twin/places.hpp"
#include "stubs/twin/twin.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::int64_t kLimitNs = 100'000'000;      // real time of a twin
constexpr std::int64_t kLimitEachNs = 100'000'000;  // for each rank that its core has, if that is more

/// Of such stretches it is known how fast the core ran: to find out takes some 6 us.
constexpr double kLongNs = 300'000;

/// Of such ones hardly a pass is left alone, where a core has many ranks.
constexpr double kLongForCrowdedNs = 100'000;

/// A twin waits for a core of its own, by these moments, so many times: what it finds on one that is shared is rather too long.
constexpr double kMomentNs = 200'000;
constexpr int kMostMoments = 3;

/// What a twin takes at least, for each page of its process: to copy where it is, to look whether it was written to, and to make it
/// the process's own again.
constexpr std::int64_t kPageNs = 700;

/// Behind so many of the first calls faults are counted, which takes a system call: memory is mostly touched first where a program begins.
constexpr std::uint64_t kFirstCalls = 4096;

/// A twin has its core for itself no more than its process has.
std::int64_t limit_ns(const Runtime& runtime) {
  return std::max(kLimitNs, kLimitEachNs * runtime.ranks() / runtime.cores());
}

std::int64_t picoseconds(std::int64_t ticks) {
  return static_cast<std::int64_t>(1000.0 * nanoseconds_per_tick() * static_cast<double>(ticks));
}

std::int64_t ticks_in(double nanoseconds) {
  return static_cast<std::int64_t>(nanoseconds / nanoseconds_per_tick());
}

/// One of as many twins as the host has cores; over TCP nobody counts them.
class Turn {
 public:
  explicit Turn(const Runtime& runtime)
      : uncounted_{runtime.line.twins_until().empty()},
        place_{runtime.line.twins_until().first(
                   std::min(runtime.line.twins_until().size(), static_cast<std::size_t>(runtime.cores()))),
               2.0 * static_cast<double>(limit_ns(runtime))} {}
  [[nodiscard]] bool is_taken() const { return uncounted_ || place_.is_taken(); }

 private:
  bool uncounted_;
  twin::Place place_;
};

}  // namespace

Twins::Twins(Runtime& runtime)
    : runtime_{runtime},
      plan_{runtime.me().index()},
      long_ticks_{ticks_in(kLongNs)},
      began_cpu_ns_{clock_ns(CLOCK_PROCESS_CPUTIME_ID)} {}

bool Twins::is_one_here() noexcept {
  return twin::is_twin();
}

void Twins::look_behind_long_one() {
  faults_ = first_touch_.end();
  speed_ = core_speed();
}

void Twins::told(const events::Event& event) {
  if (!runtime_.threads.are_mine_alone()) return;
  twin::Outcome outcome = tried_ ? twin::Outcome::kFailed : twin::Outcome::kNotTried;
  if (warm_ticks_ != 0) outcome = twin::Outcome::kMeasured;
  if (warm_ticks_ != 0 || speed_.is_known()) tell(event.thread);
  plan_.told(event.site.value, static_cast<std::uint64_t>(event.size), event.compute_ps, outcome,
             warm_ticks_ != 0 && !rough_ ? warm_length_ : 0);
  tried_ = false;
  warm_ticks_ = 0;
  speed_ = {};
  faults_ = {};
  at_beginning_ = true;
}

void Twins::tell(ThreadId thread) {
  events::Event warm;
  warm.kind = events::EventKind::kWarmTime;
  warm.thread = thread;
  warm.aux = runtime_.line.next_ordinal() - 1;
  if (warm_ticks_ != 0) {
    const std::int64_t net = std::max<std::int64_t>(warm_ticks_ - ticks_of_measuring(), 1);
    warm.compute_ps =
        static_cast<std::int64_t>(runtime_.settings().scale * static_cast<double>(picoseconds(net)));
    warm.compute_ps = std::max<std::int64_t>(warm.compute_ps, 1);
    warm.size = rough_ ? 1 : 0;
  }
  const std::int64_t speeds[events::kSlotBytes / sizeof(std::int64_t)] = {
      picoseconds(warm_speed_.chain_ticks),
      picoseconds(warm_speed_.loads_ticks),
      picoseconds(speed_.chain_ticks),
      picoseconds(speed_.loads_ticks),
      faults_.count,
      static_cast<std::int64_t>(1000.0 * runtime_.settings().scale * static_cast<double>(faults_.each_ns))};
  warm.extension = 1;
  runtime_.line.write(warm, speeds);
  warm_speed_ = {};
}

void Twins::leave() {
  if (!runtime_.threads.are_mine_alone()) return;
  const bool at_beginning = at_beginning_;
  at_beginning_ = false;
  if (!at_beginning || twin::is_twin() || runtime_.degraded()) return;
  const bool affordable = ticks() >= next_tick_;
  if (affordable && plan_.is_due()) sample_if_alone();
  if (twin::is_twin()) return;
  transport::Quiet* const quiet = runtime_.line.quiet();
  const bool waited = quiet != nullptr && twin::stand_aside(*quiet);
  const bool counts = left_++ < kFirstCalls;
  counts ? first_touch_.begin() : first_touch_.forget();
  if (waited || affordable || counts)
    runtime_.threads.locked_mine().clock.begin_again();  // what was decided here is not the program's
}

/// A twin beside another on the same core measures what that pushes out of the caches; where ranks leave a collective together,
/// all would be due at once. And on a core that somebody else has a part of it is rather too long.
void Twins::sample_if_alone() {
  const Turn turn{runtime_};
  const bool alone = turn.is_taken() && (waited_ >= kMostMoments || twin::core_is_own());
  if (alone) {
    waited_ = 0;
    return sample();
  }
  if (turn.is_taken()) ++waited_;
  next_tick_ = ticks() + ticks_in(kMomentNs);
}

void Twins::sample() {
  ThreadState& thread = runtime_.threads.locked_mine();
  const twin::Alone here = twin::look_around();
  if (!here.may_have_a_twin(1 + runtime_.native_threads())) return plan_next();
  // Once for what there is, since time passes and CPU time may not.
  if (const std::int64_t cost_ns = kPageNs * here.private_pages; cost_ns > pages_ns_ + pages_ns_ / 4) {
    pages_ns_ = cost_ns;
    plan_next();
    if (ticks() < next_tick_) return;
  }
  const auto stand_still = [&](bool inside) {
    const std::lock_guard guard{runtime_.lock};
    runtime_.threads.set_inside(inside);
  };
  stand_still(true);
  const double scale = 1000.0 * runtime_.settings().scale;
  const bool needs_quiet = plan_.mean_ps() / scale > kLongForCrowdedNs && runtime_.ranks() > runtime_.cores();
  const twin::QuietTime quiet{needs_quiet ? runtime_.line.quiet() : nullptr};
  const double longest_ns = static_cast<double>(plan_.longest_ps()) / scale;
  const auto measured =
      twin::measure(limit_ns(runtime_), plan_.shortest(),
                    static_cast<std::int64_t>(std::min(longest_ns, static_cast<double>(twin::kLimitCpuNs))));
  if (twin::is_twin()) {
    thread.clock.start(thread.clock.base());
    return twin::begin_pass();
  }
  stand_still(false);
  warm_ticks_ = measured->warm_ticks;
  warm_speed_ = measured->speed;
  warm_length_ = measured->length();
  rough_ = measured->rough;
  calls_since_ = 0;
  tried_ = true;
  spent_ns_ += static_cast<std::int64_t>(quiet.cost_ns(measured->cost_ns, runtime_.cores()));
  plan_next();
  thread.clock.start_exactly();
  thread.clock.start(thread.clock.base());
}

void Twins::plan_next() {
  const auto used = static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began_cpu_ns_);
  const double missing =
      twin::affordable_at_ns(spent_ns_ + pages_ns_, runtime_.ranks(), runtime_.cores()) - used;
  next_tick_ = ticks() + ticks_in(std::max(missing, 0.0));
}

}  // namespace nplus1::stubs
