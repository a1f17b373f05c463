// What the user says about a simulated platform.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace nplus1::netmodel {

struct PlatformOptions {
  std::string file;                 // SimGrid platform XML
  std::string model = "SMPI";       // LV08, CM02, SMPI, IB, ns-3
  std::string map = "round-robin";  // of ranks to hosts: host_map.hpp
  /// `key:value` each, SimGrid's own configuration; a later one wins.
  std::vector<std::string> settings;
  /// Speed of the machine that runs the program, in flop/s; 0: hosts compute as fast as it does.
  double host_speed = 0;
  int ranks = 0;

  friend bool operator==(const PlatformOptions&, const PlatformOptions&) = default;
  /// Whether SimGrid itself shares out the links, not netmodel/flows.
  [[nodiscard]] bool simgrid_solver() const;
};

/// Those of `settings` that are ours: who shares out the links (platform_links.hpp).
inline constexpr const char* kSimgridSolver = "solver:simgrid";
inline constexpr const char* kOwnSolver =
    "solver:flows";  // what a network is described with that needs no SimGrid
/// SimGrid's own clock, in seconds: what would happen within so little happens at once.
inline constexpr double kSimgridPrecision = 1e-9;

/// The flags' values as the user wrote them; empty ones keep their default.
struct PlatformFlags {
  std::string platform;
  std::string model;
  std::string map;
  std::string settings;    // KEY:VALUE, separated by blanks
  std::string host_speed;  // flop/s: a number, and k, M, G or T with or without an f
  std::string links;       // changes of links: link_changes.hpp, without "link:"
  std::string jitter;      // likewise, without "jitter:"
};

/// Errors name the flag.
[[nodiscard]] Result<PlatformOptions> parse_platform_flags(const PlatformFlags& flags, int ranks);

/// Whether a running program can be simulated with the model: ns-3 looks ahead further than ranks have come.
[[nodiscard]] bool works_live(std::string_view model);

}  // namespace nplus1::netmodel
