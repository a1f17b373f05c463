// Hand-written collective operations of a recording: the search, by this process or by several, and what replacing each
// would save. Faces.
#pragma once

#include <string>
#include <vector>

#include "analyses/replay.hpp"
#include "detector/analysis.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

enum class SearchMethod : std::uint8_t {
  kDefault,
  kPaper
};  // kPaper: as Calotoiu et al. (2012) do, for comparison

struct CollectivesOptions {
  std::string source;  // a recording, or the result folder it is in; another format, as far as it goes
  std::uint64_t most_rows = 0;  // events and matches that are looked at; 0: all
  SearchMethod method = SearchMethod::kDefault;
  int analysers = 1;                             // processes that search, under mpirun
  detector::Keep keep = detector::Keep::kFirst;  // kAll: for prices
  bool of_recording = false;                     // another format is refused: what follows needs a recording
};

struct CollectivesSearch {
  detector::Analysis analysis;
  std::vector<std::string> lacks;  // what the source does not have, in sentences: of another format
};

[[nodiscard]] Result<CollectivesSearch> find_collectives(const CollectivesOptions& options);

/// Sets the saving of each finding: the recording replayed as `settings` say, as it was and with each finding as the
/// predefined operation. What saves most comes first. The findings must have all their occurrences.
[[nodiscard]] Result<std::vector<detector::Finding>> price(std::vector<detector::Finding> findings,
                                                           const ReplaySettings& settings,
                                                           const Progress& progress = {});

}  // namespace nplus1::analyses
