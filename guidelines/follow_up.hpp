// What to measure after a verdict: findings once more, and with k calls in place of a split rule's estimate.
// Pure; any thread.
#pragma once

#include <vector>

#include "guidelines/analysis.hpp"
#include "guidelines/campaign.hpp"

namespace nplus1::guidelines {

/// For each violation the tests that decide it, those of one original and size together; a split violation by
/// its k calls for real. A cell's repetitions are those that its tests had in `data`, at least `least`.
[[nodiscard]] std::vector<Cell> confirmation_cells(const Analysis& analysis, const Data& data, int least);

}  // namespace nplus1::guidelines
