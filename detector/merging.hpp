// Puts together what payload by payload came out as several operations: pieces of one long broadcast, sent
// one after the other or at the same time, and broadcasts from all ranks that are one allgather. Pure; one
// thread.
#pragma once

#include <vector>

#include "detector/instances.hpp"

namespace nplus1::detector {

/// `found` in order of time.
[[nodiscard]] std::vector<Instance> merged(const Transfers& transfers, std::vector<Instance> found);

/// Only pieces of one long broadcast, sent one after the other.
[[nodiscard]] std::vector<Instance> merge_segments(const Transfers& transfers, std::vector<Instance> found);

/// Whether a root sends part of a message that it has received, or more than that, or in pieces.
[[nodiscard]] bool has_parts(const Transfers& transfers, const std::vector<Instance>& found);

}  // namespace nplus1::detector
