#include "analyses/guidelines/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "analyses/guidelines/launch.hpp"
#include "analyses/trust.hpp"
#include "guidelines/journal.hpp"
#include "guidelines/pacing.hpp"
#include "report/files.hpp"
#include "report/trust.hpp"
#include "support/processes/programs.hpp"
#include "support/shell.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

using guidelines::Cell;
using guidelines::FinishedCell;
using guidelines::Journal;
using guidelines::Measurement;
using guidelines::RunnerLines;
using guidelines::TimedTest;
using std::chrono::steady_clock;

constexpr double kShareOfPrediction = 0.25;  // of the budget
constexpr const char* kFailed = "failed: ";  // the mark of a trial that is over, and why

/// The time left by the pace so far, for whoever watches.
class Pace {
 public:
  Pace(std::size_t all, std::size_t done, const MeasuringWatch& watch)
      : all_{all}, before_{done}, done_{done}, watch_{watch} {}

  void step(const std::string& what) {
    ++done_;
    if (!watch_.step) return;
    const double spent = std::chrono::duration<double>(steady_clock::now() - begin_).count();
    const double left = spent / static_cast<double>(done_ - before_) * static_cast<double>(all_ - done_);
    watch_.step({done_, all_, left, what});
  }

 private:
  std::size_t all_, before_, done_;
  const MeasuringWatch& watch_;
  steady_clock::time_point begin_ = steady_clock::now();
};

/// The mark of a test that is not tried again at this size.
std::string left_out(const std::string& test, std::uint64_t size) {
  return fmt::format("left out {} {}", test, size);
}

/// Runs the cells of one journal; the difference between predicting and measuring is what becomes of a cell.
class Campaign {
 public:
  using Rows = std::string (*)(const FinishedCell&);

  Campaign(const Measuring& measuring, const std::vector<Cell>& cells, fs::path file, const std::string& head,
           Rows rows, const MeasuringWatch& watch)
      : measuring_{measuring},
        watch_{watch},
        cells_{cells},
        file_{std::move(file)},
        journal_{need(Journal::open(file_, head), Fault::kOutput, "nothing was measured")},
        rows_{rows} {}

  /// In about `seconds`, less the part that was measured before.
  Outcome run(int mpiruns, double seconds) {
    if (measuring_.on_trial) failure_ = journal_.behind(kFailed);
    if (!failure_.empty()) return {notes_, failure_};
    std::size_t done = 0;
    int whole = 0;  // mpiruns that nothing is left of
    for (int i = 0; i < mpiruns; ++i) {
      done += cells_.size() - remaining(i).size();
      whole += remaining(i).empty() ? 1 : 0;
    }
    const std::size_t all = cells_.size() * static_cast<std::size_t>(mpiruns);
    Pace pace{all, done, watch_};
    pacing_ = {seconds * static_cast<double>(all - done) / static_cast<double>(std::max<std::size_t>(1, all)),
               mpiruns - whole};
    for (int i = 0; i < mpiruns && failure_.empty(); ++i) {
      const std::size_t before = remaining(i).size();
      const auto begin = steady_clock::now();
      for (auto left = remaining(i); !left.empty() && failure_.empty(); left = remaining(i))
        run_once(i, left, pace);
      const double took = std::chrono::duration<double>(steady_clock::now() - begin).count();
      if (before > 0) pacing_.took(took, static_cast<double>(before) / static_cast<double>(cells_.size()));
      if (before == cells_.size() && i + 1 < mpiruns && no_more_fits(i + 1, took, seconds)) {
        note(
            fmt::format("{} of {} mpiruns: one takes {:.0f} s with the least repetitions, and another would "
                        "not fit into the "
                        "{:.0f} s that there are; the same command goes on, and fewer --set, --functions, "
                        "--sizes or --runs take less",
                        i + 1, mpiruns, took, seconds));
        break;
      }
    }
    std::error_code error;
    fs::remove(plan_path(), error);
    return {notes_, failure_};
  }

