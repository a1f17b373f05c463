// What `nplus1 whatif --sweep` tries on a recording: what its activities, its messages and the detector suggest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/failure.hpp"
#include "cli/whatif.hpp"
#include "hypothesis/candidates.hpp"
#include "hypothesis/recorded_settings.hpp"

namespace nplus1::cli {

/// What every step of a sweep that cannot be done comes to.
template <class T>
T sweep_or_fail(Result<T> result) {
  if (!result)
    throw Failure{ExitCode::kNoInput, result.error().what, "the sweep did not finish, nothing is written",
                  result.error().remedy};
  return std::move(result).value();
}

/// A candidate, and what of it only the detector knows.
struct Trial {
  hypothesis::Candidate candidate;
  ByHand by_hand;
  bool certain = false;                                   // that it is this operation
  std::vector<std::string> overlap{};                     // chains made non-blocking
  std::shared_ptr<const OverlapSource> overlap_source{};  // what they are of
};

/// `side`: waitstates.json of the run. Reads the recording three times. Throws Failure.
[[nodiscard]] std::vector<Trial> trials_of(const WhatIfWords& words, const std::string& side,
                                           const hypothesis::RecordedSettings& recorded);

}  // namespace nplus1::cli
