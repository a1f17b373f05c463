// One hypothesis: the recorded program as it was, and with some of it different, each replayed in a process of its own. The
// library behind `nplus1 whatif`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyses/case.hpp"
#include "analyses/replay.hpp"
#include "hypothesis/transform/step.hpp"
#include "hypothesis/whatif/side.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

struct WhatIf {
  ReplaySettings replay;  // where it is replayed, before and after: source, most_rows, jobs
                          // for both; network, platform, collectives, compute_scale: after
  hypothesis::transform::Hypothesis
      hypothesis;                     // what is different; its network and the like go before `replay`'s
  std::vector<std::string> overlap;   // chains of nplus1 overlap made non-blocking: ID or ID:VARIANT
  std::vector<std::size_t> findings;  // places in the list of find_collectives(), from 1
  bool deterministic = false;         // who is first stays as recorded
  bool timelines = false;             // are wanted, too
  std::optional<double> reenactment_deviation{};  // for the line of trust
};

struct Comparison {
  std::string application;
  std::vector<std::string> hypothesis;  // in words
  hypothesis::Side before, after;
  hypothesis::ReplayTrust before_trust, after_trust;
  std::string json;                             // docs/formats/whatif.md
  std::string before_timeline, after_timeline;  // empty if not wanted
};

/// Face.
[[nodiscard]] Result<Comparison> compare(const WhatIf& what);

}  // namespace nplus1::analyses
