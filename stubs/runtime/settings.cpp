#include "stubs/runtime/settings.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace nplus1::stubs {
namespace {

std::vector<ComputeRule> read_rules(const std::string& path) {
  std::vector<ComputeRule> rules;
  std::ifstream file{path};
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words{line.substr(0, line.find('#'))};
    std::string rank;
    std::string where;
    double length = 0;
    if (!(words >> rank >> where >> length)) continue;
    rules.push_back({rank == "*" ? -1 : std::atoi(rank.c_str()), where == "*" ? std::string{} : where,
                     from_seconds(length)});
  }
  return rules;
}

}  // namespace

Settings make_settings(const transport::Config& config, int local_ranks, int cores) {
  Settings s;
  const std::string compute{config.compute};
  const std::string argument = compute.substr(std::min(compute.size(), compute.find(':') + 1));
  if (compute.rfind("scale:", 0) == 0) s.scale = std::atof(argument.c_str());
  s.scale *= config.compute_scale;
  if (compute.rfind("fixed:", 0) == 0) {
    s.compute = ComputeMode::kFixed;
    s.fixed = from_seconds(std::atof(argument.c_str()));
  }
  if (compute.rfind("file:", 0) == 0) {
    s.compute = ComputeMode::kTable;
    s.rules = read_rules(argument);
  }
  const std::string_view clock{config.clock};
  s.wall_clock = clock == "wall" || (clock == "auto" && local_ranks + 1 <= cores);
  s.riesen = config.riesen != 0;
  s.virtual_clocks = config.virtual_clocks != 0;
  if (config.poll_first_ps > 0)
    s.poll_cost = semantics::PollCost{Duration{config.poll_first_ps}, Duration{config.poll_cap_ps}};
  s.record = config.record != 0;
  s.content = {config.content_parts, config.whole_bytes};
  s.frames = s.record ? config.frames : 1;
  s.pcontrol_ipm = config.pcontrol_ipm != 0;
  s.record_region = config.record_region;
  return s;
}

}  // namespace nplus1::stubs
