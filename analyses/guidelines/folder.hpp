// A folder that measure_campaign() filled, for those that measure on: what was found, and how to measure again
// under the same conditions. One thread; throws Stopped.
#pragma once

#include <filesystem>
#include <string>

#include "analyses/guidelines/measure.hpp"
#include "guidelines/analysis.hpp"

namespace nplus1::analyses {

struct MeasuredFolder {
  std::filesystem::path path;  // absolute
  guidelines::Catalogue catalogue;
  guidelines::Data data;
  guidelines::Analysis analysis;
  Measuring measuring;  // launched as before; a fixed number of repetitions is left to the caller
  [[nodiscard]] std::string library() const;  // what MPI_Get_library_version said; may be empty
};

/// Comparisons that could not be decided, and why.
struct Undecided {
  std::size_t comparisons = 0;
  std::size_t mpiruns = 0;  // measured
  std::size_t needed = 0;   // before a violation would show
};

/// Where no violation was found: throws Stopped if the measurement is not finished, for then that is no finding.
[[nodiscard]] Undecided undecided_in(const MeasuredFolder& measured);

/// Reads and judges as judge_guidelines() does without options; of several numbers of ranks the one that can be measured again.
[[nodiscard]] MeasuredFolder open_measured(const std::string& folder);

}  // namespace nplus1::analyses
