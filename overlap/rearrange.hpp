// Carries out a plan on the recorded stream: the stage that a replay of a variant has (hypothesis/transform).
//
// Blocking calls become MPI_Isend and MPI_Irecv; what is moved leaves its computing where it was; requests that are
// waited for at the same place are waited for by one MPI_Waitall. Where compute times were given (`--compute fixed:`),
// every call that the changed program makes is charged. One thread.
#pragma once

#include <memory>

#include "hypothesis/transform/transform.hpp"
#include "overlap/plan.hpp"

namespace nplus1::overlap {

[[nodiscard]] std::unique_ptr<hypothesis::transform::Transform> rearranged(
    std::shared_ptr<const Survey> survey, std::shared_ptr<const Plan> plan);

}  // namespace nplus1::overlap
