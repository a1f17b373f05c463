// The first half of a parallel search: several analysers read a recording together. Blocks of it are dealt out in
// turn; each analyser passes on what its blocks tell of ranks that are others', and puts together the messages that
// its own ranks sent. After this the messages of the run are spread over the analysers, each with both its ends and
// its place in one causal order, exactly as if one process had read all.
//
// Called by all analysers. Memory: the messages of one's own ranks, a block at a time of everything else; at the
// first analyser, which finds the order, 40 bytes for each message of the run while that lasts.
#pragma once

#include "detector/mpi/peers.hpp"
#include "detector/transfers.hpp"
#include "events/definitions_collector.hpp"
#include "events/recording/reader.hpp"

namespace nplus1::detector {

struct SharedReading {
  Transfers mine;                        // those that my ranks sent
  events::DefinitionsCollector names;    // everybody has them all
  events::recording::Coverage coverage;  // of what I read; damage ends it for all
};

[[nodiscard]] Result<SharedReading> read_together(const Peers& peers, events::recording::Reader& reader);

}  // namespace nplus1::detector
