// How a recording was made, as far as a replay needs it: what stands in its properties.
#pragma once

#include <string>

#include "events/recording/header.hpp"
#include "netmodel/collectives/selection.hpp"
#include "semantics/timing.hpp"
#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis {

struct RecordedSettings {
  std::string application;
  std::string network;  // a specification for netmodel::parse; empty if the recording does not say
  std::string storage;  // for netmodel::parse_storage; empty: the default
  std::string collectives;
  std::string clock;
  std::string protocol;
  std::string compute;       // as `nplus1 run --compute`
  Duration call_interval{};  // what every call was charged for the computing before it: `--compute fixed:`
  bool native = false;       // recorded without a simulation: times are of the wall clock
  semantics::PollCost poll_cost{};

  /// Computing was given (`--compute fixed:`, `file:`) and not measured: nothing of it is noise.
  [[nodiscard]] bool given_compute() const {
    return compute.starts_with("fixed:") || compute.starts_with("file:");
  }
};

/// What the recording does not say is empty, or the default of `nplus1 run`.
[[nodiscard]] RecordedSettings recorded_settings(const events::recording::Properties& properties);

}  // namespace nplus1::hypothesis
