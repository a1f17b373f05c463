// Operations of one rank with all others, which may be another rank each time, told apart by the order in which it
// sends or receives: neither content nor equal numbers of calls hold them together. Pure.
#pragma once

#include <vector>

#include "detector/instances.hpp"

namespace nplus1::detector {

/// Scatters, or gathers, that explain all of the cluster; else nothing. In proportion to the transfers.
[[nodiscard]] std::vector<Instance> by_stars(const Transfers& transfers, const Cluster& cluster);

}  // namespace nplus1::detector
