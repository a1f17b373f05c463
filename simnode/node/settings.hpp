// The simulator's settings, from the environment that mpirun's -genv gave (NPLUS1_*; docs/cli.md lists them).
#pragma once

#include <string>

#include "simnode/node/door.hpp"
#include "simnode/settings/run_settings.hpp"
#include "stubs/transport/handshake.hpp"
#include "support/result.hpp"

namespace nplus1::simnode::node {

using settings::Record;

struct Settings : settings::RunSettings {
  std::string output;  // empty: chosen by name
  int ranks = 0;       // of the job, as the keeper has counted them; 0: not known
  Door::Hosts hosts = Door::Hosts::kSeveral;
  bool native = false;  // nothing is simulated: real times are recorded
  bool quiet = false;
  std::string test_delay;  // simnode/node/test_delay.hpp

  [[nodiscard]] transport::Config config() const;
};

/// Errors name the variable, or the file that one names.
[[nodiscard]] Result<Settings> settings_from_environment();

}  // namespace nplus1::simnode::node
