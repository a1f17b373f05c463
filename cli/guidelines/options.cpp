#include "cli/guidelines/options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "cli/failure.hpp"

namespace nplus1::cli {
namespace {

/// 90, 90s, 5min, 1h in seconds; negative if it is none of these.
double seconds_of(const std::string& text) {
  std::istringstream in{text};
  double number = 0;
  std::string unit;
  if (!(in >> number) || number <= 0) return -1;
  in >> unit;
  if (std::string more; in >> more) return -1;
  const double seconds = unit.empty() || unit == "s" ? 1 : unit == "min" ? 60 : unit == "h" ? 3600 : -1;
  return std::isfinite(seconds * number) ? seconds * number : -1;
}

[[noreturn]] void bad(const std::string& what, const std::string& next) {
  throw Failure{ExitCode::kUsage, what, kNothingStarted, next};
}

/// "rse=0.02,cov_mean=0.01,cov_mean_window=30"
guidelines::Criteria criteria_of(const std::string& text) {
  constexpr const char* kForm =
      "--predict takes rse=0.02, cov_mean=0.01, cov_median=0.01, window=30, least=10 and most=200, with "
      "commas between";
  guidelines::Criteria criteria;
  criteria.rse.reset();
  criteria.cov_mean.reset();
  std::istringstream in{text};
  for (std::string word; std::getline(in, word, ',');) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    std::istringstream number{equals == word.npos ? "" : word.substr(equals + 1)};
    double value = 0;
    if (!(number >> value) || value <= 0) bad(fmt::format("'{}' is no threshold", word), kForm);
    if (key == "rse")
      criteria.rse = value;
    else if (key == "cov_mean")
      criteria.cov_mean = value;
    else if (key == "cov_median")
      criteria.cov_median = value;
    else if (key == "window")
      criteria.cov_mean_window = criteria.cov_median_window = static_cast<int>(value);
    else if (key == "least")
      criteria.least = static_cast<int>(value);
    else if (key == "most")
      criteria.most = static_cast<int>(value);
    else
      bad(fmt::format("'{}' is no metric of repetitions", key), kForm);
  }
  if (!criteria.rse && !criteria.cov_mean && !criteria.cov_median) bad("--predict names no metric", kForm);
  if (criteria.least > criteria.most) bad("--predict asks for least above most", kForm);
  return criteria;
}

}  // namespace

void declare_measuring(CLI::App& app, analyses::Measuring& m, MeasuringWords& words) {
  app.add_option("-n,--ranks", m.launch.ranks, "Ranks")
      ->required()
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N");
  app.add_option("--runs", m.mpiruns, "Calls of mpirun [10]")->check(CLI::Range(1, 10000))->type_name("R");
  app.add_option("--budget", words.budget, "How long all may take, e.g. 90s, 5min, 1h [5min]")
      ->type_name("TIME");
  app.add_option("--nrep", words.nrep,
                 "So many repetitions of each test in each mpirun, instead of predicted ones")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  app.add_option("--predict", words.predict, "When repetitions are enough [rse=0.02,cov_mean=0.01]")
      ->type_name("KEY=VALUE,...");
  app.add_option("--sync", words.sync, "How ranks start together: barrier, window or round-time [barrier]")
      ->check(CLI::IsMember({"barrier", "window", "round-time"}))
      ->type_name("HOW");
  app.add_option("--window", m.how.window, "Seconds of a window of --sync window [0.001]")
      ->check(CLI::Range(1e-6, 3600.0))
      ->type_name("S");
  app.add_option(
         "--waits", m.launch.waits,
         "spin: the MPI library as it is; yield: through nplus1's library, for more ranks than cores [auto]")
      ->check(CLI::IsMember({"auto", "spin", "yield"}))
      ->type_name("HOW");
  app.add_option(
         "--mpirun", m.launch.mpirun,
         "Another mpirun, e.g. mpirun.openmpi; of other MPI libraries than MPICH and Open MPI with --runner")
      ->type_name("COMMAND");
  app.add_option("--runner", m.launch.runner, "The measuring program, built for another MPI library")
      ->type_name("FILE");
  app.add_option("--mpi-args", m.launch.mpi_args, "Options for mpirun, e.g. \"-hosts a,b\"")
      ->type_name("WORDS");
  app.add_option("--timeout", words.timeout,
                 "Seconds without a sign of life after which a test is censored [60]")
      ->check(CLI::Range(1, 86400))
      ->type_name("S");
  app.add_option("--preload", m.launch.preload, "A library that the ranks preload")->type_name("FILE");
  app.add_flag("-q,--quiet", words.quiet, "No progress");
}

double parse_duration(const std::string& text) {
  const double seconds = seconds_of(text);
  if (seconds < 0) bad(fmt::format("'{}' is no time", text), "write it as 90s, 5min or 1h");
  return seconds;
}

void finish(const MeasuringWords& words, analyses::Measuring& m) {
  m.budget = parse_duration(words.budget);
  m.how.sync = guidelines::sync_of(words.sync).value_or(guidelines::Sync::kBarrier);
  m.how.criteria = criteria_of(words.predict);
  m.patience = std::chrono::seconds{words.timeout};
  if (words.nrep > 0) m.repetitions = words.nrep;
  for (std::string* file : {&m.launch.preload, &m.launch.runner}) {  // ranks may run elsewhere
    if (!file->empty()) *file = std::filesystem::absolute(*file).string();
  }
}

}  // namespace nplus1::cli
