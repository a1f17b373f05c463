// A GOAL program as what it is: per rank a graph of operations that start when what they require has started or ended, on
// LogGOPS as LogGOPSim has it (docs/networks.md, "GOAL programs"). Nothing here is MPI's: a message takes its receiver's
// processor when it comes, asked for or not.
//
// Source: T. Hoefler, T. Schneider, A. Lumsdaine, *LogGOPSim*, HPDC 2010, and their simulator, which gives the same times.
// One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "events/goal/graph.hpp"
#include "netmodel/loggops/loggops.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis {

struct GoalEnds {
  std::vector<Time> ends;        // by rank: when its processors are done
  std::uint64_t messages = 0;    // sent
  std::uint64_t unreceived = 0;  // of these
  std::uint64_t unfinished = 0;  // operations that wait for what never comes
  bool too_long =
      false;  // it would end later than any time that is told (53 days); the rest says nothing then
};

/// `graphs` by rank. Of `parameters`, both_interfaces is taken as true, and handshake as 0.
[[nodiscard]] GoalEnds simulate(const std::vector<events::goal::Graph>& graphs,
                                netmodel::LogGops::Parameters parameters);

}  // namespace nplus1::hypothesis
