// A clock that all ranks share: each rank's MPI_Wtime, corrected to rank 0's by a linear model of offset and
// drift. Offsets are taken from the shortest of several round trips, as SKaMPI does; the line through them
// over time is the model of Jones and Koenig (2012) that Hunold and Carpen-Amarie's HCA builds on ("On the
// Impact of Synchronizing Clocks and Processes on Benchmarking MPI Collectives", EuroMPI 2015). Ranks are
// measured one after the other.
#pragma once

#include <mpi.h>

namespace nplus1::guidelines {

struct ClockModel {
  double offset = 0;  // seconds to add at local time `at`
  double drift = 0;   // seconds to add per second since
  double at = 0;
  [[nodiscard]] double global(double local) const { return local + offset + drift * (local - at); }
};

/// All ranks of `comm` call together; takes about 10 ms for each rank.
[[nodiscard]] ClockModel synchronise_clocks(MPI_Comm comm);

}  // namespace nplus1::guidelines
