// The options of `nplus1 run`, and how they reach the ranks: each becomes an environment variable NPLUS1_*.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/run/launcher_line.hpp"
#include "cli/run/mpi_library.hpp"

namespace nplus1::cli {

/// An option that the preloaded library and the simulator read as an environment variable.
struct PassedOption {
  const char* flag;         // "--network"
  const char* environment;  // "NPLUS1_NETWORK"
  const char* value;        // placeholder in --help
  const char* help;
  const char* choices;  // "a|b|c", or null for free text
};

[[nodiscard]] const std::vector<PassedOption>& passed_options();

struct RunOptions {
  std::string ranks;
  std::string output;
  std::vector<std::string> mpi_args;
  std::string mpi = "auto";                 // auto, mpich or openmpi
  MpiLibrary library = MpiLibrary::kMpich;  // what that comes to, once the programs have been looked at
  std::optional<Launcher> launcher;  // the user's own line is of this one; empty: nplus1 makes the line
  bool virtual_clocks = false;
  bool native = false;
  bool patterns_only = false;
  std::string hang_after;  // a time, with or without its unit s
  bool accesses = false;
  bool quiet = false;
  bool verbose = false;
  bool print = false;
  bool brief = false;               // one of several runs: no summary, no lines but errors
  bool keep_fixes = false;          // what to fix is written into the result folder, too (kFixesFile)
  std::string repeat;               // how many runs; empty: one, and nothing compared
  double findings_s = 3;            // looking for what to fix may take so long, or a tenth of the run
  std::vector<std::string> passed;  // values, in the order of passed_options(); empty = not given
};

/// The value of a passed option, by its flag.
[[nodiscard]] std::string& passed(RunOptions& options, std::string_view flag);

/// Declares the options on `verb`; they write into `options`, which must outlive the parse.
void declare_run_options(CLI::App& verb, RunOptions& options);

/// Checks the values that have a grammar of their own (network, compute, poll cost). Throws Failure (kUsage).
void check_run_options(const RunOptions& options);

/// A native run that records: one rank more, which writes.
[[nodiscard]] bool records_natively(const RunOptions& options);

/// Under --compute warm twins of the ranks measure (docs/clock.md).
[[nodiscard]] bool measures_warm_times(const RunOptions& options);

/// The platform file; empty without.
[[nodiscard]] const std::string& platform_of(const RunOptions& options);
/// Checks --platform and what belongs to it, for so many ranks. Throws Failure (kUsage).
void check_platform(const RunOptions& options, int ranks);
/// Checks the recording of --compute recorded:DIR, for so many ranks. Throws Failure (kUsage).
void check_recorded_compute(const RunOptions& options, int ranks);

/// NAME, VALUE of every variable that the job gets.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> job_environment(const RunOptions& options);

}  // namespace nplus1::cli