 private:
  fs::path plan_path() const { return fs::path{file_}.replace_extension(".plan"); }

  std::vector<Cell> remaining(int mpirun) const {
    std::vector<Cell> left;
    for (Cell cell : cells_) {
      if (journal_.has(guidelines::piece_name(mpirun, cell))) continue;
      std::erase_if(cell.tests,
                    [&](const TimedTest& t) { return journal_.has(left_out(t.name, cell.size)); });
      left.push_back(std::move(cell));
    }
    return left;
  }

  /// Between mpiruns, of which a comparison needs several: what is measured by then can be judged.
  bool no_more_fits(int done, double took, double seconds) const {
    constexpr double kOver = 1.1;
    constexpr int kFewest = 2;
    const double spent = std::chrono::duration<double>(steady_clock::now() - begin_).count();
    return !measuring_.repetitions && done >= kFewest && spent + took > kOver * seconds;
  }

  void note(const std::string& text) {
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
  }

  /// What is known of library and network only once the first mpirun runs.
  static std::string first_settings(const RunnerLines& lines) {
    std::string text;
    if (!lines.library().empty()) text = fmt::format("#@{}={}\n", guidelines::kMpiLibrary, lines.library());
    if (const auto& network = lines.network())
      text += fmt::format("#@{}={}\n#@{}={}\n", kHockneyLatency, network->latency, kHockneyPerByte,
                          network->per_byte);
    return text;
  }

  void append(const std::string& text, const std::string& piece) {
    (void)need(journal_.append(text, piece), Fault::kOutput, "what was measured until then is kept");
  }

  void keep(const FinishedCell& finished, const RunnerLines& lines) {
    for (const std::string& text : finished.notes) note(text);
    const std::string first = journal_.pieces() == 0 ? first_settings(lines) : std::string{};
    append(first + rows_(finished), fmt::format("{} {} {}", mpirun_, finished.original, finished.size));
    const auto& wrong = finished.wrong;
    if (std::find(wrong.begin(), wrong.end(), finished.original) != wrong.end())
      fail(fmt::format("{} of {} B gave a wrong result", finished.original, finished.size));
  }

  /// Ends a trial, for good.
  bool fail(const std::string& why) {
    if (!measuring_.on_trial) return false;
    if (failure_.empty()) append({}, kFailed + why);
    if (failure_.empty()) failure_ = why;
    return true;
  }

  void run_once(int mpirun, const std::vector<Cell>& left, Pace& pace) {
    mpirun_ = mpirun;
    guidelines::Plan plan = measuring_.how;
    plan.mpirun = mpirun;
    plan.virtual_clock = !measuring_.launch.simulate.empty();
    plan.cells = left;
    if (measuring_.repetitions) {
      plan.limit = std::numeric_limits<int>::max();  // what was asked for is measured
    } else {
      plan.limit = pacing_.share();
      for (Cell& cell : plan.cells)
        cell.repetitions = pacing_.repetitions(cell.repetitions, measuring_.how.criteria.least);
    }
    if (const auto written = report::write_file(plan_path(), plan_text(plan)); !written)
      throw Stopped{{written.error().what, written.error().remedy, Fault::kOutput}, "nothing was measured"};
    const fs::path result = next_result_folder();
    const auto line = launch_line(measuring_.launch, plan_path(), result);
    if (watch_.starts && !shown_) watch_.starts(line);
    shown_ = true;
    RunnerLines lines{mpirun, measuring_.launch.ranks};
    std::size_t done = 0;
    const processes::Streamed ended =
        processes::stream(line, measuring_.patience, [&](const std::string& text) {
          if (!lines.take(text) && watch_.prints) watch_.prints(text);
          const auto finished = lines.take_finished();
          if (!finished) return;
          keep(*finished, lines);
          ++done;
          pace.step(fmt::format("mpirun {}, {} of {} B", mpirun + 1, finished->original, finished->size));
        });
    if (!result.empty()) keep_doubts(result, ended, join_quoted(line));
    if (done < left.size()) give_up(left[done], lines, ended, join_quoted(line));
  }

