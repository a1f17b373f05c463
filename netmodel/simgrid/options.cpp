#include "netmodel/simgrid/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

#include "netmodel/simgrid/link_changes.hpp"
#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

constexpr std::array<std::string_view, 5> kModels{"LV08", "CM02", "SMPI", "IB", "ns-3"};

/// Flop/s; negative if `text` is not a speed.
double speed(std::string_view text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value <= 0) return -1;
  std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  if (!unit.empty() && unit.back() == 'f') unit.remove_suffix(1);
  if (unit.empty()) return value;
  constexpr std::string_view kPrefixes = "kMGT";
  const std::size_t prefix = kPrefixes.find(unit.front());
  if (unit.size() != 1 || prefix == std::string_view::npos) return -1;
  return value * std::pow(1000.0, static_cast<double>(prefix + 1));
}

}  // namespace

Result<PlatformOptions> parse_platform_flags(const PlatformFlags& flags, int ranks) {
  PlatformOptions options;
  options.file = flags.platform;
  options.ranks = ranks;
  if (!flags.model.empty()) options.model = flags.model;
  if (!flags.map.empty()) options.map = flags.map;
  if (std::find(kModels.begin(), kModels.end(), options.model) == kModels.end()) {
    return Error{"--model: SimGrid's network model " + in_quotes(options.model) + " is not known",
                 "The models are: " + join(kModels, [](std::string_view m) { return std::string{m}; }) + "."};
  }
  std::istringstream words{flags.settings};
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    if (colon == 0 || colon == std::string::npos || colon + 1 == word.size())
      return Error{"--simgrid: " + in_quotes(word) + " is not KEY:VALUE",
                   "An example: network/crosstraffic:0"};
    if (word.starts_with("solver:") && word != kSimgridSolver && word != kOwnSolver)
      return Error{"--simgrid: " + in_quotes(word) + " is no solver",
                   "They are solver:flows and solver:simgrid."};
    options.settings.push_back(word);
  }
  if (const auto changes = LinkChanges::parse(options.settings); !changes) return changes.error();
  if (!flags.host_speed.empty()) options.host_speed = speed(flags.host_speed);
  if (options.host_speed < 0)
    return Error{"--host-speed: " + in_quotes(flags.host_speed) + " is not a speed", "An example: 2.5Gf"};
  return options;
}

bool PlatformOptions::simgrid_solver() const {
  return std::find(settings.begin(), settings.end(), kSimgridSolver) != settings.end();
}

bool works_live(std::string_view model) {
  return model != "ns-3";
}

}  // namespace nplus1::netmodel
