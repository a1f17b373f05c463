// What the numbers of a run or a replay rely on without proof, said in the same words wherever such a number is
// printed. Pure; callable from any thread.
#pragma once

#include <string>
#include <vector>

#include "report/run_summary.hpp"

namespace nplus1::report {

/// A sentence for each thing that is not proved; none for a clean run.
[[nodiscard]] std::vector<std::string> doubts(const Trust& trust);

/// The same as one line for each, after `label`, which names whose they are; empty for a clean run.
[[nodiscard]] std::string doubts_text(const Trust& trust, const std::string& label);

/// The object `trust` of summary.json (docs/formats/summary.md).
[[nodiscard]] std::string trust_object(const Trust& trust);

}  // namespace nplus1::report
