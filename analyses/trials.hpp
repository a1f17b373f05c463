// What find_fixes() tries on a recording: what its activities, its messages and the detector suggest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyses/by_hand.hpp"
#include "analyses/fixes.hpp"
#include "hypothesis/recorded/settings.hpp"
#include "hypothesis/whatif/candidates.hpp"

namespace nplus1::analyses {

struct OverlapSource;

/// A candidate, and what of it only the detector knows.
struct Trial {
  hypothesis::Candidate candidate;
  ByHand by_hand;
  std::vector<std::string> overlap{};                     // chains made non-blocking
  std::shared_ptr<const OverlapSource> overlap_source{};  // what they are of
};

struct Trials {
  std::vector<Trial> all;          // a trial is known by its place here
  std::vector<std::string> notes;  // what could not be looked for, and why
};

/// `play` plays the recording, `side`: waitstates.json of the run. Reads the recording once more, and plays it twice.
/// Throws Stopped.
[[nodiscard]] Trials trials_of(const FixOptions& options, const hypothesis::transform::Play& play,
                               const std::string& side, const hypothesis::RecordedSettings& recorded);

}  // namespace nplus1::analyses
