// How a rank's virtual clock is driven: what the user asked for with --clock, --compute and --protocol, as
// the simulator's Welcome carries it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/payload/choice.hpp"
#include "semantics/timing.hpp"
#include "stubs/transport/handshake.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

enum class ComputeMode : std::uint8_t { kMeasured, kFixed, kTable };

/// A line of `--compute file:F`: `RANK WHERE SECONDS`. RANK is a number or *; WHERE is an MPI function, a
/// call site MODULE+0xOFFSET, or *. The first line that fits the call at the interval's end gives its length.
struct ComputeRule {
  std::int32_t rank = -1;  // -1 = any
  std::string where;       // empty = any
  Duration length{};
};

struct Settings {
  ComputeMode compute = ComputeMode::kMeasured;
  double scale = 1.0;              // kMeasured
  Duration fixed{};                // kFixed
  std::vector<ComputeRule> rules;  // kTable
  bool wall_clock = false;
  bool riesen = false;
  bool virtual_clocks = false;
  semantics::PollCost poll_cost;
  bool record = false;                    // events carry a Detail
  events::payload::Choice content{0, 0};  // what is in it of the payload
  unsigned frames = 1;                    // of a call path
  bool pcontrol_ipm = false;              // MPI_Pcontrol(1, "name") begins a region
  std::string record_region;              // empty: all is recorded
};

/// `cores`: of this host; `local_ranks`: on it, the simulator not counted. They decide `--clock auto`.
[[nodiscard]] Settings make_settings(const transport::Config& config, int local_ranks, int cores);

}  // namespace nplus1::stubs
