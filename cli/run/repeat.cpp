#include "cli/run/repeat.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "analyses/clock_replays.hpp"
#include "analyses/findings.hpp"
#include "analyses/output_folder.hpp"
#include "cli/failure.hpp"
#include "cli/run/findings.hpp"
#include "cli/run/group_witness.hpp"
#include "cli/run/spread.hpp"
#include "cli/to_stderr.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "report/html/html_report.hpp"
#include "report/json_object.hpp"
#include "support/shell.hpp"
#include "support/stopped.hpp"
#include "support/units.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRepeatFile = "repeat.json";
constexpr const char* kRepeatSchema = "nplus1-repeat/1";
/// What saves less than this share of a run is not called what to fix first.
constexpr double kFirstFixShare = 0.01;
constexpr std::size_t kMostSavings = 10;

// --- one run in a child process ---

std::atomic<pid_t> run_under_way{0};
std::atomic<const GroupWitness*> witness_of_series{nullptr};
std::atomic<int> ended_by{0};

void on_signal(int signal, siginfo_t* info, void*) {
  ended_by.store(signal, std::memory_order_relaxed);
  pass_on(signal, *info, run_under_way.load(std::memory_order_relaxed),
          witness_of_series.load(std::memory_order_relaxed));
}

/// While it exists, signals that would end this process reach the run under way instead.
class Signals {
 public:
  Signals() {
    struct sigaction action {};
    witness_of_series.store(&witness_, std::memory_order_relaxed);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < std::size(kPassedOn); ++i) {
      sigaction(kPassedOn[i], nullptr, &old_[i]);
      if (old_[i].sa_handler != SIG_IGN) sigaction(kPassedOn[i], &action, nullptr);  // nohup stays nohup
    }
  }
  ~Signals() {
    restore();
    witness_of_series.store(nullptr, std::memory_order_relaxed);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  void restore() const {
    for (std::size_t i = 0; i < std::size(kPassedOn); ++i) sigaction(kPassedOn[i], &old_[i], nullptr);
  }

 private:
  GroupWitness witness_;
  struct sigaction old_[std::size(kPassedOn)]{};
};

int run_here(const RunOnce& once, const fs::path& folder) {
  try {
    return once(folder);
  } catch (const Failure& failure) {
    to_stderr("nplus1: {}\n  so:   {}\n  next: {}\n", failure.what(), failure.consequence(), failure.next());
    return static_cast<int>(failure.code());
  } catch (const std::exception& error) {
    to_stderr("nplus1: {}\n  so:   this run is left out\n  next: run it alone\n", error.what());
    return static_cast<int>(ExitCode::kSoftware);
  }
}

