// Profiles of PGMPITuneLib (Hunold and Carpen-Amarie 2018): the function, the number of processes, the table
// of algorithms, and ranges of sizes "from to algorithm". Its reader takes no blank lines.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "guidelines/findings_output.hpp"
#include "guidelines/tuning.hpp"

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

std::string profile_text(const std::string& original, int processes, const std::vector<TunedRange>& ranges) {
  std::vector<std::string> algorithms;
  std::string lines;
  for (const TunedRange& range : ranges) {
    const std::string algorithm = algorithm_of(range.mock_up);
    auto known = std::find(algorithms.begin(), algorithms.end(), algorithm);
    if (known == algorithms.end()) known = algorithms.insert(algorithms.end(), algorithm);
    lines += fmt::format("{} {} {}\n", range.from, range.to, known - algorithms.begin() + 1);
  }
  std::string text =
      fmt::format("# by nplus1 guidelines check\nMPI_{}\n{}\n{}\n", original, processes, algorithms.size());
  for (std::size_t i = 0; i < algorithms.size(); ++i) text += fmt::format("{} {}\n", i + 1, algorithms[i]);
  return text + fmt::format("{}\n", ranges.size()) + lines;
}

}  // namespace

std::vector<Profile> tuning_profiles(const Analysis& analysis) {
  std::map<std::pair<std::string, int>, std::vector<TunedRange>> by_function;
  for (TunedRange range :
       tuned_ranges(analysis, [](const std::string& mock_up) { return !algorithm_of(mock_up).empty(); }))
    by_function[{range.original, range.processes}].push_back(std::move(range));
  std::vector<Profile> profiles;
  for (const auto& [function, ranges] : by_function)
    profiles.push_back({fmt::format("p_{}_{}.prf", flat(function.first), function.second),
                        profile_text(function.first, function.second, ranges)});
  return profiles;
}

}  // namespace nplus1::guidelines
