// Findings of the detector as hypotheses: the messages of a hand-written collective replaced by the library's
// operation. Shared by `nplus1 collectives --price`, `nplus1 whatif --finding` and `--sweep`. Pure; one
// thread.
#pragma once

#include <string>
#include <vector>

#include "detector/findings.hpp"
#include "hypothesis/transform/replace.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

using ByHand = std::vector<hypothesis::transform::CollectiveInstance>;

/// For Case::by_hand. The finding must have all its occurrences (detector::Keep::kAll). The error: no
/// replay has such a collective.
[[nodiscard]] Result<ByHand> by_hand(const detector::Finding& finding);

/// "replace the hand-written bcast of solve.c:12, solve.c:15 by the library's (certain, 40 times)".
[[nodiscard]] std::string title(const detector::Finding& finding);

}  // namespace nplus1::analyses
