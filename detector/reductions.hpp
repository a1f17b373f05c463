// The judges of operations that combine values: reduce, allreduce, reduce_scatter, scan and exscan. Pure.
#pragma once

#include "detector/case.hpp"

namespace nplus1::detector {

/// By hashes that add up (MPI_SUM, MPI_BXOR, MPI_PROD).
[[nodiscard]] Judge reduction(const Case& c);
/// MPI_MAX and MPI_MIN: nothing adds up, but each rank passes on the larger of what it has.
[[nodiscard]] Judge extremum(const Case& c);

}  // namespace nplus1::detector
