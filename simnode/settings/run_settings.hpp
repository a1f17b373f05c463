// What a run has been told by the options of `nplus1 run` (simnode/settings/run_options.hpp), as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/payload/choice.hpp"
#include "events/recording/compute_times.hpp"
#include "netmodel/simgrid/options.hpp"
#include "netmodel/storage/storage.hpp"
#include "semantics/time_settings.hpp"

namespace nplus1::simnode::settings {

enum class Record : std::uint8_t {
  kOff,       // the summary alone
  kPatterns,  // and the patterns
  kFull,      // and every event
};

struct RunSettings {
  std::string network;
  netmodel::PlatformFlags platform;  // with a file: instead of `network`
  netmodel::StorageModel storage;    // what files lie on
  std::string collectives;
  std::string compute;  // as it was written
  semantics::ComputeTimes compute_times;
  std::vector<semantics::ComputeRule> compute_rules;      // of all ranks
  events::recording::ComputeIntervals compute_intervals;  // --compute recorded:DIR
  std::string clock;                                      // auto | cpu | wall | instructions
  semantics::PollCost poll_cost;
  std::string protocol;  // conservative | riesen
  bool tcp = false;
  bool direct = true;
  bool abort_on_deadlock = true;
  bool virtual_clocks = false;
  Record record = Record::kFull;
  std::uint64_t record_cap = 0;  // bytes; 0: none
  std::string record_region;
  bool accesses = false;  // to the memory of messages are recorded, too
  events::payload::Choice content;
  unsigned frames = 4;
  bool pcontrol_ipm = false;
};

}  // namespace nplus1::simnode::settings
