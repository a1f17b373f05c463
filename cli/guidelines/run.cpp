// `nplus1 guidelines run`: measures the catalogue's collectives and their mock-ups over R mpiruns, natively
// or on a simulated network.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/guidelines/measure.hpp"
#include "cli/guidelines/options.hpp"
#include "cli/program.hpp"
#include "guidelines/drift.hpp"
#include "guidelines/nrep_page.hpp"
#include "report/files.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

using guidelines::Allotment;
using guidelines::Catalogue;
using guidelines::Cell;

constexpr const char* kGuidelinesRunExamples =
    "  nplus1 guidelines run -n 8 -o measured                       the default catalogue in 5 minutes\n"
    "  nplus1 guidelines run -n 8 --functions Reduce,Allreduce --sizes 8,1024,65536 -o some\n"
    "  nplus1 guidelines run -n 64 --mpi-args \"-f hosts\" --budget 1h -o cluster\n"
    "  nplus1 guidelines run -n 16 --simulate platform.xml -o simulated   on a network that isn't there\n"
    "An interrupted measurement goes on where it was when the same command is given again.\n";

constexpr double kOverBudget = 1.1;
constexpr const char* kMeasurements = "measurements.csv";
constexpr const char* kSimulated = "simulated.csv";  // beside measured ones, to be compared with them

struct RunWords {
  Measuring measuring;
  MeasuringWords words;
  CatalogueWords catalogue;
  std::vector<std::uint64_t> sizes;
  std::string output;
  bool no_again = false;
};

Catalogue chosen(const RunWords& run) {
  Catalogue catalogue = catalogue_of(run.catalogue);
  auto sizes = run.sizes;
  std::sort(sizes.begin(), sizes.end());
  if (!sizes.empty()) {
    for (guidelines::Guideline& g : catalogue.guidelines) g.sizes = sizes;
  }
  return catalogue;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Failure{ExitCode::kCantCreate, folder.string() + " can't be made: " + error.message(),
                  "nothing was measured", "name another folder with -o"};
}

void say(const RunWords& run, const std::vector<Cell>& cells, const Allotment& allotment) {
  if (run.measuring.quiet) return;
  std::size_t tests = 0;
  for (const Cell& cell : cells) tests += cell.tests.size();
  fmt::print(stderr, "nplus1: {} tests at their sizes, in {} groups, {} mpiruns of {} ranks", tests,
             cells.size(), run.measuring.mpiruns, run.measuring.launch.ranks);
  if (allotment.wanted > 0) fmt::print(stderr, "; predicted: {:.0f} s", allotment.wanted);
  if (allotment.factor < 1)
    fmt::print(stderr, ", cut to {:.0f} % of the repetitions for the budget of {:.0f} s",
               100 * allotment.factor, run.measuring.budget);
  fmt::print(stderr, "\n");
  if (!run.measuring.repetitions && allotment.least > kOverBudget * run.measuring.budget)
    fmt::print(
        stderr,
        "nplus1: {} repetitions in each of {} mpiruns are the least: they take about {:.0f} s, more than the "
        "budget of {:.0f} s; fewer --set, --functions, --sizes or --runs take less\n",
        run.measuring.how.criteria.least, run.measuring.mpiruns, allotment.least, run.measuring.budget);
}

void say_it_took_longer(const RunWords& run, double spent, double budget) {
  if (run.measuring.quiet || run.measuring.repetitions) return;
  fmt::print(
      stderr,
      "nplus1: it took {:.0f} s, not {:.0f} s: {} repetitions in each of {} mpiruns are the least; fewer "
      "--set, --functions, --sizes or --runs take less\n",
      spent, budget, run.measuring.how.criteria.least, run.measuring.mpiruns);
}

/// Beside the measurements, which are kept whatever becomes of it.
void write_beside(const fs::path& file, const std::string& text) {
  if (const auto written = report::write_file(file, text); !written)
    throw Failure{ExitCode::kCantCreate, written.error().what, "what was measured is there, this file is not",
                  written.error().remedy + "; the same command goes on where it was"};
}

