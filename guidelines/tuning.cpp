#include "guidelines/tuning.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace nplus1::guidelines {
namespace {

struct Best {
  double seconds = 0;
  std::string mock_up;  // empty: the original is not violated there
};
using BySize = std::map<std::uint64_t, Best>;

std::map<std::pair<std::string, int>, BySize> best_of(const Analysis& analysis,
                                                      const std::function<bool(const std::string&)>& admits) {
  std::map<std::pair<std::string, int>, BySize> best;
  for (const Comparison& c : analysis.comparisons) {
    if (c.left.size == 0) continue;  // calls of no bytes stay as they are
    Best& here = best[{c.original, c.processes}][c.left.size];
    if (c.rule != Rule::kPattern || c.verdict != Verdict::kViolated || c.confirmed == false) continue;
    if (!admits(c.right.test)) continue;
    if (here.mock_up.empty() || c.right.seconds < here.seconds) here = {c.right.seconds, c.right.test};
  }
  return best;
}

}  // namespace

bool can_be_replaced(std::string_view original) {
  constexpr std::array kWrapped{"Allgather", "Allreduce", "Alltoall",       "Bcast",
                                "Gather",    "Reduce",    "Reduce_scatter", "Reduce_scatter_block",
                                "Scan",      "Scatter"};
  return std::find(kWrapped.begin(), kWrapped.end(), original) != kWrapped.end();
}

std::vector<TunedRange> tuned_ranges(const Analysis& analysis,
                                     const std::function<bool(const std::string&)>& admits) {
  std::vector<TunedRange> ranges;
  for (const auto& [function, sizes] : best_of(analysis, admits)) {
    bool open = false;
    for (const auto& [size, best] : sizes) {
      const bool goes_on = open && ranges.back().mock_up == best.mock_up;
      if (goes_on) ranges.back().to = size;
      if (!goes_on && !best.mock_up.empty())
        ranges.push_back({function.first, function.second, size, size, best.mock_up});
      open = !best.mock_up.empty();
    }
  }
  return ranges;
}

}  // namespace nplus1::guidelines
