#include "stubs/clock/settings.hpp"

#include <utility>

namespace nplus1::stubs {
Settings make_settings(const transport::Config& config, std::vector<semantics::ComputeRule> rules,
                       int local_ranks, int cores) {
  Settings s;
  s.compute = static_cast<ComputeMode>(config.compute_mode);
  s.scale = config.compute_scale;
  s.fixed = Duration{config.compute_fixed_ps};
  s.rules = std::move(rules);
  // What twins find is held against CPU time.
  s.wall_clock =
      config.clock == transport::ClockChoice::kWall ||
      (config.clock == transport::ClockChoice::kAuto && config.twins == 0 && local_ranks + 1 <= cores);
  s.instructions = config.clock == transport::ClockChoice::kInstructions && config.native == 0;
  s.riesen = config.riesen != 0;
  s.virtual_clocks = config.virtual_clocks != 0;
  s.poll_cost = semantics::PollCost{Duration{config.poll_first_ps}, Duration{config.poll_cap_ps}};
  s.record = config.record != 0;
  s.content = {config.content_parts, config.whole_bytes};
  s.frames = s.record ? config.frames : 1;
  s.pcontrol_ipm = config.pcontrol_ipm != 0;
  s.accesses = s.record && config.accesses != 0 && config.native == 0;
  s.twins = s.compute == ComputeMode::kMeasured && config.twins != 0;
  return s;
}

}  // namespace nplus1::stubs
