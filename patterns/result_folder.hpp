// What every run and every replay leaves: patterns.json, timeline.json, report.html, on platforms links.json and
// links.csv, and the summary's files.
// Called by the simulator and by `nplus1 replay -o`, when all is over.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netmodel/link_usage.hpp"
#include "patterns/patterns.hpp"
#include "report/results.hpp"

namespace nplus1::patterns {

/// What a run that kept more than its sums adds to the summary.
struct Observed {
  Patterns patterns;
  std::string timeline;                                          // Timeline::json()
  std::optional<netmodel::LinkUsage> links{};                    // on a platform
  std::vector<std::pair<std::string, std::string>> documents{};  // of analysers: name, JSON
};

/// Writes into `folder`, which must exist; the summary's text last, because who waits for it waits for all.
/// Goes on after an error, and returns the first one.
[[nodiscard]] Result<report::Done> write_result_folder(const std::filesystem::path& folder,
                                                       const report::RunSummary& summary,
                                                       const std::optional<Observed>& observed);

}  // namespace nplus1::patterns