/// Says which tests changed their level while they were repeated.
void report_drift(const fs::path& folder) {
  guidelines::DriftFinder finder;
  const auto read = guidelines::read_raw(
      {folder / kMeasurements}, [&](const guidelines::Measurement& m, const auto&) { finder.add(m); });
  if (!read)
    throw Failure{ExitCode::kNoInput, read.error().what,
                  "it is not known whether tests changed while they were repeated", read.error().remedy};
  const auto drifts = finder.found();
  if (drifts.empty()) return;
  for (const guidelines::Drift& d : drifts)
    fmt::print(stderr,
               "nplus1: {} of {} B takes {:.2f} times as long after {} repetitions, in {} of {} mpiruns\n",
               d.test, d.size, d.ratio, d.after, d.changed, d.mpiruns);
  write_beside(folder / "drift.csv", guidelines::drift_csv(drifts));
}

void plot_repetitions(const fs::path& folder, const guidelines::Criteria& criteria) {
  std::ifstream in{folder / kLooks, std::ios::binary};
  const auto looks = guidelines::read_looks({std::istreambuf_iterator<char>{in}, {}});
  if (!looks.empty()) write_beside(folder / "nrep.html", guidelines::nrep_page(looks, criteria));
}

int run_guidelines(RunWords& run) {
  finish(run.words, run.measuring);
  const bool simulated = !run.measuring.launch.simulate.empty();
  if (simulated) {  // every repetition and every mpirun is the same
    run.measuring.mpiruns = 1;
    run.measuring.repetitions = 2;
  }
  auto cells = guidelines::cells_of(chosen(run), !simulated && !run.no_again);
  make_folder(run.output);
  const fs::path folder = fs::absolute(run.output);
  keep_own_guidelines(run.catalogue, folder);
  const auto settings = settings_of(run.measuring);
  const std::string head = guidelines::csv_head(settings);
  const std::string settings_only = head.substr(0, head.rfind('\n', head.size() - 2) + 1);
  const Allotment allotment = decide_repetitions(run.measuring, cells, folder, settings_only);
  if (!simulated) plot_repetitions(folder, run.measuring.how.criteria);
  say(run, cells, allotment);
  const fs::path file = folder / (simulated ? kSimulated : kMeasurements);
  const double budget =
      std::exchange(run.measuring.budget, std::max(0.0, run.measuring.budget - allotment.spent));
  const auto begin = std::chrono::steady_clock::now();
  const auto notes = measure(run.measuring, cells, file, head);
  const double spent =
      allotment.spent + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (spent > kOverBudget * budget) say_it_took_longer(run, spent, budget);
  for (const std::string& note : notes) fmt::print(stderr, "nplus1: {}\n", note);
  if (!simulated) report_drift(folder);
  fmt::print("{}\nnplus1 guidelines check {}\n", file.string(), quote(run.output));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_guidelines_run(CLI::App& guidelines, const Registration& registration) {
  CLI::App* part = guidelines.add_subcommand("run", "Measure, natively or simulated");
  set_manual(*part, {"nplus1 guidelines run -n N -o DIR [options]", kGuidelinesRunExamples});
  const auto run = std::make_shared<RunWords>();
  declare_measuring(*part, run->measuring, run->words);
  part->add_option("-o,--output", run->output,
                   "Folder for the measurements; one that was begun is gone on with")
      ->required()
      ->type_name("DIR");
  declare_catalogue(*part, run->catalogue);
  part->add_option("--sizes", run->sizes, "These sizes in bytes instead of the catalogue's")->delimiter(',');
  part->add_flag("--no-again", run->no_again,
                 "Don't measure originals twice (A/A) to know the machine's own noise");
  part->add_option("--simulate", run->measuring.launch.simulate,
                   "A SimGrid platform or a network (lsb:..., loggops:...): measure in virtual time")
      ->type_name("PLATFORM|SPEC");
  part->add_option("--simulate-options", run->measuring.launch.simulate_options,
                   "More options of nplus1 run, e.g. \"--collectives openmpi\"")
      ->type_name("WORDS");
  part->callback([registration, run] { registration.chosen = [run] { return run_guidelines(*run); }; });
}

}  // namespace nplus1::cli
