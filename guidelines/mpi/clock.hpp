// A clock that all ranks share: each rank's MPI_Wtime, corrected to rank 0's by a linear model of offset and
// drift (clock_model.hpp). Ranks are measured one after the other.
#pragma once

#include <mpi.h>

#include <vector>

#include "guidelines/mpi/clock_model.hpp"

namespace nplus1::guidelines {

class SharedClock {
 public:
  /// All ranks of `comm` call together; takes about 10 ms for each rank.
  explicit SharedClock(MPI_Comm comm);

  /// Looks at the clocks once more, all ranks together, some 20 round trips for each: the longer they have
  /// been watched, the better their drift is known. The latest 100 looks count, since drifts change.
  void look_again();

  [[nodiscard]] double global(double local) const { return model_.global(local); }

 private:
  void look(bool wait);

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 0;
  std::vector<ClockOffset> offsets_;
  ClockModel model_;
};

}  // namespace nplus1::guidelines
