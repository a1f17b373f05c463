// Profiles of PGMPITuneLib (Hunold and Carpen-Amarie 2018): the function, the number of processes, the table
// of algorithms, and ranges of sizes "from to algorithm". Its reader takes no blank lines.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "guidelines/findings_output.hpp"

namespace nplus1::guidelines {
namespace {

/// The mock-ups of PGMPITuneLib that catalogues name; it has none of Reduce_scatter.
constexpr std::array kKnown{"allgather_as_allgatherv",
                            "allgather_as_allreduce",
                            "allgather_as_alltoall",
                            "allgather_as_gather_bcast",
                            "allreduce_as_reduce_bcast",
                            "allreduce_as_reducescatter_allgatherv",
                            "allreduce_as_reducescatterblock_allgather",
                            "alltoall_as_alltoallv",
                            "bcast_as_allgatherv",
                            "bcast_as_scatter_allgather",
                            "gather_as_allgather",
                            "gather_as_gatherv",
                            "gather_as_reduce",
                            "reduce_as_allreduce",
                            "reduce_as_reducescatter",
                            "reduce_as_reducescatter_gatherv",
                            "reduce_as_reducescatterblock_gather",
                            "reducescatterblock_as_allreduce",
                            "reducescatterblock_as_reduce_scatter",
                            "reducescatterblock_as_reducescatter",
                            "scan_as_exscan_reducelocal",
                            "scatter_as_bcast",
                            "scatter_as_scatterv"};

std::string flat(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string algorithm_of(const std::string& mock_up) {
  std::string text = flat(original_of(mock_up)) + "_as";
  for (const std::string& part : parts_of(mock_up)) text += '_' + flat(part);
  return std::find(kKnown.begin(), kKnown.end(), text) == kKnown.end() ? std::string{} : text;
}

struct Best {
  double seconds = 0;
  std::string algorithm;  // empty: the original is not violated there
};
using BySize = std::map<std::uint64_t, Best>;

/// For each measured size of a function the fastest mock-up that beats it.
std::map<std::pair<std::string, int>, BySize> best_of(const Analysis& analysis) {
  std::map<std::pair<std::string, int>, BySize> best;
  for (const Comparison& c : analysis.comparisons) {
    Best& here = best[{c.original, c.processes}][c.left.size];
    const std::string algorithm = c.rule == Rule::kPattern ? algorithm_of(c.right.test) : std::string{};
    if (c.verdict != Verdict::kViolated || c.confirmed == false || algorithm.empty()) continue;
    if (here.algorithm.empty() || c.right.seconds < here.seconds) here = {c.right.seconds, algorithm};
  }
  return best;
}

struct Range {
  std::uint64_t from, to;
  std::string algorithm;
};

/// Neighbouring sizes with one algorithm make a range; nothing is said about sizes that were not measured
/// outside.
std::vector<Range> ranges_of(const BySize& sizes) {
  std::vector<Range> ranges;
  bool open = false;
  for (const auto& [size, best] : sizes) {
    const bool goes_on = open && !best.algorithm.empty() && ranges.back().algorithm == best.algorithm;
    if (goes_on) ranges.back().to = size;
    if (!goes_on && !best.algorithm.empty()) ranges.push_back({size, size, best.algorithm});
    open = !best.algorithm.empty();
  }
  return ranges;
}

std::string profile_text(const std::string& original, int processes, const std::vector<Range>& ranges) {
  std::vector<std::string> algorithms;
  std::string lines;
  for (const Range& range : ranges) {
    auto known = std::find(algorithms.begin(), algorithms.end(), range.algorithm);
    if (known == algorithms.end()) known = algorithms.insert(algorithms.end(), range.algorithm);
    lines += fmt::format("{} {} {}\n", range.from, range.to, known - algorithms.begin() + 1);
  }
  std::string text =
      fmt::format("# by nplus1 guidelines check\nMPI_{}\n{}\n{}\n", original, processes, algorithms.size());
  for (std::size_t i = 0; i < algorithms.size(); ++i) text += fmt::format("{} {}\n", i + 1, algorithms[i]);
  return text + fmt::format("{}\n", ranges.size()) + lines;
}

}  // namespace

std::vector<Profile> tuning_profiles(const Analysis& analysis) {
  std::vector<Profile> profiles;
  for (const auto& [function, sizes] : best_of(analysis)) {
    const auto ranges = ranges_of(sizes);
    if (ranges.empty()) continue;
    profiles.push_back({fmt::format("p_{}_{}.prf", flat(function.first), function.second),
                        profile_text(function.first, function.second, ranges)});
  }
  return profiles;
}

}  // namespace nplus1::guidelines
