// An analysis as people and programs read it: the terminal's tables, violations.json, profiles for
// PGMPITuneLib (docs/formats/guidelines.md). Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "guidelines/analysis.hpp"
#include "guidelines/application.hpp"

namespace nplus1::guidelines {

inline constexpr const char* kViolationsFile = "violations.json";
inline constexpr const char* kViolationsSchema = "nplus1-guidelines/1";

/// What was asked about beside the library itself.
struct Context {
  std::string source;  // where the measurements are, for headings
  const ApplicationGains* application = nullptr;
  bool all_rows = false;  // the text's table: also guidelines that no size violates
};

/// Counts, the table of sizes, the strongest violations, and what could not be decided.
[[nodiscard]] std::string analysis_text(const Analysis& analysis, const Context& context);

/// `all`: also the comparisons that are no violations, and the mpiruns' medians (for plots).
[[nodiscard]] std::string analysis_json(const Analysis& analysis, const Context& context, bool all);

/// A profile of PGMPITuneLib: which mock-up to run instead of a function, by size.
struct Profile {
  std::string file;  // "p_allgather_16.prf"
  std::string text;
};
/// Of the violated pattern guidelines whose mock-ups that library has; the fastest where several are.
[[nodiscard]] std::vector<Profile> tuning_profiles(const Analysis& analysis);

}  // namespace nplus1::guidelines
