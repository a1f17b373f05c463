// Operations that go up (or down) a tree of all ranks, whose root may be another rank each time: neither content nor
// equal numbers of calls hold them together, but who has to have received before he sends does. Pure.
#pragma once

#include <vector>

#include "detector/instances.hpp"

namespace nplus1::detector {

/// Gathers, scatters or reductions that explain all of the cluster; else nothing. Times: ranks x transfers at most.
[[nodiscard]] std::vector<Instance> by_trees(const Transfers& transfers, const Cluster& cluster);

}  // namespace nplus1::detector
