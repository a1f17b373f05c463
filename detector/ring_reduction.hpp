// The reduction that most people write by hand: the blocks of a vector go round a ring, each rank combines the one that
// arrives with its own and passes it on; then, for an allreduce, the results go round. Only the first operand of each
// block is ever in a message, so that no hash can prove it: the places of the blocks in each rank's vector do, and
// their numbers say with which operation. Pure.
#pragma once

#include "detector/case.hpp"

namespace nplus1::detector {

/// The judge: reduce_scatter, or, with the results' round, allreduce.
[[nodiscard]] Judge ring_reduction(const Case& c);

}  // namespace nplus1::detector
