// The largest groups of call sites, searched by all analysers at the same time: each looks for broadcasts among the
// payloads that are its own. Only where one process would do no more than that: where the group's messages are too
// many to be cut into rounds, most of them spread a payload, and nothing suggests that several payloads are pieces of
// one operation. What that takes to know is exchanged as a few numbers for each broadcast.
#pragma once

#include <vector>

#include "detector/finding_parts.hpp"
#include "detector/mpi/peers.hpp"

namespace nplus1::detector {

/// All parts of everybody's findings at the first analyser, in the order of the analysers; nothing at the others.
[[nodiscard]] std::vector<std::vector<Finding>> at_first(const Peers& peers, std::vector<Finding> mine);

struct SharedGroup {
  bool done = false;  // false: give its messages to one analyser, who searches alone. Everybody's alike.
  std::vector<Finding> findings;  // at the first analyser
};

/// Called by all analysers. `list`: my messages of a group of call sites that only messages hold together.
[[nodiscard]] SharedGroup search_payloads_together(const Peers& peers, const Transfers& mine,
                                                   TransferList list,
                                                   const events::DefinitionsCollector& names, Keep keep);

}  // namespace nplus1::detector
