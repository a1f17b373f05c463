// A folder that `nplus1 guidelines run` filled, for the parts of the verb that measure on: what was found,
// and how to measure again under the same conditions. One thread; throws Failure.
#pragma once

#include <filesystem>
#include <string>

#include "cli/guidelines/measure.hpp"
#include "guidelines/analysis.hpp"

namespace nplus1::cli {

struct MeasuredFolder {
  std::filesystem::path path;  // absolute
  guidelines::Catalogue catalogue;
  guidelines::Data data;
  guidelines::Analysis analysis;
  Measuring measuring;  // launched as before; a fixed number of repetitions is left to the caller
  [[nodiscard]] std::string library() const;  // what MPI_Get_library_version said; may be empty
};

/// Where no violation was found: throws Failure if the measurement is not finished, for then that is no finding;
/// prints how many comparisons are undecided, if some are.
void check_nothing_was_missed(const MeasuredFolder& measured);

/// Reads and judges as `nplus1 guidelines check` does without options.
[[nodiscard]] MeasuredFolder open_measured(const std::string& folder);

}  // namespace nplus1::cli
