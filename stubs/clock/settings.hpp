// How a rank's virtual clock is driven: what the user asked for with --clock, --compute and --protocol, as
// the simulator's Welcome carries it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/payload/choice.hpp"
#include "events/recording/compute_times.hpp"
#include "semantics/time_settings.hpp"
#include "stubs/transport/handshake.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

using semantics::ComputeMode;

struct Settings {
  ComputeMode compute = ComputeMode::kMeasured;
  double scale = 1.0;                                        // kMeasured
  Duration fixed{};                                          // kFixed
  std::vector<semantics::ComputeRule> rules;                 // kTable
  std::vector<events::recording::ComputeInterval> recorded;  // kRecorded: this rank's
  bool wall_clock = false;
  bool instructions = false;  // counted ones; where they cannot be, CPU time
  bool riesen = false;
  bool virtual_clocks = false;
  semantics::PollCost poll_cost;
  bool record = false;                    // events carry a Detail
  events::payload::Choice content{0, 0};  // what is in it of the payload
  unsigned frames = 1;                    // of a call path
  bool pcontrol_ipm = false;              // MPI_Pcontrol(1, "name") begins a region
  std::string record_region;              // empty: all is recorded
  bool twins = false;                     // measure what stretches take when they are warm
  bool accesses = false;                  // to the memory of messages are recorded, too
  bool late_clocks = false;  // calls whose outcome MPI alone decides do not wait to be told when they ended
};

/// `rules`: this rank's part of a compute table. `cores`: of this host; `local_ranks`: on it, the simulator not counted. They decide `--clock auto`.
[[nodiscard]] Settings make_settings(const transport::Config& config,
                                     std::vector<semantics::ComputeRule> rules, int local_ranks, int cores);

}  // namespace nplus1::stubs
