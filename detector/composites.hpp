// Two operations that are one: a reduce whose result the root then broadcasts is an allreduce, a gather and a
// broadcast of all of it an allgather. Where both share data, clusters.hpp has joined them; a reduced value,
// though, was never received as such, so that only who, when and where tells. Called once, for what all
// clusters gave. Pure; one thread.
#pragma once

#include <vector>

#include "detector/instances.hpp"

namespace nplus1::detector {

/// A pair of lists that became one, at the place of the first; the second's is empty.
struct Joined {
  std::size_t at = 0;
  std::size_t second_at = 0;
  std::vector<Instance> first, second;  // as they were
};

/// Replaces such pairs, each judged again as a whole; all others stay. What was replaced.
std::vector<Joined> join_composites(const Transfers& transfers, std::vector<std::vector<Instance>>& found);

}  // namespace nplus1::detector
