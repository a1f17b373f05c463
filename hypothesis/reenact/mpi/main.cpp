// nplus1-reenact: a recorded program's communication, performed again by as many MPI processes as were
// recorded. Started by `nplus1 replay --reenact` under mpirun; also by hand, or under nplus1 run:
//   mpirun -np N nplus1-reenact RECORDING [--deterministic] [--step VERB:SETTINGS]... [--compute-scale F]
//   [--patience S] [--result FILE]
// Rank 0 writes a JSON object to FILE (standard output without one). Exit codes: 0; 66 no recording, or one
// that cannot be re-enacted; 64 the wrong number of processes; 73 the result cannot be written; 87 stuck.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "hypothesis/reenact/mpi/large_count.hpp"
#include "hypothesis/reenact/mpi/performer.hpp"

namespace nplus1::hypothesis::reenact {
namespace {

enum Exit { kOk = 0, kUsage = 64, kNoInput = 66, kCantCreate = 73 };

struct Words {
  ScriptOptions script;
  double patience = 0;  // 0: by the longest that the recording has
  std::string result;
  std::vector<std::string> steps;  // VERB:SETTINGS
};

/// Sums and extremes over all ranks, at rank 0.
struct Everybody {
  std::vector<double> seconds, in_mpi, behind, recorded;
  std::vector<std::uint64_t> counts;  // summed up
};

enum Count : std::size_t {
  kCalls,
  kMessages,
  kMessageBytes,
  kSkipped,
  kUnmodelledCalls,
  kSwapped,
  kPredrawn,
  kOther,
  kLeftOut,
  kWaitedTests,
  kRecordedTests,
  kTests,
  kTested,
  kGaveUp,
  kCounts
};
constexpr const char* kNames[] = {"calls",
                                  "messages",
                                  "message_bytes",
                                  "skipped_calls",
                                  "unmodelled_calls",
                                  "swapped_completions",
                                  "early_completions",
                                  "other_messages",
                                  "calls_left_out",
                                  "tests_that_waited",
                                  "recorded_tests",
                                  "tests",
                                  "tested_requests",
                                  "gave_up"};
static_assert(std::size(kNames) == kCounts);

int rank_of_me() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

[[noreturn]] void leave(int code) {
  MPI_Finalize();
  std::exit(code);
}

[[noreturn]] void fail(int code, const Error& error) {
  if (rank_of_me() == 0)
    fmt::print(stderr, "nplus1: {}\n  so:   nothing was re-enacted\n  next: {}\n", error.what, error.remedy);
  leave(code);
}

/// Everybody's script, or everybody leaves; rank 0 says why, of the first that has none.
Script script_of_me(const Words& arguments) {
  const int rank = rank_of_me();
  auto script = read_script(arguments.script, RankId{rank});
  int failed = script ? std::numeric_limits<int>::max() : rank;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (failed == std::numeric_limits<int>::max()) return std::move(script).value();
  std::string text = rank == failed ? script.error().what + '\n' + script.error().remedy : "";
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, failed, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, failed, MPI_COMM_WORLD);
  const std::size_t line = text.find('\n');
  fail(kNoInput, {text.substr(0, line), text.substr(line + 1)});
}

std::size_t largest_message(const Script& script) {
  std::int64_t largest = 0;
  for (const RecordedCall& call : script.calls)
    if (call.event.kind == events::EventKind::kSend || call.event.kind == events::EventKind::kIsend)
      largest = std::max(largest, call.event.size);
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return static_cast<std::size_t>(largest);
}

/// The first of the rank's calls that MPI has no arguments for; empty if all can be made.
std::string beyond_mpi(const Script& script) {
  for (const RecordedCall& call : script.calls) {
    const events::Event& event = call.event;
    const bool collective =
        event.kind == events::EventKind::kCollective || event.kind == events::EventKind::kIcollective;
    const bool sends = !kHasLargeCounts &&
                       (event.kind == events::EventKind::kSend || event.kind == events::EventKind::kIsend);
    if (!collective && !sends) continue;
    std::int64_t bytes = event.size;
    std::int64_t sum = 0;  // displacements are ints, too
    for (const std::int64_t size : call.sizes) sum += std::max<std::int64_t>(0, size);
    bytes = std::max(bytes, sum);
    if (bytes > kLargestCount)
      return fmt::format("{} of {} bytes", collective ? "a collective operation" : "a message", bytes);
  }
  return {};
}

/// Refuses what would have to be cut to be made.
void check_sizes(const Script& script) {
  const std::string what = beyond_mpi(script);
  int mine = what.empty() ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (mine == 0) return;
  int first = what.empty() ? std::numeric_limits<int>::max() : rank_of_me();
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank_of_me() == first)
    fmt::print(stderr,
               "nplus1: {} cannot be performed again: above {} bytes MPI has no arguments for it\n"
               "  so:   nothing was re-enacted\n"
               "  next: --resize 'factor=...' makes messages shorter; nplus1 replay without --reenact has no "
               "limit\n",
               what, kLargestCount);
  leave(kNoInput);
}

/// Nobody waits longer than others compute, or than they waited when recorded; three times that is stuck.
double patience(const Words& arguments, const Script& script) {
  if (arguments.patience > 0) return arguments.patience;
  constexpr double kLeast = 10;
  double longest = seconds(std::max(script.longest, script.recorded_end));
  MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return kLeast + 3 * longest;
}

std::vector<double> gather(double mine, int ranks) {
  std::vector<double> all(static_cast<std::size_t>(ranks));
  MPI_Gather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return all;
}

