// `nplus1 replay --reenact`: the recording performed again by MPI processes (hypothesis/reenact/mpi/).
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "analyses/installation.hpp"
#include "cli/failure.hpp"
#include "cli/replay/replay.hpp"
#include "cli/replay/results.hpp"
#include "cli/to_stderr.hpp"
#include "hypothesis/transform/step.hpp"
#include "report/files.hpp"
#include "support/number_of.hpp"
#include "support/processes/programs.hpp"
#include "support/processes/words.hpp"
#include "support/shell.hpp"

namespace nplus1::cli {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNothingReenacted = "nothing was re-enacted";
constexpr std::chrono::hours kLongest{24};
constexpr int kStuck = 87;  // hypothesis/reenact/mpi/watchdog.hpp

/// A name for what the processes leave behind, gone with it.
class Scratch {
 public:
  Scratch() : path_{fs::temp_directory_path() / fmt::format("nplus1-reenact-{}.json", getpid())} {}
  ~Scratch() {
    std::error_code error;
    fs::remove(path_, error);
    fs::remove(path_.string() + ".stuck", error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool oversubscribed(int ranks) {
  return static_cast<unsigned>(ranks) > std::thread::hardware_concurrency();
}

void add_step(std::vector<std::string>& line, const hypothesis::transform::Step& step) {
  std::string settings;
  for (const auto& [key, value] : step.settings)
    settings += (settings.empty() ? "" : ",") + key + "=" + value;
  line.insert(line.end(), {"--step", step.verb + ":" + (settings.empty() ? "all" : settings)});
}

/// Where there are more processes than cores, their waits yield the core, as in nplus1 run --native.
std::vector<std::string> command_line(const ReplayWords& words, int ranks, const fs::path& result) {
  std::vector<std::string> line{
      or_fail(analyses::find_mpirun(), ExitCode::kUnavailable, kNothingReenacted).string(), "-np",
      std::to_string(ranks)};
  if (oversubscribed(ranks)) {
    const std::string stubs =
        or_fail(analyses::find_stubs(), ExitCode::kUnavailable, kNothingReenacted).string();
    line.insert(line.end(), {"-genv", "LD_PRELOAD", processes::preloaded_before_the_users(stubs), "-genv",
                             "NPLUS1_NATIVE", "1"});
  }
  for (std::string& word :
       or_fail(processes::split_words(words.mpi_args), ExitCode::kUsage, kNothingReenacted))
    line.push_back(std::move(word));
  line.push_back(or_fail(analyses::find_reenact(), ExitCode::kUnavailable, kNothingReenacted).string());
  line.insert(line.end(), {fs::absolute(words.source).string(), "--result", result.string()});
  for (const std::string& file : words.transformations.files) {
    const auto hypothesis =
        or_fail(hypothesis::transform::read_hypothesis(file), ExitCode::kUsage, kNothingReenacted);
    for (const auto& step : hypothesis.steps) add_step(line, step);
  }
  for (const auto& [verb, settings] : words.transformations.steps)
    line.insert(line.end(), {"--step", verb + ":" + settings});
  if (words.deterministic) line.emplace_back("--deterministic");
  if (words.compute_scale != 1)
    line.insert(line.end(), {"--compute-scale", fmt::format("{:.17g}", words.compute_scale)});
  if (words.patience > 0) line.insert(line.end(), {"--patience", fmt::format("{}", words.patience)});
  return line;
}

/// The processes have said themselves what was wrong.
bool said_so(const processes::Output& output) {
  return output.exit_code == static_cast<int>(ExitCode::kUsage) ||
         output.exit_code == static_cast<int>(ExitCode::kNoInput) || output.exit_code == kStuck;
}

/// Throws what they have not.
void check(const processes::Output& output, const std::vector<std::string>& line) {
  if (output.timed_out || output.exit_code != 0)
    throw Failure{ExitCode::kUnavailable, fmt::format("mpirun failed with exit code {}", output.exit_code),
                  kNothingReenacted, "run it by hand to see why: " + join_quoted(line)};
}

double percent_more(double now, double before) {
  return before > 0 ? 100 * (now / before - 1) : 0;
}

std::string decisions_text(const Json& r) {
  const auto count = [&r](const char* name) { return r.at(name).get<std::uint64_t>(); };
  std::string text;
  if (count("swapped_completions") + count("early_completions") + count("other_messages") +
          count("tests_that_waited") + count("calls_left_out") >
      0)
    text += decisions_line({count("swapped_completions"), count("early_completions"), count("other_messages"),
                            count("tests_that_waited"), count("calls_left_out")});
  if (count("tests") > 0)
    text += fmt::format("tests        {} recorded, {} now, of {} requests\n", count("recorded_tests"),
                        count("tests"), count("tested_requests"));
  if (count("unmodelled_calls") > 0)
    text += fmt::format("not made     {} (RMA, IO and the like): waited for as long as they took\n",
                        number_of(count("unmodelled_calls"), "call"));
  if (count("skipped_calls") + count("gave_up") > 0)
    text += fmt::format("gave up      {}: what the program would have done is not known\n",
                        number_of(count("skipped_calls") + count("gave_up"), "time"));
  return text;
}

std::string text(const Json& r, const hypothesis::RecordedSettings& recorded, const std::string& source) {
  const int ranks = r.at("ranks").get<int>();
  const double now = r.at("makespan_s").get<double>();
  const double before = r.at("recorded_makespan_s").get<double>();
  std::string text =
      fmt::format("{}: {} performed again by {} on {}\n", source, recorded.application,
                  number_of(ranks, "process", "processes"), number_of(r.at("cores").get<unsigned>(), "core"));
  text += fmt::format("makespan     {:.6f} s, recorded {:.6f} s: {:+.2f} %\n", now, before,
                      percent_more(now, before));
  text += fmt::format("time         {:.1f} % communicating; {}, {}\n",
                      100 * r.at("communication_share").get<double>(),
                      number_of(r.at("calls").get<std::uint64_t>(), "call"),
                      number_of(r.at("messages").get<std::uint64_t>(), "message"));
  text += decisions_text(r);
  if (!recorded.native)
    text +=
        "recorded in  virtual time: its makespan is of the simulated network, this one of this machine's\n";
  if (oversubscribed(ranks))
    text += "cores        fewer than processes: the processes hold each other up, and the time says little\n";
  return text;
}

/// A run performed again as it was: the deviation goes into its folder, and from there into trust lines.
bool tells_how_far_to_trust(const ReplayWords& words, const hypothesis::RecordedSettings& recorded) {
  const bool changed = words.compute_scale != 1 || !words.transformations.empty();
  std::error_code error;
  return recorded.native && !changed && fs::exists(fs::path{words.source} / "summary.json", error);
}

}  // namespace

int reenact(const ReplayWords& words, const hypothesis::RecordedSettings& recorded, int ranks) {
  const Scratch scratch;
  const auto line = command_line(words, ranks, scratch.path());
  if (!words.quiet) to_stderr("nplus1: {}\n", join_quoted(line));
  const processes::Output output = processes::capture(line, kLongest, true);
  to_stderr("{}", output.text);
  if (said_so(output))
    return output.exit_code == kStuck ? static_cast<int>(ExitCode::kUnavailable) : output.exit_code;
  check(output, line);
  std::ifstream file{scratch.path()};
  Json result = Json::parse(file, nullptr, false);
  if (result.is_discarded())
    throw Failure{ExitCode::kUnavailable, "the re-enactment left no result", kNothingReenacted,
                  "run it by hand to see why: " + join_quoted(line)};
  result["recorded_natively"] = recorded.native;
  result["deviation_percent"] =
      percent_more(result.at("makespan_s").get<double>(), result.at("recorded_makespan_s").get<double>());
  if (!words.json.empty())
    or_fail(report::write_file(words.json, result.dump(2) + "\n"), ExitCode::kCantCreate, kNothingReenacted);
  if (tells_how_far_to_trust(words, recorded))
    or_fail(report::write_file(fs::path{words.source} / "reenact.json", result.dump(2) + "\n"),
            ExitCode::kCantCreate, kNothingReenacted);
  fmt::print("{}", text(result, recorded, words.source));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace nplus1::cli
