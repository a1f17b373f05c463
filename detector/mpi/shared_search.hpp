// A parallel search. Each analyser reads the whole recording, so that all know the one causal order, and keeps a share
// of the messages: whole payloads. Groups of call sites that belong together are then dealt out, with all their messages,
// and each analyser searches its own as one process would search all; the largest are searched by all together
// (shared_payloads.hpp). Nothing is found that one process would not find, and nothing less.
//
// The paper's method divides by payload: backward replays of different payloads never meet.
//
// Called by all analysers. What cannot be divided is the reading, and a group that only one process can search.
// Memory: a share of the messages, and 8 bytes for each message of the run.
#pragma once

#include "detector/analysis.hpp"
#include "detector/mpi/peers.hpp"
#include "detector/transfers.hpp"
#include "events/definitions_collector.hpp"

namespace nplus1::detector {

struct SharedReading {
  Transfers mine;                             // my share
  const events::DefinitionsCollector& names;  // everybody has them all
};

/// What this analyser found. The messages of `reading` are given away.
[[nodiscard]] std::vector<Finding> search_together(const Peers& peers, SharedReading& reading, Method method,
                                                   Keep keep);

}  // namespace nplus1::detector
