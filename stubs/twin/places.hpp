// Which twins of a host measure at once, and for which of them its other ranks stand aside.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "stubs/transport/segment.hpp"

namespace nplus1::stubs::twin {

/// A place among several that all ranks of the host see, for so long at most; what a rank leaves that dies is another's then. The
/// process's own: a twin that has a copy of it gives nothing back.
class Place {
 public:
  /// `places`: until when each is taken, ticks of the time stamp counter.
  Place(std::span<std::atomic<std::int64_t>> places, double nanoseconds);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  [[nodiscard]] bool is_taken() const { return place_ != nullptr; }

 private:
  std::atomic<std::int64_t>* place_ = nullptr;
};

/// While it lasts, ranks that leave a call wait: of a long stretch hardly a pass would else be left alone, where a core has many ranks.
class QuietTime {
 public:
  static constexpr double kMostNs = 30e6;

  /// Null: nobody is asked.
  explicit QuietTime(transport::Quiet* quiet);
  ~QuietTime();
  QuietTime(const QuietTime&) = delete;
  QuietTime& operator=(const QuietTime&) = delete;

  /// What so much of one core's time is to be counted for on a host of so many: two cores' time is planned for, which may both wait for it.
  [[nodiscard]] double cost_ns(std::int64_t cpu_ns, int cores) const;

 private:
  transport::Quiet* quiet_;
  std::optional<Place> place_;
};

/// Waits until no twin needs quiet; whether there was one.
bool stand_aside(transport::Quiet& quiet);

}  // namespace nplus1::stubs::twin
