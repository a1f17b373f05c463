// Where the verbs that analyse recordings write, and what they say of a part of one.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/replay/replay.hpp"
#include "report/html/html_report.hpp"

namespace nplus1::cli {

/// Writes `json` where it was asked for: as `file` into the new folder of -o, with a report that has `documents`, and
/// to the file of --json. Throws Failure.
void write_results(const ReplayWords& words, const char* file, const std::string& json,
                   report::html::Documents documents);

/// --jobs, --json, --quiet and, where results go into a folder as `file`, -o.
void declare_results(CLI::App& verb, ReplayWords& words, const char* file);

/// What came out otherwise than recorded, in numbers.
struct Adapted {
  std::uint64_t swapped_completions = 0;
  std::uint64_t early_completions = 0;
  std::uint64_t messages_from_others = 0;
  std::uint64_t tests_that_waited = 0;
  std::uint64_t calls_left_out = 0;
};
[[nodiscard]] std::string decisions_line(const Adapted& adapted);

/// What an analysis of a part says of itself.
[[nodiscard]] std::string left_out_text(std::uint64_t rows, std::uint64_t left_out);

}  // namespace nplus1::cli
