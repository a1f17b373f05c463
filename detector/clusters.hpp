// Cuts the transfers of a run into clusters: call sites of one communicator that exchange messages with each
// other, or pass on what the others received; of these, the ranks that are connected. Searching all subsets of
// processes would be NP-hard; call sites are where the program says what belongs together. Pure, linear but for
// one sort of the payloads.
#pragma once

#include "detector/instances.hpp"

namespace nplus1::detector {

struct Clusters {
  std::vector<Cluster> joined;               // by messages and by content passed on
  std::vector<std::vector<Cluster>> parts;   // of each, by messages alone; empty if that is the same
};

[[nodiscard]] Clusters make_clusters(const Transfers& transfers);

}  // namespace nplus1::detector
