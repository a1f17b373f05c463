// The result folder of a run, from its RunSummary: summary.json, messages.csv, bytes.csv, summary.txt
// (docs/formats/summary.md). Pure functions of their input, but for write_results().
#pragma once

#include <filesystem>
#include <string>

#include "report/files.hpp"
#include "report/run_summary.hpp"

namespace nplus1::report {

/// Written into summary.json; a reader refuses a greater number after the slash.
inline constexpr const char* kSummarySchema = "nplus1-summary/1";

[[nodiscard]] std::string summary_json(const RunSummary& summary);

/// n lines of n numbers; line = sender.
[[nodiscard]] std::string matrix_csv(const RankMatrix& matrix);

struct TextStyle {
  bool unicode = true;  // shades and bars; else ASCII
};

/// Whether LC_ALL, LC_CTYPE or LANG (the first that is set) names UTF-8.
[[nodiscard]] bool unicode_locale();

/// What the terminal shows: some 40 lines, at most 80 columns, however many ranks there were. `folder` is
/// where the rest is; may be empty.
[[nodiscard]] std::string summary_text(const RunSummary& summary, const std::string& folder, TextStyle style);

/// Writes all four into `folder`, which must exist; summary.txt last, so that whoever waits for the results
/// can wait for it. Goes on after an error and returns the first one.
[[nodiscard]] Result<Done> write_results(const std::filesystem::path& folder, const RunSummary& summary,
                                         TextStyle style);

}  // namespace nplus1::report
