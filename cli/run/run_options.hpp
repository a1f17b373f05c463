// The options of `nplus1 run`. What is simulated and recorded, and how, are rows of a table that the simulator reads too
// (simnode/settings/run_options.hpp): each becomes an environment variable NPLUS1_*. What is here besides is the
// command's own: how many runs, by which launcher, where the results go, what is shown.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/run/launcher_line.hpp"
#include "cli/run/mpi_library.hpp"
#include "simnode/settings/run_options.hpp"

namespace nplus1::cli {

/// What was said of an option of the table.
struct Given {
  std::string text;          // of an option with a value; empty: not given
  bool switched_on = false;  // of a switch

  [[nodiscard]] std::string value() const { return switched_on ? "1" : text; }
};

struct RunOptions {
  std::string ranks;
  std::string output;
  std::vector<std::string> mpi_args;
  std::string mpi = "auto";                 // auto, mpich or openmpi
  MpiLibrary library = MpiLibrary::kMpich;  // what that comes to, once the programs have been looked at
  std::optional<Launcher> launcher;  // the user's own line is of this one; empty: nplus1 makes the line
  bool native = false;
  bool patterns_only = false;
  std::string hang_after;  // a time, with or without its unit s
  bool quiet = false;
  bool verbose = false;
  bool print = false;
  bool brief = false;         // one of several runs: no summary, no lines but errors
  bool keep_fixes = false;    // what to fix is written into the result folder, too (kFixesFile)
  std::string repeat;         // how many runs; empty: one, and nothing compared
  double findings_s = 3;      // looking for what to fix may take so long, or a tenth of the run
  std::vector<Given> given =  // in the order of the table
      std::vector<Given>(simnode::settings::run_options().size());
  simnode::settings::RunSettings settings;  // what that comes to, once understand() has read it
};

/// What was written for an option with a value, by its flag; empty if it was not given.
[[nodiscard]] const std::string& given(const RunOptions& options, std::string_view flag);
/// As if the user had written `text`.
void give(RunOptions& options, std::string_view flag, const std::string& text);

/// Declares the options on `verb`; they write into `options`, which must outlive the parse.
void declare_run_options(CLI::App& verb, RunOptions& options);

/// Reads the values into `settings`. Throws Failure (kUsage).
void understand(RunOptions& options);
/// Checks what options ask of each other. Throws Failure (kUsage).
void check_run_options(const RunOptions& options);

/// A native run that records: one rank more, which writes.
[[nodiscard]] bool records_natively(const RunOptions& options);

/// Under --compute warm twins of the ranks measure (docs/clock.md).
[[nodiscard]] bool measures_warm_times(const RunOptions& options);

/// The platform file; empty without.
[[nodiscard]] const std::string& platform_of(const RunOptions& options);
/// Checks --platform and what belongs to it, for so many ranks. Throws Failure (kUsage).
void check_platform(const RunOptions& options, int ranks);
/// Checks the recording of --compute recorded:DIR, for so many ranks, and lets go of it. Throws Failure (kUsage).
void check_recorded_compute(RunOptions& options, int ranks);

/// NAME, VALUE of every variable that the job gets.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> job_environment(const RunOptions& options);

}  // namespace nplus1::cli
