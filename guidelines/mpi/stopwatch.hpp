// Starts all ranks together, times a test on each, and reduces the times to one number for each repetition.
// All ranks call every function together.
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <vector>

#include "guidelines/mpi/clock.hpp"
#include "guidelines/mpi/mock_ups/call.hpp"
#include "guidelines/plan.hpp"

namespace nplus1::guidelines {

/// One repetition on one rank. Under `barrier` times count from this rank's own start.
struct Lap {
  double begin = 0, end = 0, copying = 0;
  int in_time = 1;  // 0: this rank was not ready when the window opened
};

struct Times {
  double seconds = 0, without_copies = 0;
  bool valid = true;  // false: some rank missed the window
};

class Stopwatch {
 public:
  Stopwatch(const Plan& plan, MPI_Comm comm);

  /// Before some laps: the clocks are looked at again where they have not been for a while, and the grid of
  /// windows begins anew.
  void prepare();

  /// Most ranks were late: announcements come with twice the notice from now on.
  void give_more_notice() { slack_ *= 2; }

  /// Waits for the common start, then times `test`.
  ///
  /// barrier: an MPI_Barrier; the result is the longest of the ranks' own times. window: at a fixed grid of
  /// the shared clock; round-time: at a time that rank 0 announces each time, as in later ReproMPI. With
  /// these the result is the last end less the first begin.
  [[nodiscard]] Lap time(const std::function<double()>& test);

  /// One value for each lap, on rank 0; elsewhere only the length is right.
  [[nodiscard]] std::vector<Times> reduce(const std::vector<Lap>& laps) const;

 private:
  [[nodiscard]] double global(double local) const { return clock_ ? clock_->global(local) : local; }
  [[nodiscard]] double now() const { return global(MPI_Wtime()); }
  [[nodiscard]] int wait_until(double start) const;
  [[nodiscard]] int start();

  MPI_Comm comm_;
  Sync sync_;
  bool virtual_clock_;
  bool shared_clock_;
  double window_;
  double next_ = 0;    // start of the next window
  double slack_ = 0;   // how long an announcement takes to reach everybody
  double looked_ = 0;  // at the clocks, by this rank's
  std::optional<SharedClock> clock_;
};

}  // namespace nplus1::guidelines
