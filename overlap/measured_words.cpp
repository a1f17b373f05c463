// The words and the JSON of what was measured (docs/formats/overlap_measured.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "overlap/measured.hpp"
#include "overlap/place_json.hpp"
#include "report/exact_time.hpp"
#include "support/number_of.hpp"

namespace nplus1::overlap {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMeasuredSchema = "nplus1-overlap-measured/1";

std::string seconds_text(double s) {
  constexpr double kMost = 1e6;  // what is longer is no time of a message
  if (!std::isfinite(s) || std::abs(s) > kMost) return fmt::format("{:.3g} s", s);
  return s < 0 ? "-" + report::readable(from_seconds(-s)) : report::readable(from_seconds(s));
}

std::string with_interval(const Measured& m) {
  return fmt::format("{} +- {}", seconds_text(m.mean), seconds_text(m.half));
}

const char* words_of(Says says) {
  switch (says) {
    case Says::kWins:
      return "wins";
    case Says::kLoses:
      return "loses";
    case Says::kNothing:
      return "no difference is shown";
    case Says::kSeldom:
      return "seen too seldom";
  }
  return "";
}

std::string name_of(Says says) {
  switch (says) {
    case Says::kWins:
      return "wins";
    case Says::kLoses:
      return "loses";
    case Says::kNothing:
      return "undecided";
    case Says::kSeldom:
      return "estimated";
  }
  return "";
}

std::string end_words(const MeasuredChain& chain) {
  const auto most = std::max_element(chain.ended_by.begin(), chain.ended_by.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string where =
      chain.ending.address.empty() && chain.ending.file.empty() ? "" : " at " + short_text(chain.ending);
  if (most == chain.ended_by.end()) return "its end is not known";
  if (most->first == "touch") return fmt::format("its data are used{} (byte {})", where, chain.offset);
  if (most->first == "overlap") return "a message uses the same memory" + where;
  if (most->first == "call") return fmt::format("a call{} that must not be crossed", where);
  return "the end of the program";
}

std::string chain_text(const MeasuredChain& chain) {
  std::string text = fmt::format("{}\n", title_of_places(chain.contexts));
  const auto line = [&text](const std::string& words) { text += "    " + words + "\n"; };
  line(fmt::format("seen {} on {}, until {}; {} of computing in between", number_of(chain.count, "time"),
                   number_of(chain.ranks, "rank"), end_words(chain), seconds_text(chain.between.mean)));
  if (!chain.is_measured()) {
    line(fmt::format(
        "seen too seldom to be measured; estimated from the network: {} as written, {} if all its "
        "messages are under way together",
        seconds_text(chain.estimated_blocking), seconds_text(chain.estimated_deferred)));
    return text;
  }
  const Measured by_hand = chain.by_hand(), at_run_time = chain.at_run_time();
  line(fmt::format("in MPI: {} as written ({}), {} non-blocking ({})", with_interval(chain.blocking),
                   number_of(chain.blocking.count, "time"), with_interval(chain.deferred),
                   number_of(chain.deferred.count, "time")));
  line(fmt::format("non-blocking saves {} each time: {}; {} in all, over all ranks", with_interval(by_hand),
                   words_of(verdict(chain, by_hand)), seconds_text(chain.total_s())));
  line(fmt::format("protection, faults and copies take {}: at run time deferring saves {}: {}",
                   with_interval(chain.overhead), with_interval(at_run_time),
                   words_of(verdict(chain, at_run_time))));
  if (chain.undisturbed_deferred > 0)
    line(fmt::format("undisturbed, when nobody waits: {} as written, {} deferred at run time",
                     seconds_text(chain.undisturbed_blocking), seconds_text(chain.undisturbed_deferred)));
  if (chain.round_blocking.count > 1 && chain.round_deferred.count > 1)
    line(fmt::format("once around, with all that is between: {} as written, {} non-blocking",
                     with_interval(chain.round_blocking), with_interval(chain.round_deferred)));
  return text;
}

Json json_of(const Measured& m) {
  return {{"count", m.count}, {"mean_s", m.mean}, {"interval_s", m.half}};
}

Json json_of(const MeasuredChain& chain) {
  Json json;
  json["title"] = title_of_places(chain.contexts);
  json["contexts"] = Json::array();
  for (const Place& place : chain.contexts) json["contexts"].push_back(json_of(place));
  json["count"] = chain.count;
  json["ranks"] = chain.ranks;
  json["ended_by_count"] = Json::object();
  for (const auto& [why, count] : chain.ended_by) json["ended_by_count"][why] = count;
  json["ending"] = json_of(chain.ending);
  json["ending"]["offset"] = chain.offset;
  json["ending"]["inexact"] = chain.inexact;
  json["measured"] = chain.is_measured();
  json["blocking"] = json_of(chain.blocking);
  json["deferred"] = json_of(chain.deferred);
  json["overhead"] = json_of(chain.overhead);
  json["round"] = {{"blocking", json_of(chain.round_blocking)}, {"deferred", json_of(chain.round_deferred)}};
  json["undisturbed"] = {{"blocking_s", chain.undisturbed_blocking},
                         {"deferred_s", chain.undisturbed_deferred}};
  json["between"] = json_of(chain.between);
  json["estimated"] = {{"blocking_s", chain.estimated_blocking}, {"deferred_s", chain.estimated_deferred}};
  const auto saving = [&](const Measured& m) {
    return Json{{"mean_s", m.mean}, {"interval_s", m.half}, {"verdict", name_of(verdict(chain, m))}};
  };
  json["by_hand"] = saving(chain.by_hand());
  json["at_run_time"] = saving(chain.at_run_time());
  json["total_s"] = chain.total_s();
  json["line"] = measured_line(chain);
  return json;
}

}  // namespace

std::string title_of_places(const std::vector<Place>& places) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, places.size()); ++i)
    text += fmt::format("{}{} at {}", i == 0 ? "" : ", ", places[i].function, short_text(places[i]));
  if (places.size() > kMost) text += fmt::format(" and {} more", places.size() - kMost);
  return text;
}

