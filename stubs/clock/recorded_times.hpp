// The computing of another run of the program, given to a thread of this one: `--compute recorded:DIR`.
//
// The recording knows events; a rank knows calls, some of which tell no event. So an interval reaches from one told event
// of the thread to the next: a call that ends it brings the clock to the recorded length, one that tells nothing lets as
// much of it pass as was measured. Where a call comes that the recording does not have there, the thread is on its own:
// from then on its clock is the measured one. By the thread whose times they are; nothing fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "events/mpi_call.hpp"
#include "events/recording/compute_times.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

class RecordedTimes {
 public:
  /// `all`: the rank's; the thread's own are taken. It begins at virtual time `now`.
  void begin(const std::vector<events::recording::ComputeInterval>& all, std::uint16_t thread, Time now) {
    intervals_.clear();
    for (const auto& interval : all)
      if (interval.thread == thread) intervals_.push_back(interval);
    next_ = 0;
    began_ = now;
    differs_ = false;
  }

  /// Whether the thread has made the recorded calls so far, and there is another.
  [[nodiscard]] bool follows() const { return !differs_ && next_ < intervals_.size(); }
  /// The recorded time until the next told event. Only where it follows.
  [[nodiscard]] Duration left(Time now) const {
    return std::max(Duration{}, began_ + Duration{intervals_[next_].length_ps} - now);
  }
  /// A call begins: how much time has passed since `now`, where its clock was started. Only where it follows.
  [[nodiscard]] Duration passed(Time now, Duration measured, events::MpiCall call) const {
    const bool ends = intervals_[next_].call == static_cast<std::uint16_t>(call);
    return ends ? left(now) : std::min(measured, left(now));
  }

  /// The next event told will be one of `call`: where it is not the recorded one, the thread is on its own.
  void expect(std::uint16_t call) {
    if (differs_ || (follows() && intervals_[next_].call == call)) return;
    differs_ = true;
    found_ = call;
    expected_ = next_ < intervals_.size() ? intervals_[next_].call : std::uint16_t{0};
  }
  /// An event that ends an interval is told at `now`: what has to pass before it yet.
  [[nodiscard]] Duration tell(std::uint16_t call, Time now) {
    expect(call);
    if (differs_) return Duration{};
    const Duration rest = left(now);
    ++next_;
    began_ = now + rest;
    return rest;
  }
  /// The call of the last told event ends: the next interval begins.
  void out(Time exit) { began_ = exit; }

  [[nodiscard]] bool differs() const { return differs_; }
  /// Told events before the first that differs.
  [[nodiscard]] std::size_t followed() const { return next_; }
  /// The functions at the first difference; 0 where the recording had no further one.
  [[nodiscard]] std::uint16_t found() const { return found_; }
  [[nodiscard]] std::uint16_t expected() const { return expected_; }

 private:
  std::vector<events::recording::ComputeInterval> intervals_;
  std::size_t next_ = 0;
  Time began_ = kTimeZero;
  bool differs_ = false;
  std::uint16_t found_ = 0, expected_ = 0;
};

}  // namespace nplus1::stubs