Everybody gather(const Performed& p, const Script& script, int ranks) {
  const AdaptationCounts& a = p.adaptation;
  Everybody all;
  all.seconds = gather(p.seconds, ranks);
  all.in_mpi = gather(p.in_mpi, ranks);
  all.behind = gather(p.behind, ranks);
  all.recorded = gather(seconds(script.recorded_end), ranks);
  const std::uint64_t mine[] = {
      p.calls,          p.messages, p.message_bytes, p.skipped,  script.unmodelled_calls,
      a.swapped,        a.predrawn, a.other_message, a.left_out, a.waited_tests,
      a.recorded_tests, a.tests,    a.tested,        a.gave_up};
  all.counts.resize(kCounts);
  MPI_Reduce(mine, all.counts.data(), kCounts, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  return all;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

std::string json(const Words& arguments, const Everybody& all, std::size_t shared) {
  nlohmann::ordered_json object;
  object["schema"] = "nplus1-reenact/1";
  object["recording"] = arguments.script.recording.string();
  object["ranks"] = all.seconds.size();
  object["cores"] = std::thread::hardware_concurrency();
  object["decisions"] = arguments.script.deterministic ? "recorded" : "adapted";
  object["makespan_s"] = *std::max_element(all.seconds.begin(), all.seconds.end());
  object["recorded_makespan_s"] = *std::max_element(all.recorded.begin(), all.recorded.end());
  object["communication_share"] = sum(all.seconds) > 0 ? sum(all.in_mpi) / sum(all.seconds) : 0.0;
  object["behind_s"] = sum(all.behind) / static_cast<double>(all.behind.size());
  object["rank_end_s"] = all.seconds;
  for (std::size_t i = 0; i < kCounts; ++i) object[kNames[i]] = all.counts[i];
  object["shared_communicators"] = shared;
  return object.dump(2) + "\n";
}

void write(const Words& arguments, const std::string& text) {
  if (arguments.result.empty()) {
    std::cout << text << std::flush;
    return;
  }
  std::ofstream file{arguments.result};
  file << text;
  file.close();
  if (file.fail())
    fmt::print(stderr,
               "nplus1: {} cannot be written\n  so:   the result is lost\n  next: another --json FILE\n",
               arguments.result);
}

/// With memory for the largest message.
Performer performer_or_fail(Script& script, const LiveCommunicators& communicators, std::size_t largest,
                            const Words& arguments, Watchdog& watchdog) {
  try {
    return {script, communicators, largest, !arguments.script.deterministic, watchdog};
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "nplus1: rank {} has no memory for messages of {} bytes\n  so:   nothing was re-enacted\n"
               "  next: --resize 'factor=...', or more memory\n",
               rank_of_me(), largest);
    MPI_Abort(MPI_COMM_WORLD, kNoInput);
    std::abort();
  }
}

void reenact(const Words& arguments) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto recorded = recorded_ranks(arguments.script.recording);
  if (!recorded) fail(kNoInput, recorded.error());
  if (recorded.value() != ranks)
    fail(kUsage, {fmt::format("the recording has {} ranks, not {}", recorded.value(), ranks),
                  fmt::format("mpirun -np {} ...", recorded.value())});
  Script script = script_of_me(arguments);
  check_sizes(script);
  const RankId me{rank_of_me()};
  const LiveCommunicators communicators{script, me, ranks};
  const std::size_t largest = largest_message(script);
  Watchdog watchdog{me.value, std::chrono::duration<double>{patience(arguments, script)},
                    arguments.script.deterministic,
                    arguments.result.empty() ? "" : arguments.result + ".stuck"};
  Performer performer = performer_or_fail(script, communicators, largest, arguments, watchdog);
  MPI_Barrier(MPI_COMM_WORLD);
  const Performed performed = performer.perform();
  const Everybody all = gather(performed, script, ranks);
  if (me.value == 0) write(arguments, json(arguments, all, communicators.shared()));
}

int run(int argc, char** argv) {
  Words arguments;
  CLI::App app{"Performs a recorded program's communication again"};
  app.add_option("recording", arguments.script.recording, "Result folder of a run, or a recording")
      ->required();
  app.add_flag("--deterministic", arguments.script.deterministic,
               "What completes, and whose message comes, is as recorded");
  app.add_option("--compute-scale", arguments.script.compute_scale,
                 "Compute times are the recorded ones times this")
      ->check(CLI::PositiveNumber);
  app.add_option("--step", arguments.steps, "A transformation, VERB:KEY=VALUE,...; may be repeated")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1);
  app.add_option("--patience", arguments.patience, "Seconds after which a process that waits is stuck")
      ->check(CLI::PositiveNumber);
  app.add_option("--result", arguments.result, "Where rank 0 writes the result");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (rank_of_me() == 0) app.exit(error, std::cout, std::cerr);
    return error.get_exit_code() == 0 ? kOk : kUsage;
  }
  for (const std::string& text : arguments.steps) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string verb = text.substr(0, colon);
    const std::string settings = text.substr(std::min(colon + 1, text.size()));
    auto step = transform::parse_step(verb, settings, "--" + verb);
    if (!step) fail(kUsage, step.error());
    arguments.script.steps.push_back(std::move(step).value());
  }
  reenact(arguments);
  return kOk;
}

}  // namespace
}  // namespace nplus1::hypothesis::reenact

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = nplus1::hypothesis::reenact::run(argc, argv);
  MPI_Finalize();
  return code;
}