  /// Simulated times are compared as exact: what they rely on stays with them, and where no simulator ran there
  /// are none.
  void keep_doubts(const fs::path& result, const processes::Streamed& ended, const std::string& line) {
    if (ended.exit_code == guidelines::kNotSimulated)
      throw Stopped{{"the simulator did not start, or ended early", "see why: " + line, Fault::kUnavailable},
                    "the times since then were not kept"};
    const hypothesis::RunTrust trust = run_trust(result.string());
    std::vector<std::string> doubts;
    if (trust.run)
      doubts = report::doubts(*trust.run);
    else if (!ended.silent && ended.exit_code == 0)
      doubts.emplace_back("a simulator that left no summary: how far it can be believed is not known");
    std::string text;
    for (const std::string& doubt : doubts) {
      const std::string name = result.filename().string();
      note(fmt::format("simulated times rely on {} ({})", doubt, name));
      text += fmt::format("#@{}{}={} ({})\n", guidelines::kSimulatedDoubt,
                          fmt::format("{}_{}", name, ++doubts_), doubt, name);
    }
    if (!text.empty()) append(text, "doubts of " + result.filename().string());
  }

  /// The cell did not come out: never again what it hung or crashed on.
  void give_up(const Cell& cell, const RunnerLines& lines, const processes::Streamed& ended,
               const std::string& line) {
    if (lines.library().empty()) {
      const std::string what = ended.silent ? "mpirun gave no sign of life"
                                            : fmt::format("mpirun ended with exit code {}", ended.exit_code);
      if (fail(what)) return;
      throw Stopped{{what, "see why: " + line, Fault::kUnavailable}, "nothing was measured"};
    }
    const double patience = static_cast<double>(measuring_.patience.count());
    std::string text;
    // If it is not known which test it was, none is tried again: measuring must come to an end.
    const bool known = std::any_of(cell.tests.begin(), cell.tests.end(),
                                   [&](const TimedTest& t) { return t.name == lines.verifying(); });
    if (!known || lines.verifying() == cell.original) {
      const std::string what = fmt::format("{} of {} B", cell.original, cell.size);
      if (fail(ended.silent ? fmt::format("{} took more than {} s", what, patience)
                            : fmt::format("{} ended its mpirun with exit code {}", what, ended.exit_code)))
        return;
    }
    for (const TimedTest& test : cell.tests) {
      if (known && test.name != lines.verifying()) continue;
      note(ended.silent ? fmt::format("{} of {} B took more than {} s: censored, and not tried again",
                                      test.name, cell.size, patience)
                        : fmt::format("{} of {} B ended its mpirun with exit code {}: not tried again",
                                      test.name, cell.size, ended.exit_code));
      if (ended.silent) text += censored(test, cell.size, patience);
      append(std::exchange(text, {}), left_out(test.name, cell.size));
    }
  }

  std::string censored(const TimedTest& test, std::uint64_t size, double after) const {
    Measurement m;
    m.mpirun = mpirun_;
    m.test = test.name;
    m.processes = measuring_.launch.ranks;
    m.size = size;
    m.seconds = after;
    m.censored = true;
    return cells_.front().repetitions > 0 ? csv_row(m) : std::string{};
  }

  /// A simulated run makes a result folder of its own each time.
  fs::path next_result_folder() const {
    if (measuring_.launch.simulate.empty()) return {};
    for (int k = 1;; ++k) {
      fs::path folder = file_.parent_path() / fmt::format("simulated-{}", k);
      if (!fs::exists(folder)) return folder;
    }
  }

  const Measuring& measuring_;
  const MeasuringWatch& watch_;
  const std::vector<Cell>& cells_;
  fs::path file_;
  Journal journal_;
  Rows rows_;
  guidelines::Pacing pacing_{0, 1};
  steady_clock::time_point begin_ = steady_clock::now();
  int mpirun_ = 0;
  bool shown_ = false;
  int doubts_ = 0;
  std::string failure_;
  std::vector<std::string> notes_;
};

