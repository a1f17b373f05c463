// Which mock-up is faster than its original where: what to replace, as ranges of sizes. Pure; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "guidelines/analysis.hpp"

namespace nplus1::guidelines {

/// Whether the preloadable library has this function: collectives do, other originals don't.
[[nodiscard]] bool can_be_replaced(std::string_view original);

struct TunedRange {
  std::string original;
  int processes = 0;
  std::uint64_t from = 0, to = 0;  // bytes, both measured
  std::string mock_up;
};

/// For each measured size the fastest of the mock-ups that a violation names and `admits` allows, not
/// counting those that fresh measurements did not confirm; neighbouring sizes with one mock-up are one range.
/// Nothing is said about sizes outside. Ordered by original, processes, size.
[[nodiscard]] std::vector<TunedRange> tuned_ranges(const Analysis& analysis,
                                                   const std::function<bool(const std::string&)>& admits);

}  // namespace nplus1::guidelines
