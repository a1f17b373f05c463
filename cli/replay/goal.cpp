// `nplus1 replay FILE.goal`: a GOAL program, with the dependences that it states.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/failure.hpp"
#include "cli/replay/replay.hpp"
#include "events/goal/graph.hpp"
#include "hypothesis/replay/goal_simulation.hpp"
#include "netmodel/loggops/loggops.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "report/json_object.hpp"
#include "support/number_of.hpp"

namespace nplus1::cli {
namespace {

using events::goal::Graph;
using report::exact_seconds;

constexpr std::size_t kMostEndsShown = 16;

netmodel::LogGops::Parameters parameters_of(const ReplayWords& words) {
  const bool other = !(words.platform.platform.empty() && words.collectives.empty() && words.sweep.empty() &&
                       words.output.empty() && words.fail_if.empty()) ||
                     words.reenact || words.compute_scale != 1;
  if (other)
    throw Failure{ExitCode::kUsage, "of a GOAL program only --network and --json are known", kNothingReplayed,
                  "nplus1 convert makes a recording of it, as far as that goes"};
  if (words.network.empty())
    throw Failure{ExitCode::kUsage, "a GOAL program does not say its network", kNothingReplayed,
                  "add --network loggops:L=..,o=..,g=..,G=..,O=..,S=.."};
  const auto network = netmodel::parse(words.network);
  if (!network)
    throw Failure{ExitCode::kUsage, "--network: " + network.error().what, kNothingReplayed,
                  network.error().remedy};
  const auto* loggops = dynamic_cast<const netmodel::LogGops*>(network.value().get());
  if (loggops == nullptr)
    throw Failure{ExitCode::kUsage, "GOAL programs are simulated on LogGOPS alone", kNothingReplayed,
                  "use --network loggops:..., or nplus1 convert to make a recording of it"};
  return loggops->parameters();
}

std::vector<Graph> read(const std::string& source) {
  auto file = or_fail(events::goal::GraphFile::open(source), ExitCode::kNoInput, kNothingReplayed);
  std::vector<Graph> graphs(static_cast<std::size_t>(file.ranks()));
  for (;;) {
    auto part = or_fail(file.next(), ExitCode::kNoInput, kNothingReplayed);
    if (!part) return graphs;
    graphs[part->first.index()] = std::move(part->second);
  }
}

std::string ends_text(const std::vector<Time>& ends) {
  std::string text;
  if (ends.size() <= kMostEndsShown) {
    text = "rank               end, s\n";
    for (std::size_t r = 0; r < ends.size(); ++r)
      text += fmt::format("{:4} {:>20}\n", r, exact_seconds(ends[r].time_since_epoch()));
  }
  const Time last = *std::max_element(ends.begin(), ends.end());
  return text + fmt::format("ends at      {} s\n", exact_seconds(last.time_since_epoch()));
}

std::string json(const std::string& source, const std::string& network, const hypothesis::GoalEnds& result) {
  report::JsonObject object;
  object.text("schema", "nplus1-replay-goal/1");
  object.text("goal", source);
  object.text("network", network);
  object.number("messages", result.messages);
  object.number("unreceived", result.unreceived);
  object.number("unfinished", result.unfinished);
  object.list("rank_end_s", result.ends, [](Time end) { return exact_seconds(end.time_since_epoch()); });
  return object.document();
}

}  // namespace

bool is_goal(const std::string& source) {
  return std::filesystem::path{source}.extension() == ".goal" && std::filesystem::is_regular_file(source);
}

int replay_goal(const ReplayWords& words) {
  auto parameters = parameters_of(words);
  parameters.both_interfaces = true;
  const std::string network = netmodel::LogGops{parameters}.describe();
  const std::vector<Graph> graphs = read(words.source);
  const hypothesis::GoalEnds result = hypothesis::simulate(graphs, parameters);
  if (result.too_long)
    throw Failure{ExitCode::kNoInput,
                  words.source + ": its operations take longer than 53 days, which no time here can say",
                  kNothingReplayed,
                  "check its amounts of computing (nanoseconds) and sizes, and the network's parameters"};
  if (!words.json.empty())
    or_fail(report::write_file(words.json, json(words.source, network, result)), ExitCode::kCantCreate,
            kNothingReplayed);
  fmt::print("{}: GOAL program of {}, {}\n", words.source, number_of(graphs.size(), "rank"),
             number_of(result.messages, "message"));
  fmt::print("network      {}\n{}", network, ends_text(result.ends));
  if (result.unfinished > 0)
    fmt::print("not ended    {} for what never comes\n",
               number_of(result.unfinished, "operation waits", "operations wait"));
  if (result.unreceived > 0) fmt::print("not received {}\n", number_of(result.unreceived, "message"));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace nplus1::cli
