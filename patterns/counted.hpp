// A job's patterns from what its ranks have counted themselves (events/statistics), in real time: as MessageStatistics
// makes them of events, but for what only events tell (over time, the wire, what is not modelled). Pure function.
#pragma once

#include <vector>

#include "events/statistics/pages.hpp"
#include "patterns/patterns.hpp"
#include "support/result.hpp"

namespace nplus1::patterns {

/// Call sites have their modules and offsets, no source lines. `application` is set.
/// An error where sums over all ranks would not fit: 46 days, 4e18 bytes.
[[nodiscard]] Result<Patterns> counted_patterns(const std::vector<events::statistics::RankPage>& pages);

}  // namespace nplus1::patterns
