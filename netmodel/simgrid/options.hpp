// What the user says about a simulated platform.
#pragma once

#include <string>
#include <vector>

namespace nplus1::netmodel {

struct PlatformOptions {
  std::string file;                 // SimGrid platform XML
  std::string model = "SMPI";       // LV08, CM02, SMPI, IB, ns-3
  std::string map = "round-robin";  // of ranks to hosts: block, round-robin, or a file (host_map.hpp)
  /// `key:value` each, SimGrid's own configuration; a later one wins.
  std::vector<std::string> settings;
  /// Speed of the machine that runs the program, in flop/s; 0: hosts compute as fast as it does.
  double host_speed = 0;
  int ranks = 0;
};

}  // namespace nplus1::netmodel
