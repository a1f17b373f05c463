// Times of many ranks together: a Duration holds 106 days, which a thousand ranks have in two and a half hours. Any thread.
#pragma once

#include <limits>

#include "support/units.hpp"

namespace nplus1 {

class TimeSum {
 public:
  constexpr TimeSum& operator+=(Duration part) {
    ps_ += part.count();
    return *this;
  }
  /// Towards zero, as the quotient of a Duration; one of its parts, or between them, where there are `parts`.
  [[nodiscard]] constexpr Duration mean_of(std::int64_t parts) const {
    return Duration{static_cast<std::int64_t>(ps_ / parts)};
  }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }

 private:
  __extension__ __int128 ps_ = 0;
};

/// Adds `more`; `sum` is as much as fits where it would be more.
constexpr void sum_up(std::int64_t& sum, std::int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum))
    sum = more < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}
constexpr void sum_up(Duration& sum, Duration more) {
  std::int64_t ps = sum.count();
  sum_up(ps, more.count());
  sum = Duration{ps};
}

[[nodiscard]] constexpr Duration added(Duration a, Duration b) {
  sum_up(a, b);
  return a;
}

/// The sum of a range of Durations.
template <class Iterator>
[[nodiscard]] constexpr TimeSum time_sum(Iterator begin, Iterator end) {
  TimeSum sum;
  for (; begin != end; ++begin) sum += *begin;
  return sum;
}

}  // namespace nplus1