std::string time_rows(const FinishedCell& cell) {
  std::string text;
  for (const Measurement& m : cell.times) text += guidelines::csv_row(m);
  return text;
}

std::string look_rows(const FinishedCell& cell) {
  return guidelines::looks_rows(cell.looks);
}

std::string threshold_text(const std::optional<double>& threshold) {
  return threshold ? fmt::format("{}", *threshold) : "-";
}

}  // namespace

guidelines::Allotment decide_repetitions(const Measuring& measuring, std::vector<Cell>& cells,
                                         const fs::path& folder, const std::string& head,
                                         const MeasuringWatch& watch) {
  if (measuring.repetitions) {
    for (Cell& cell : cells) cell.repetitions = *measuring.repetitions;
    return {};
  }
  const auto begin = steady_clock::now();
  const fs::path file = folder / kLooks;
  (void)Campaign{measuring, cells, file, head + guidelines::looks_head(), look_rows, watch}.run(
      1, kShareOfPrediction * measuring.budget);
  const double spent = std::chrono::duration<double>(steady_clock::now() - begin).count();
  std::ifstream in{file, std::ios::binary};
  guidelines::Needs needs;
  const auto looks = guidelines::read_looks({std::istreambuf_iterator<char>{in}, {}});
  add_looks(needs, looks);
  guidelines::Allotment allotment = allot(
      cells, needs, measuring.mpiruns, std::max(0.0, measuring.budget - spent), measuring.how.criteria.least);
  allotment.spent = spent;
  allotment.least += spent + measuring.mpiruns * std::max(0.0, spent - guidelines::measured_seconds(looks));
  return allotment;
}

Outcome measure(const Measuring& measuring, const std::vector<Cell>& cells, const fs::path& file,
                const std::string& head, const MeasuringWatch& watch) {
  return Campaign{measuring, cells, file, head, time_rows, watch}.run(measuring.mpiruns, measuring.budget);
}

guidelines::Settings settings_of(const Measuring& measuring) {
  const Launch& launch = measuring.launch;
  const guidelines::Criteria& c = measuring.how.criteria;
  guidelines::Settings settings{
      {"nprocs", std::to_string(launch.ranks)},
      {"mpiruns", std::to_string(measuring.mpiruns)},
      {kBudget, fmt::format("{}", measuring.budget)},
      {"sync", name_of(measuring.how.sync)},
      {"waits", yields(launch) ? "yield" : "spin"},
      {guidelines::kClock, launch.simulate.empty() ? "MPI_Wtime" : guidelines::kVirtualClock}};
  if (measuring.how.sync == guidelines::Sync::kWindow)
    settings["window_s"] = fmt::format("{}", measuring.how.window);
  if (measuring.repetitions) {
    settings["nrep"] = std::to_string(*measuring.repetitions);
  } else {
    settings["nrep"] = fmt::format(
        "rse {} cov_mean {} over {} cov_median {} over {} least {} most {} predictions {}",
        threshold_text(c.rse), threshold_text(c.cov_mean), c.cov_mean_window, threshold_text(c.cov_median),
        c.cov_median_window, c.least, c.most, measuring.how.predictions);
  }
  if (!launch.mpi_args.empty()) settings["mpi_args"] = launch.mpi_args;
  if (!launch.mpirun.empty()) settings["mpirun_command"] = launch.mpirun;
  if (!launch.runner.empty()) settings["runner"] = launch.runner;
  if (!launch.simulate.empty()) settings["simulate"] = launch.simulate + " " + launch.simulate_options;
  if (!launch.preload.empty()) settings["preload"] = launch.preload;
  for (const auto& [name, value] : launch.environment) settings["env_" + name] = value;
  return settings;
}

}  // namespace nplus1::analyses
