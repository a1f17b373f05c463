// The simulator's settings, from the environment that mpirun's -genv gave (NPLUS1_*; docs/cli.md lists them).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/payload/choice.hpp"
#include "events/recording/compute_times.hpp"
#include "netmodel/network_model.hpp"
#include "netmodel/simgrid/options.hpp"
#include "semantics/time_settings.hpp"
#include "simnode/node/door.hpp"
#include "stubs/transport/handshake.hpp"
#include "support/result.hpp"

namespace nplus1::simnode::node {

enum class Record : std::uint8_t {
  kOff,       // the summary alone
  kPatterns,  // and the patterns
  kFull,      // and every event
};

struct Settings {
  std::string network;
  netmodel::PlatformFlags platform;  // with a file: instead of `network`
  std::string compute;               // as it was written
  semantics::ComputeTimes compute_times;
  std::vector<semantics::ComputeRule> compute_rules;      // of all ranks
  events::recording::ComputeIntervals compute_intervals;  // --compute recorded:DIR
  std::string clock;                                      // auto | cpu | wall
  std::string protocol;                                   // conservative | riesen
  std::string collectives;
  std::string output;  // empty: chosen by name
  int ranks = 0;       // of the job, as the keeper has counted them; 0: not known
  Door::Hosts hosts = Door::Hosts::kSeveral;
  bool direct = true;
  bool virtual_clocks = false;
  bool native = false;  // nothing is simulated: real times are recorded
  bool quiet = false;
  bool abort_on_deadlock = true;
  std::string test_delay;  // simnode/node/test_delay.hpp
  semantics::PollCost poll_cost;
  Record record = Record::kFull;
  std::uint64_t record_cap = 0;  // bytes; 0: none
  std::string record_region;
  bool accesses = false;  // to the memory of messages are recorded, too
  events::payload::Choice content;
  unsigned frames = 4;
  bool pcontrol_ipm = false;

  [[nodiscard]] transport::Config config() const;
};

/// Errors name the variable, or the file that one names.
[[nodiscard]] Result<Settings> settings_from_environment();

}  // namespace nplus1::simnode::node
