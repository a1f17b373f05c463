// What a number relies on is printed with the number: what the run that a recording is of left unproved, read
// from the summary.json of its result folder, in the words of report/trust.hpp.
#pragma once

#include <string>

#include "hypothesis/whatif/analysis.hpp"

namespace nplus1::analyses {

/// What the result folder around the recording `source` says of its run. A summary.json that stands beside it
/// and is another run's is not taken for it.
[[nodiscard]] hypothesis::RunTrust run_trust(const std::string& source);

/// A line for each thing that the recorded run relies on without proof, each after `label`; a line that nothing
/// is known where that is so; empty where everything is proved.
[[nodiscard]] std::string run_trust_text(const hypothesis::RunTrust& trust,
                                         const std::string& label = "the run: ");

}  // namespace nplus1::analyses