/// The run adopts what its ranks leave behind, and waits for it (run_job): once a process.
int run_in_child(const RunOnce& once, const fs::path& folder, const Signals& signals) {
  std::cout.flush();
  std::fflush(nullptr);
  std::optional<SignalsHeld> held{std::in_place};
  const pid_t pid = fork();
  if (pid < 0) {
    to_stderr("nplus1: this run cannot be started: {}\n", std::strerror(errno));
    return static_cast<int>(ExitCode::kUnavailable);
  }
  if (pid == 0) {
    signals.restore();
    held.reset();
    const int code = run_here(once, folder);
    std::cerr.flush();
    std::cout.flush();
    std::fflush(nullptr);
    _exit(code);
  }
  run_under_way.store(pid, std::memory_order_relaxed);
  if (const int signal = ended_by.load(std::memory_order_relaxed); signal != 0) kill(pid, signal);
  held.reset();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  run_under_way.store(0, std::memory_order_relaxed);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// --- what a run has left ---

struct Saving {
  std::string what, flags;
  double saved_s = 0;  // of a balance what is systematic
  bool leads = false;
};

struct OneRun {
  fs::path folder;
  int exit_code = 0;
  double real_s = 0;
  bool complete = false;  // ended well, with all ranks in the result
  double virtual_time_s = 0;
  std::optional<double> warm_s;      // with warm caches (clock.json)
  std::optional<double> random_s;    // what uneven computing that comes and goes costs
  bool searched = false;             // for what to fix
  std::vector<Saving> savings;       // what is advice, the most worthwhile first
  std::optional<std::string> first;  // what to fix first; nothing where nothing saves enough
};

nlohmann::json read_json(const fs::path& file) {
  std::ifstream in{file};
  return in ? nlohmann::json::parse(in, nullptr, false) : nlohmann::json{};
}

std::optional<double> real_at(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

void read_savings(const nlohmann::json& fixes, OneRun& run) {
  if (!fixes.is_object() || !fixes.contains("candidates")) return;
  run.searched = true;
  run.random_s = real_at(fixes, "random_s");
  for (const auto& c : fixes["candidates"]) {
    if (!c.is_object() || c.value("bound", true) || !c.value("finished", false) || !real_at(c, "problem"))
      continue;
    const double saved = real_at(c, "systematic_s").value_or(c.value("saved_s", 0.0));
    run.savings.push_back({c.value("what", ""), c.value("flags", ""), saved, c.value("leads", false)});
    if (!run.first && run.savings.back().leads && saved >= kFirstFixShare * run.virtual_time_s)
      run.first = run.savings.back().what;
  }
}

void read_results(const fs::path& folder, OneRun& run) {
  const auto summary = read_json(folder / "summary.json");
  const auto time = real_at(summary, "virtual_time_s");
  run.complete = run.exit_code == 0 && time && summary.value("complete", false);
  if (!run.complete) return;
  run.virtual_time_s = *time;
  run.warm_s = real_at(read_json(folder / "clock.json"), "virtual_time_s");
  read_savings(read_json(folder / analyses::kFixesFile), run);
}

// --- what they have in common ---

constexpr const char* kTogether = "together";

/// The clock that all runs with twins tell.
struct Together {
  fs::path folder;
  std::size_t runs = 0;
  analyses::WarmTimes times;
};

/// Of the run whose own clock is in the middle; `findings_s`: looking for what to fix may take so long.
std::optional<Together> all_together(const std::vector<OneRun>& runs, const fs::path& folder,
                                     double findings_s) {
  std::vector<const OneRun*> warm;
  for (const OneRun& run : runs)
    if (run.warm_s) warm.push_back(&run);
  if (warm.size() < 2) return std::nullopt;
  std::stable_sort(warm.begin(), warm.end(),
                   [](const OneRun* a, const OneRun* b) { return *a->warm_s < *b->warm_s; });
  std::rotate(warm.begin(), warm.begin() + static_cast<std::ptrdiff_t>(warm.size() / 2), warm.end());
  std::vector<std::string> folders;
  for (const OneRun* run : warm) folders.push_back(run->folder.string());
  const fs::path output = folder / kTogether;
  auto times = attempt([&] { return analyses::leave_results_of_all(folders, output.string()); });
  if (times) {
    const std::string found = add_findings(output, findings_s, true);
    if (!fs::exists(output / analyses::kFixesFile)) to_stderr("{}", found);  // why there is none
    return Together{output, warm.size(), std::move(times).value()};
  }
  to_stderr("nplus1: {}\n  so:   what the runs' clocks tell together is not known\n  next: {}\n",
            times.error().what, times.error().remedy);
  return std::nullopt;
}

struct SavingSpread {
  std::string what, flags;
  std::size_t runs = 0;  // in which it was tried
  Spread saved_s;
};

struct Common {
  std::size_t complete = 0, searched = 0;
  std::optional<Spread> virtual_time, warm, random, real;
  std::vector<SavingSpread> savings;  // what leads a problem in one of the runs, the most worthwhile first
  std::vector<std::pair<std::optional<std::string>, std::size_t>> first;  // and in how many runs
};

template <class Get>
std::optional<Spread> spread_over(const std::vector<OneRun>& runs, Get get) {
  std::vector<double> values;
  for (const OneRun& run : runs)
    if (const std::optional<double> value = get(run)) values.push_back(*value);
  if (values.empty()) return std::nullopt;
  return spread_of(std::move(values));
}

std::vector<SavingSpread> savings_of(const std::vector<OneRun>& runs) {
  std::map<std::string, std::vector<double>> saved;
  std::map<std::string, std::string> leading;  // to its flags
  for (const OneRun& run : runs)
    for (const Saving& s : run.savings) {
      saved[s.what].push_back(s.saved_s);
      if (s.leads) leading.emplace(s.what, s.flags);
    }
  std::vector<SavingSpread> all;
  for (const auto& [what, flags] : leading)
    all.push_back({what, flags, saved[what].size(), spread_of(saved[what])});
  std::stable_sort(all.begin(), all.end(), [](const SavingSpread& a, const SavingSpread& b) {
    return a.saved_s.median > b.saved_s.median;
  });
  return all;
}

Common common_of(const std::vector<OneRun>& runs, bool recorded) {
  using Value = std::optional<double>;
  Common c;
  c.real = spread_over(runs, [&](const OneRun& r) {
    return r.complete || (!recorded && r.exit_code == 0) ? Value{r.real_s} : Value{};
  });
  c.virtual_time =
      spread_over(runs, [](const OneRun& r) { return r.complete ? Value{r.virtual_time_s} : Value{}; });
  c.warm = spread_over(runs, [](const OneRun& r) { return r.warm_s; });
  c.random = spread_over(runs, [](const OneRun& r) { return r.random_s; });
  c.savings = savings_of(runs);
  for (const OneRun& run : runs) {
    c.complete += run.complete ? 1 : 0;
    if (!run.searched) continue;
    ++c.searched;
    const auto known =
        std::find_if(c.first.begin(), c.first.end(), [&](const auto& f) { return f.first == run.first; });
    if (known == c.first.end())
      c.first.emplace_back(run.first, 1);
    else
      ++known->second;
  }
  std::stable_sort(c.first.begin(), c.first.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return c;
}

// --- said ---

std::string time_of(double s) {
  return report::readable(from_seconds(s));
}

std::string spread_line(const std::string& what, const Spread& s) {
  return fmt::format("{:>12} {:>12} {:>12} {:>12} {:>12}  {}\n", time_of(s.median), time_of(s.least),
                     time_of(s.lower_quartile), time_of(s.upper_quartile), time_of(s.most), what);
}

std::string interval_text(const Spread& s) {
  if (s.level <= 0) return "one run says nothing of how far it can be relied on";
  return fmt::format("the median lies between {} and {} ({:.4g} % certain, whatever the distribution)",
                     time_of(s.from), time_of(s.to), 100 * s.level);
}

std::string first_text(const Common& c) {
  const auto name = [](const std::optional<std::string>& what) {
    return what ? *what : std::string{"nothing that was tried saves 1 %"};
  };
  std::string text = fmt::format("What to fix first was the same in {} of {} runs: {}\n",
                                 c.first.front().second, c.searched, name(c.first.front().first));
  for (std::size_t i = 1; i < c.first.size(); ++i)
    text += fmt::format("{:>14} in {}: {}\n", "but", c.first[i].second, name(c.first[i].first));
  return text;
}

std::string savings_text(const Common& c) {
  std::string text;
  const double run = c.virtual_time->median;
  std::size_t shown = 0;
  for (const SavingSpread& s : c.savings) {
    if (shown == kMostSavings || s.saved_s.median < kFirstFixShare * run) break;
    if (shown++ == 0) text += "What would be saved\n";
    text += spread_line(s.what + (s.runs == c.searched ? "" : fmt::format(" (tried in {} runs)", s.runs)),
                        s.saved_s);
    text += fmt::format("{:>66}{}\n", "", interval_text(s.saved_s));
  }
  if (c.random && c.random->median >= kFirstFixShare * run)
    text += "No advice: what comes and goes, noise of the host or of the program\n" +
            spread_line("uneven computing that no rank and no step has every time", *c.random);
  return text;
}

std::string together_text(const Together& t) {
  return fmt::format(
      "{:>12} {:>51}  with what all runs tell of the host\n{:>66}nine of ten: {} to {}\n{:>66}report: {}\n",
      report::readable(t.times.estimate), "", "", report::readable(t.times.from),
      report::readable(t.times.to), "", (t.folder / report::html::kReportFile).string());
}

std::string text_of(const std::vector<OneRun>& runs, const Common& c, const std::optional<Together>& together,
                    std::size_t wanted, const fs::path& folder) {
  std::string text = fmt::format("{} of {} runs{}", runs.size(), wanted,
                                 folder.empty() ? "" : fmt::format(", results in {}", folder.string()));
  if (!folder.empty() && c.complete < runs.size())
    text += fmt::format("; {} ended badly or left no result, and are left out", runs.size() - c.complete);
  text += "\n";
  if (!c.real) return text + "No run has ended well: there is nothing to compare\n";
  text +=
      fmt::format("{:>12} {:>12} {:>12} {:>12} {:>12}\n", "median", "least", "a quarter to", "to", "most");
  if (c.virtual_time) text += spread_line("virtual time", *c.virtual_time);
  if (c.virtual_time) text += fmt::format("{:>66}{}\n", "", interval_text(*c.virtual_time));
  if (c.warm) text += spread_line("virtual time with warm caches", *c.warm);
  if (c.warm) text += fmt::format("{:>66}{}\n", "", interval_text(*c.warm));
  if (together) text += together_text(*together);
  text += spread_line("real time", *c.real);
  if (c.searched > 0) text += savings_text(c) + first_text(c);
  return text;
}

std::string spread_json(const std::optional<Spread>& s) {
  if (!s) return "null";
  return fmt::format(
      "{{\"runs\": {}, \"median\": {}, \"least\": {}, \"lower_quartile\": {}, \"upper_quartile\": {}, "
      "\"most\": {}, "
      "\"interval\": [{}, {}], \"level\": {}}}",
      s->count, nlohmann::json(s->median).dump(), nlohmann::json(s->least).dump(),
      nlohmann::json(s->lower_quartile).dump(), nlohmann::json(s->upper_quartile).dump(),
      nlohmann::json(s->most).dump(), nlohmann::json(s->from).dump(), nlohmann::json(s->to).dump(),
      nlohmann::json(s->level).dump());
}

std::string quoted_or_null(const std::optional<std::string>& text) {
  return text ? report::JsonObject::quoted(*text) : "null";
}

std::string together_json(const std::optional<Together>& together) {
  if (!together) return "null";
  report::JsonObject object;
  object.text("folder", kTogether);
  object.number("runs", together->runs);
  object.raw("virtual_time_s", report::exact_seconds(together->times.estimate));
  object.raw("from_s", report::exact_seconds(together->times.from));
  object.raw("to_s", report::exact_seconds(together->times.to));
  return object.inner();
}

std::string json_of(const std::vector<OneRun>& runs, const Common& c, const std::optional<Together>& together,
                    std::size_t wanted) {
  report::JsonObject object;
  object.text("schema", kRepeatSchema);
  object.number("wanted", wanted);
  object.number("complete", c.complete);
  object.number("searched", c.searched);
  object.raw("virtual_time_s", spread_json(c.virtual_time));
  object.raw("warm_virtual_time_s", spread_json(c.warm));
  object.raw("warm_together", together_json(together));
  object.raw("random_s", spread_json(c.random));
  object.raw("real_s", spread_json(c.real));
  object.list(
      "savings", c.savings,
      [](const SavingSpread& s) {
        return fmt::format("\n    {{\"what\": {}, \"flags\": {}, \"saved_s\": {}}}",
                           report::JsonObject::quoted(s.what), report::JsonObject::quoted(s.flags),
                           spread_json(s.saved_s));
      },
      ",");
  object.list(
      "first_fixes", c.first,
      [](const auto& f) {
        return fmt::format("\n    {{\"what\": {}, \"runs\": {}}}", quoted_or_null(f.first), f.second);
      },
      ",");
  std::size_t number = 0;
  object.list(
      "runs", runs,
      [&](const OneRun& r) {
        return fmt::format(
            "\n    {{\"folder\": \"{}\", \"exit_code\": {}, \"complete\": {}, \"real_s\": {}, "
            "\"virtual_time_s\": {}, "
            "\"first_fix\": {}}}",
            ++number, r.exit_code, r.complete, nlohmann::json(r.real_s).dump(),
            r.complete ? nlohmann::json(r.virtual_time_s).dump() : "null", quoted_or_null(r.first));
      },
      ",");
  return object.document();
}

/// Where the run's results go; nothing where that cannot be made, which ends the series.
std::optional<fs::path> next_folder(const fs::path& folder, int number) {
  if (folder.empty()) return fs::path{};
  const auto made = analyses::OutputFolder::at(folder / std::to_string(number));
  if (made) return made.value().path();
  to_stderr("nplus1: {}\n  so:   the runs end here\n  next: {}\n", made.error().what, made.error().remedy);
  return std::nullopt;
}

void say_run(const OneRun& run, std::size_t number, std::size_t wanted) {
  const std::string time =
      run.complete ? time_of(run.virtual_time_s) + " of virtual time" : "no result to compare";
  to_stderr("nplus1: run {} of {}: {}, {:.3g} s real{}\n", number, wanted, time, run.real_s,
            run.exit_code == 0 ? "" : fmt::format(", exit code {}", run.exit_code));
}

}  // namespace

std::optional<int> repetitions_of(const RunOptions& options) {
  const std::string& text = options.repeat;
  if (text.empty()) return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1 || number > kMostRepetitions)
    throw Failure{ExitCode::kUsage,
                  fmt::format("--repeat: '{}' is not a whole number from 1 to {}", text, kMostRepetitions),
                  kNothingStarted,
                  "e.g. --repeat 6: the least with which the median's interval is 95 % certain"};
  return number;
}

int repeat(const RunOptions& options, int repetitions, const fs::path& folder, const RunOnce& once) {
  using Clock = std::chrono::steady_clock;
  const Signals signals;
  std::vector<OneRun> runs;
  int exit_code = 0;
  bool stopped = false;
  for (int i = 1; i <= repetitions && ended_by.load(std::memory_order_relaxed) == 0; ++i) {
    const auto results = next_folder(folder, i);
    stopped = !results;
    if (stopped) break;
    const auto begin = Clock::now();
    OneRun run;
    run.exit_code = run_in_child(once, *results, signals);
    run.real_s = std::chrono::duration<double>(Clock::now() - begin).count();
    run.folder = *results;
    if (!folder.empty()) read_results(*results, run);
    if (exit_code == 0) exit_code = run.exit_code;
    runs.push_back(std::move(run));
    if (!options.quiet) say_run(runs.back(), runs.size(), static_cast<std::size_t>(repetitions));
  }
  if (exit_code == 0 && stopped) exit_code = static_cast<int>(ExitCode::kCantCreate);
  if (const int signal = ended_by.load(std::memory_order_relaxed); exit_code == 0 && signal != 0)
    exit_code = 128 + signal;
  const auto wanted = static_cast<std::size_t>(repetitions);
  const Common common = common_of(runs, !folder.empty());
  const std::optional<Together> together =
      folder.empty() ? std::nullopt : all_together(runs, folder, options.findings_s);
  if (!options.quiet) to_stderr("\n{}", text_of(runs, common, together, wanted, folder));
  if (folder.empty()) return exit_code;
  if (const auto written = report::write_file(folder / kRepeatFile, json_of(runs, common, together, wanted));
      !written)
    to_stderr("nplus1: {}\n  so:   what the runs have in common is not kept\n  next: {}\n",
              written.error().what, written.error().remedy);
  return exit_code;
}

}  // namespace nplus1::cli