std::string measured_line(const MeasuredChain& chain) {
  const Measured saving = chain.by_hand();
  if (!chain.is_measured())
    return fmt::format("seen too seldom; estimated from the network: saves {} each time",
                       seconds_text(saving.mean));
  return fmt::format("{} as written, {} non-blocking: saves {} each time ({}); protected at run time {}",
                     seconds_text(chain.blocking.mean), seconds_text(chain.deferred.mean),
                     with_interval(saving), words_of(verdict(chain, saving)),
                     words_of(verdict(chain, chain.at_run_time())));
}

std::string measurement_text(const Measurement& m) {
  constexpr std::size_t kMost = 12;
  std::string text = fmt::format(
      "{} on {}, on this machine's MPI: chains of blocking messages as written, and "
      "non-blocking in turn\n\n",
      m.application, number_of(m.ranks, "rank"));
  for (const auto& [why, ranks] : m.stopped)
    text += fmt::format("{} measured no further: {}\n", number_of(ranks, "rank"), why);
  if (m.chains.empty()) text += "No blocking message could be deferred.\n";
  for (std::size_t i = 0; i < std::min(kMost, m.chains.size()); ++i) text += chain_text(m.chains[i]);
  if (m.chains.size() > kMost)
    text += fmt::format("and {} more\n", number_of(m.chains.size() - kMost, "chain"));
  if (m.not_deferrable > 0)
    text += fmt::format(
        "{} left as it was written\n",
        number_of(m.not_deferrable, "blocking send or receive was", "blocking sends and receives were"));
  text += "\nOn this machine:";
  for (const auto& [bytes, s] : m.protecting)
    text += fmt::format(" protecting {} kB takes {};", bytes / 1024, seconds_text(s));
  text += "\n  a message";
  for (const MessageTime& t : m.messages)
    text += fmt::format(" of {} bytes {} ({} to {});", t.bytes, seconds_text(t.median), seconds_text(t.least),
                        seconds_text(t.most));
  text.back() = '\n';
  return text;
}

std::string measurement_json(const Measurement& m) {
  Json json;
  json["schema"] = kMeasuredSchema;
  json["application"] = m.application;
  json["ranks"] = m.ranks;
  json["chains"] = Json::array();
  for (const MeasuredChain& chain : m.chains) json["chains"].push_back(json_of(chain));
  json["not_deferrable"] = m.not_deferrable;
  json["stopped"] = Json::object();
  for (const auto& [why, ranks] : m.stopped) json["stopped"][why] = ranks;
  json["protecting"] = Json::array();
  for (const auto& [bytes, s] : m.protecting)
    json["protecting"].push_back({{"bytes", bytes}, {"seconds", s}});
  json["messages"] = Json::array();
  for (const MessageTime& t : m.messages)
    json["messages"].push_back(
        {{"bytes", t.bytes}, {"least_s", t.least}, {"median_s", t.median}, {"most_s", t.most}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::map<std::string, std::string>> measured_lines(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("schema") ||
      json["schema"] != kMeasuredSchema || !json.contains("chains") || !json["chains"].is_array())
    return Error{"it is no measurement of overlap", "measure again: nplus1 overlap measure"};
  std::map<std::string, std::string> lines;
  for (const Json& chain : json["chains"])
    if (chain.is_object() && chain.contains("title") && chain["title"].is_string() &&
        chain.contains("line") && chain["line"].is_string())
      lines.emplace(chain["title"].get<std::string>(), chain["line"].get<std::string>());
  return lines;
}

}  // namespace nplus1::overlap
