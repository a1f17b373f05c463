// Cuts the transfers of a run into clusters: call sites of one communicator that exchange messages with each
// other, or pass on what the others received; of these, the ranks that are connected. Searching all subsets of
// processes would be NP-hard; call sites are where the program says what belongs together. Pure, linear but for
// one sort of the payloads.
#pragma once

#include "detector/instances.hpp"

namespace nplus1::detector {

/// Joined by messages, by content passed on and by place in memory; each with its parts, which are joined by less.
[[nodiscard]] std::vector<Cluster> make_clusters(const Transfers& transfers);

}  // namespace nplus1::detector
