// The second half of a parallel search: groups of call sites that belong together are dealt out, with all their
// messages, and each analyser searches its own as one process would search all. Nothing is found that one process
// would not find, and nothing less: a collective's call sites never end up in different hands.
//
// The paper's method divides by payload: backward replays of different payloads never meet.
//
// Called by all analysers. What cannot be divided is a program all of whose messages come from one group of call
// sites; then one analyser searches, and the others have only helped to read.
#pragma once

#include "detector/analysis.hpp"
#include "detector/mpi/shared_reading.hpp"

namespace nplus1::detector {

/// What this analyser found. The messages of `reading` are given away.
[[nodiscard]] std::vector<Finding> search_together(const Peers& peers, SharedReading& reading, Method method,
                                                   Keep keep);

}  // namespace nplus1::detector
