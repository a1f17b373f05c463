#include "cli/run/patterns_only.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "analyses/installation.hpp"
#include "analyses/patterns.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/to_stderr.hpp"
#include "patterns/first_screen.hpp"
#include "patterns/patterns_json.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPages = "statistics";
constexpr const char* kFile = "statistics.n1stat";

[[noreturn]] void refuse(const std::string& what, const std::string& next) {
  throw Failure{ExitCode::kUsage, what, kNothingStarted, next};
}

}  // namespace

void check_patterns_only(const RunOptions& options) {
  if (!options.hang_after.empty()) {
    char* end = nullptr;
    const double seconds = std::strtod(options.hang_after.c_str(), &end);
    if (!(seconds >= 0.1 && seconds <= 1e6) || (std::string{end} != "" && std::string{end} != "s"))
      refuse("--hang-after '" + options.hang_after + "' is no time between 0.1s and 1000000s",
             "--hang-after 60s");
    if (!options.patterns_only)
      refuse("--hang-after is of --patterns-only: a simulated run finds deadlocks by itself",
             "add --patterns-only, or leave it out");
  }
  if (!options.patterns_only) return;
  const char* other = options.repeat.empty() ? nullptr : "--repeat";
  for (std::size_t i = 0; i < options.given.size(); ++i)
    if (!options.given[i].value().empty()) other = simnode::settings::run_options()[i].flag;
  if (other != nullptr)
    refuse(fmt::format("--patterns-only counts what the program does natively, and {} is of a simulation",
                       other),
           "leave one of the two out");
}

std::vector<std::pair<std::string, std::string>> counting_environment(const RunOptions& options,
                                                                      const std::string& output) {
  std::vector<std::pair<std::string, std::string>> variables{
      {"NPLUS1_STATISTICS", (fs::path{output} / kPages).string()},
      {"NPLUS1_COMMAND", fs::read_symlink("/proc/self/exe").string()},
      {"NPLUS1_QUIET", "1"}};
  if (!options.hang_after.empty()) variables.emplace_back("NPLUS1_HANG_AFTER", options.hang_after);
  return variables;
}

void show_counts(const fs::path& folder, bool quiet) {
  std::error_code error;
  const bool whole = fs::exists(folder / kFile, error);
  const fs::path source = folder / (whole ? kFile : kPages);
  if (!fs::exists(source, error)) {
    to_stderr(
        "nplus1: there are no statistics: no rank of the application has called MPI_Init, or they "
        "could not be kept\n"
        "  so:   the application ran as if without nplus1\n"
        "  next: nplus1 doctor PROGRAM\n");
    return;
  }
  const auto counted = analyses::load_patterns(source.string());
  if (!counted) {
    to_stderr("nplus1: the statistics cannot be shown: {}\n  next: {}\n", counted.error().what,
              counted.error().remedy);
    return;
  }
  const auto written = report::write_file((folder / patterns::kPatternsFile).string(),
                                          patterns::patterns_json(counted.value().patterns));
  if (!written) to_stderr("nplus1: {}\n  next: {}\n", written.error().what, written.error().remedy);
  if (quiet) return;
  patterns::ScreenOptions screen;
  screen.layers = {"point_to_point"};
  screen.style = {report::unicode_locale()};
  to_stderr("{}\n{}\nnplus1: more with: nplus1 patterns {}\n",
            patterns::first_screen(counted.value().patterns, screen), counted.value().note,
            quote(folder.string()));
}

}  // namespace nplus1::cli
