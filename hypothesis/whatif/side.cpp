#include "hypothesis/whatif/side.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "events/limits.hpp"
#include "hypothesis/waitstates/kinds.hpp"
#include "report/exact_time.hpp"
#include "report/trust.hpp"
#include "support/units.hpp"

namespace nplus1::hypothesis {
namespace {

using nlohmann::json;

constexpr std::pair<const char*, const char*> kEfficiencies[] = {
    {"parallel_efficiency", "parallel"},
    {"load_balance", "load_balance"},
    {"communication_efficiency", "communication"},
    {"serialisation", "serialisation"},
    {"transfer", "transfer"}};

double number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

bool says(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && (found->is_boolean() ? found->get<bool>() : number(object, key) != 0);
}

void read_metrics(const json& document, Side& side) {
  const json& total = document.at("total");
  const double run = number(document, "virtual_time_s");
  const double waiting = number(total, "waiting_s") + number(total, "polling_s");
  side.metrics["virtual_time_s"] = run;
  side.metrics["waiting_s"] = waiting;
  const double all = run * std::max(static_cast<double>(side.ranks), number(document, "threads"));
  side.metrics["waiting_share"] = all > 0 ? waiting / all : 0;
  side.metrics["transfer_s"] = number(total, "transfer_s");
  for (const auto& [key, value] : total.at("wait_states").items())
    if (value.is_number()) side.metrics[key] = value.get<double>();
  const auto found = document.find("efficiencies");
  if (found == document.end() || !found->is_object()) return;
  for (const auto& [name, key] : kEfficiencies)
    if (found->contains(key) && found->at(key).is_number()) side.metrics[name] = found->at(key).get<double>();
}

void read_activities(const json& document, Side& side) {
  for (const json& a : document.at("activities"))
    side.activities.push_back({a.value("title", a.value("kind", "")),
                               number(a, "waiting_s") + number(a, "polling_s"),
                               number(a, "critical_path_s")});
}

std::uint64_t count(const json& object, const char* key) {
  const double value = number(object, key);
  constexpr double kMost = 9e15;
  return value > 0 && value < kMost ? static_cast<std::uint64_t>(value) : 0;
}

/// Of the run that was recorded.
std::string run_phrases(const json& trust) {
  if (!trust.contains("cores") || !trust["cores"].is_number())
    return "; how far the recorded run can be believed is not known (its summary.json is not there)";
  report::Trust run;
  run.order_inversions = count(trust, "order_inversions");
  run.forced_decisions = count(trust, "forced_decisions");
  run.clock_mismatches = count(trust, "clock_mismatches");
  std::string text =
      fmt::format("; recorded by {} ranks on {} cores", number(trust, "ranks"), number(trust, "cores"));
  const auto doubts = report::doubts(run);
  if (doubts.empty()) text += ", every match proved";
  for (const std::string& doubt : doubts) text += "; in the run " + doubt;
  return text;
}

/// How far it can be believed, in a line.
std::string trust_line(const json& trust) {
  std::string line = "model " + trust.value("model", std::string{"not known"});
  if (trust.contains("identity_error_s") && trust["identity_error_s"].is_number())
    line += fmt::format(
        "; identity replay {}",
        number(trust, "identity_error_s") == 0
            ? std::string{"exact"}
            : "off by " + report::readable(events::rounded_within(1e12 * number(trust, "identity_error_s"))));
  if (trust.contains("unmodelled_share"))
    line += fmt::format("; {:.1f} % not modelled", 100 * number(trust, "unmodelled_share"));
  if (trust.contains("given_compute") && trust["given_compute"].is_string()) {
    const auto given = trust["given_compute"].get<std::string>();
    line += "; computing given, not measured (" + given;
    line += given.starts_with("fixed:") ? ")" : "): what it would be where calls come or go is not known";
  }
  line += run_phrases(trust);
  report::Trust replayed;
  replayed.order_inversions = count(trust, "replay_order_inversions");
  replayed.forced_decisions = count(trust, "replay_forced_decisions");
  for (const std::string& doubt : report::doubts(replayed)) line += "; in this replay " + doubt;
  if (trust.contains("reenactment_deviation") && trust["reenactment_deviation"].is_number())
    line += fmt::format("; re-enactment {:+.2f} %", 100 * number(trust, "reenactment_deviation"));
  if (number(trust, "missing") > 0)
    line += fmt::format("; calls missing in {} places", number(trust, "missing"));
  const double otherwise = number(trust, "swapped_completions") + number(trust, "early_completions") +
                           number(trust, "other_messages") + number(trust, "tests_that_waited");
  if (otherwise > 0) line += fmt::format("; {} calls come out otherwise than recorded", otherwise);
  if (number(trust, "gave_up") > 0)
    line += fmt::format(
        "; {} calls came out in a way that cannot be followed (--deterministic keeps the recorded one)",
        number(trust, "gave_up"));
  if (const double threaded = number(trust, "threaded_ranks"); threaded > 0)
    line += fmt::format(
        "; {} ranks call MPI from several threads: what they do does not adapt to who is first "
        "(--deterministic repeats it)",
        threaded);
  if (says(trust, "relies_on_buffering")) line += "; relies on buffering";
  if (!trust.contains("finished") || says(trust, "finished")) return line;
  const std::size_t blocked = trust.value("blocked_ranks", json::array()).size();
  return line + (blocked == 0
                     ? std::string{"; the replay ends before the program does"}
                     : fmt::format("; {} ranks wait for what never comes (--deterministic?)", blocked));
}

}  // namespace

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"virtual_time_s", "waiting_s", "waiting_share", "transfer_s"};
    for (const auto& [name, key] : kEfficiencies) all.emplace_back(name);
    for (const std::string_view state : kWaitStateNames) all.push_back(std::string{state} + "_s");
    all.emplace_back("wrong_order_s");
    return all;
  }();
  return names;
}

std::optional<double> Side::metric(std::string_view name) const {
  const auto found = metrics.find(name);
  return found == metrics.end() ? std::nullopt : std::optional{found->second};
}

Result<Side> parse_side(std::string_view text, const std::string& name) try {
  const json document = json::parse(text);
  Side side;
  side.application = document.value("application", "");
  side.network = document.value("network", "");
  side.coverage = document.value("coverage", "");
  side.ranks = static_cast<std::size_t>(count(document, "ranks"));
  read_metrics(document, side);
  read_activities(document, side);
  if (document.contains("trust")) {
    const json& trust = document["trust"];
    side.trust = trust_line(trust);
    if (!side.coverage.empty() && side.coverage != "complete") side.trust += "; recording " + side.coverage;
    if (trust.contains("finished") && !says(trust, "finished"))
      side.stuck = trust.value("blocked_ranks", json::array()).size();
  }
  return side;
} catch (const json::exception&) {
  return Error{name + " is not what nplus1 waitstates or nplus1 whatif writes", "write it again"};
}

}  // namespace nplus1::hypothesis
