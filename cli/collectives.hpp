// What `nplus1 collectives` was asked for, shared by its parts: the search, by this process or by several,
// and the price of what was found.
#pragma once

#include <string>

#include "cli/replay.hpp"
#include "detector/analysis.hpp"

namespace nplus1::cli {

struct CollectivesWords {
  ReplayWords replay;  // source, network, collectives
  std::string json;
  std::string html;
  bool all = false;  // what is only possible in full, too
  std::string method = "default";
  int analysers = 1;
  bool price = false;
};

/// Throws Failure.
[[nodiscard]] detector::Analysis search_recording(const CollectivesWords& words, detector::Keep keep);

/// Sets the saving of each finding: the recording replayed on the network asked for, as it was and with each
/// finding as the predefined operation. What saves most comes first. Throws Failure.
void price_findings(const CollectivesWords& words, detector::Analysis& analysis);

}  // namespace nplus1::cli
