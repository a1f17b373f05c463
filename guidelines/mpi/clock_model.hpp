// The mathematics of clocks that all ranks share: from round trips to a model of one clock's offset and drift
// against another's. Offsets are taken from the shortest of several round trips, as SKaMPI does; the line
// through them over time is the model of Jones and Koenig (2012) that Hunold and Carpen-Amarie's HCA builds
// on
// ("On the Impact of Synchronizing Clocks and Processes on Benchmarking MPI Collectives", EuroMPI 2015).
// Pure; standard library only. All times in seconds.
#pragma once

#include <vector>

namespace nplus1::guidelines {

/// A message there and back: when it left and came by this clock, and what the other clock showed between.
struct RoundTrip {
  double sent = 0, theirs = 0, received = 0;
};

/// The other clock less this one, at a time of this one; wrong by at most half the round trip it is from.
struct ClockOffset {
  double local = 0, offset = 0;
};

struct ClockModel {
  double offset = 0;  // to add at local time `at`
  double drift = 0;   // to add per second since
  double at = 0;
  [[nodiscard]] double global(double local) const { return local + offset + drift * (local - at); }
};

/// From the shortest of them, at least one.
[[nodiscard]] ClockOffset offset_of(const std::vector<RoundTrip>& round_trips);

/// The least-squares line, through at least one point. Without drift where there are fewer than three points,
/// or where its slope is less than three of its standard errors: extrapolated, noise would be worse than
/// none.
[[nodiscard]] ClockModel fit(const std::vector<ClockOffset>& offsets);

}  // namespace nplus1::guidelines
