#include "guidelines/mpi/clock_model.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::guidelines {

ClockOffset offset_of(const std::vector<RoundTrip>& round_trips) {
  const RoundTrip& best = *std::min_element(
      round_trips.begin(), round_trips.end(),
      [](const RoundTrip& a, const RoundTrip& b) { return a.received - a.sent < b.received - b.sent; });
  const double middle = best.sent + (best.received - best.sent) / 2;
  return {middle, best.theirs - middle};
}

ClockModel fit(const std::vector<ClockOffset>& offsets) {
  constexpr double kSignificant = 3;  // standard errors
  const double n = static_cast<double>(offsets.size());
  double t = 0, o = 0, tt = 0, to = 0, residuals = 0;
  for (const ClockOffset& p : offsets) t += p.local / n, o += p.offset / n;
  for (const ClockOffset& p : offsets)
    tt += (p.local - t) * (p.local - t), to += (p.local - t) * (p.offset - o);
  if (offsets.size() < 3 || tt <= 0) return {o, 0, t};
  const double drift = to / tt;
  for (const ClockOffset& p : offsets) {
    const double residual = p.offset - o - drift * (p.local - t);
    residuals += residual * residual;
  }
  const double error = std::sqrt(residuals / (n - 2) / tt);
  return {o, std::abs(drift) > kSignificant * error ? drift : 0, t};
}

}  // namespace nplus1::guidelines
