#include "overlap/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "report/exact_time.hpp"

namespace nplus1::overlap {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMeasuredSchema = "nplus1-overlap-measured/1";
constexpr std::uint64_t kLeast = 8;  // of each way, on each rank on the mean
constexpr double kNs = 1e-9;

/// Student's t for 95 %, two-sided.
double t_of(double freedom) {
  constexpr std::array<double, 10> kFirst{12.71, 4.303, 3.182, 2.776, 2.571,
                                          2.447, 2.365, 2.306, 2.262, 2.228};
  if (freedom < 1) return kFirst[0];
  if (freedom <= 10) return kFirst[static_cast<std::size_t>(freedom) - 1];
  return 1.96 + 2.4 / freedom + 3.0 / (freedom * freedom);
}

struct OneRank {
  std::uint64_t count = 0;
  double mean = 0, squares = 0;  // nanoseconds
};

/// The ranks' means, weighted; their errors add up as if they were all the same chance.
Measured together(const std::vector<OneRank>& ranks) {
  double count = 0, sum = 0, squares = 0, roots = 0, freedom = 0;
  std::size_t with = 0;
  for (const OneRank& r : ranks) {
    if (r.count == 0) continue;
    const auto n = static_cast<double>(r.count);
    count += n;
    sum += n * r.mean;
    squares += r.squares;
    roots += std::sqrt(n);
    freedom += n - 1;
    ++with;
  }
  Measured made;
  if (with == 0) return made;
  made.count = static_cast<std::uint64_t>(count);
  made.mean = kNs * sum / count;
  const double deviation = freedom > 0 ? std::sqrt(squares / freedom) : 0;
  made.half = kNs * t_of(freedom / static_cast<double>(with)) * deviation * roots / count;
  return made;
}

Measured difference(const Measured& a, const Measured& b) {
  return {std::min(a.count, b.count), a.mean - b.mean, std::hypot(a.half, b.half)};
}

struct RawMessage {
  bool receives = false;
  int peer = -1;
  double bytes = 0;
};

/// A chain of one rank.
struct RawChain {
  int rank = 0;
  std::uint64_t seen = 0;
  std::vector<std::string> calls, frames;  // of each call: its name, and its frames, a line each
  std::vector<RawMessage> messages;
  std::map<std::string, std::uint64_t> ended_by;
  std::uint64_t offset = 0;
  bool inexact = false;
  std::string at;  // its first frame
  std::array<std::array<OneRank, 3>, 2> modes;
  OneRank between;
};

struct Raw {
  std::vector<RawChain> chains;
  std::map<std::pair<int, int>, std::map<std::int64_t, double>> pairs;  // ns by bytes
  std::map<std::int64_t, std::vector<double>> protecting;
};

/// A message's time between two ranks; linear between the sizes that were measured, and beyond. Seconds.
std::optional<double> message_time(const Raw& raw, int a, int b, double bytes) {
  const auto pair = raw.pairs.find({std::min(a, b), std::max(a, b)});
  if (pair == raw.pairs.end() || pair->second.empty()) return std::nullopt;
  const auto& sizes = pair->second;
  auto high = sizes.lower_bound(static_cast<std::int64_t>(bytes));
  if (high == sizes.begin() || sizes.size() == 1) return kNs * sizes.begin()->second;
  if (high == sizes.end()) --high;
  const auto low = std::prev(high);
  const double slope = (high->second - low->second) / static_cast<double>(high->first - low->first);
  return kNs * (low->second + slope * (bytes - static_cast<double>(low->first)));
}

/// What the network says where a chain was seen too seldom: one receive after the other, and all of them at once.
/// Computing hides nothing of it, as most MPI libraries move long messages only while they are called.
void estimate(const Raw& raw, const std::vector<const RawChain*>& ranks, MeasuredChain& chain) {
  double sum = 0, longest = 0, with = 0;
  for (const RawChain* r : ranks) {
    const bool receives =
        std::any_of(r->messages.begin(), r->messages.end(), [](const auto& m) { return m.receives; });
    double all = 0, most = 0;
    for (const RawMessage& m : r->messages) {
      const auto time = m.receives == receives ? message_time(raw, r->rank, m.peer, m.bytes) : std::nullopt;
      all += time.value_or(0);
      most = std::max(most, time.value_or(0));
    }
    sum += all;
    longest += most;
    ++with;
  }
  if (with == 0) return;
  chain.estimated_blocking = chain.blocking.count > 0 ? chain.blocking.mean : sum / with;
  chain.estimated_deferred = std::min(chain.estimated_blocking, longest / with);
}

class Lines {
 public:
  explicit Lines(const std::string& text) : text_{text} {}

  /// Reads all; the line that is not understood, if there is one.
  std::optional<std::string> read(Measurement& to, Raw& raw) {
    std::string line;
    if (!std::getline(text_, line) || line != "nplus1-measured 1") return line;
    while (std::getline(text_, line)) {
      if (line == "end") return std::nullopt;
      std::istringstream words{line};
      std::string word;
      words >> word;
      if (!take(word, words, to, raw)) return line;
    }
    return "(its end is missing)";
  }

 private:
  bool take(const std::string& word, std::istringstream& words, Measurement& to, Raw& raw) {
    if (word == "ranks") return static_cast<bool>(words >> to.ranks);
    if (word == "rank") return static_cast<bool>(words >> rank_);
    if (word == "protect") {
      std::int64_t bytes = 0;
      double ns = 0;
      if (!(words >> bytes >> ns)) return false;
      raw.protecting[bytes].push_back(ns);
      return true;
    }
    if (word == "pair") {
      int a = 0, b = 0;
      std::int64_t bytes = 0;
      double ns = 0;
      if (!(words >> a >> b >> bytes >> ns)) return false;
      raw.pairs[{a, b}][bytes] = ns;
      return true;
    }
    if (word == "stopped") return ++to.stopped[rest(words)] > 0;
    std::uint64_t count = 0;
    if (word == "not-deferrable" || word == "lost") {
      if (!(words >> count)) return false;
      (word == "lost" ? to.lost : to.not_deferrable) += count;
      return true;
    }
    if (word == "chain") {
      if (!(words >> count)) return false;
      raw.chains.push_back({});
      raw.chains.back().rank = rank_;
      raw.chains.back().seen = count;
      return true;
    }
    return !raw.chains.empty() && take(word, words, raw.chains.back());
  }

  bool take(const std::string& word, std::istringstream& words, RawChain& chain) {
    if (word == "call") {
      chain.calls.push_back(rest(words));
      chain.frames.emplace_back();
      return true;
    }
    if (word == "frame") {
      if (chain.frames.empty()) return false;
      std::string& frames = chain.frames.back();
      frames += (frames.empty() ? "" : "\n") + rest(words);
      return true;
    }
    if (word == "message") {
      std::string direction;
      RawMessage m;
      if (!(words >> direction >> m.peer >> m.bytes)) return false;
      m.receives = direction == "receive";
      chain.messages.push_back(m);
      return true;
    }
    if (word == "ended") {
      std::string why;
      std::uint64_t count = 0;
      return (words >> why >> count) && (chain.ended_by[why] = count) > 0;
    }
    if (word == "ending") return static_cast<bool>(words >> chain.offset >> chain.inexact);
    if (word == "at") {
      if (chain.at.empty()) chain.at = rest(words);
      return true;
    }
    if (word == "between") return one(words, chain.between);
    if (word != "blocking" && word != "deferred") return false;
    auto& mode = chain.modes[word == "deferred" ? 1 : 0];
    return one(words, mode[0]) && one(words, mode[1]) && one(words, mode[2]);
  }

  static bool one(std::istringstream& words, OneRank& to) {
    return (words >> to.count >> to.mean >> to.squares) && std::isfinite(to.mean) &&
           std::isfinite(to.squares);
  }
  static std::string rest(std::istringstream& words) {
    std::string text;
    std::getline(words >> std::ws, text);
    return text;
  }

  std::istringstream text_;
  int rank_ = 0;
};

std::string first_line(const std::string& frames) {
  return frames.substr(0, frames.find('\n'));
}

MeasuredChain chain_of(const Raw& raw, const std::vector<const RawChain*>& ranks, const FindPlace& place) {
  MeasuredChain made;
  const RawChain& first = *ranks.front();
  for (std::size_t i = 0; i < first.calls.size(); ++i) {
    made.contexts.push_back(place(first_line(first.frames[i])));
    made.contexts.back().function = first.calls[i];
  }
  std::array<std::array<std::vector<OneRank>, 3>, 2> modes;
  std::vector<OneRank> between;
  for (const RawChain* r : ranks) {
    made.count += r->seen;
    for (const auto& [why, count] : r->ended_by) made.ended_by[why] += count;
    for (std::size_t m = 0; m < 2; ++m)
      for (std::size_t k = 0; k < 3; ++k) modes[m][k].push_back(r->modes[m][k]);
    between.push_back(r->between);
  }
  made.ranks = ranks.size();
  if (!first.at.empty()) made.ending = place(first.at);
  made.offset = first.offset;
  made.inexact = first.inexact;
  made.blocking = together(modes[0][0]);
  made.deferred = together(modes[1][0]);
  made.overhead = together(modes[1][1]);
  made.round_blocking = together(modes[0][2]);
  made.round_deferred = together(modes[1][2]);
  made.between = together(between);
  estimate(raw, ranks, made);
  return made;
}

void summarise_machine(const Raw& raw, Measurement& to) {
  for (const auto& [bytes, times] : raw.protecting) {
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    to.protecting.emplace_back(bytes, kNs * sorted[sorted.size() / 2]);
  }
  std::map<std::int64_t, std::vector<double>> by_size;
  for (const auto& [pair, sizes] : raw.pairs)
    for (const auto& [bytes, ns] : sizes) by_size[bytes].push_back(ns);
  for (auto& [bytes, times] : by_size) {
    std::sort(times.begin(), times.end());
    to.messages.push_back({bytes, kNs * times.front(), kNs * times[times.size() / 2], kNs * times.back()});
  }
}

}  // namespace

bool MeasuredChain::is_measured() const {
  const std::uint64_t least = kLeast * std::max<std::uint64_t>(1, ranks);
  return blocking.count >= least && deferred.count >= least;
}

Measured MeasuredChain::by_hand() const {
  if (!is_measured()) return {0, estimated_blocking - estimated_deferred, 0};
  return difference(blocking, deferred);
}

Measured MeasuredChain::at_run_time() const {
  return difference(by_hand(), overhead);
}

Says verdict(const MeasuredChain& chain, const Measured& saving) {
  if (!chain.is_measured()) return Says::kSeldom;
  if (saving.mean - saving.half > 0) return Says::kWins;
  return saving.mean + saving.half < 0 ? Says::kLoses : Says::kNothing;
}

Result<Measurement> read_measurement(const std::string& text, const FindPlace& place) {
  Measurement made;
  Raw raw;
  if (const auto wrong = Lines{text}.read(made, raw))
    return Error{"what the ranks have measured cannot be read: " + *wrong, "measure again"};
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, std::vector<const RawChain*>> same;
  for (const RawChain& chain : raw.chains) same[{chain.calls, chain.frames}].push_back(&chain);
  for (const auto& [contexts, ranks] : same) made.chains.push_back(chain_of(raw, ranks, place));
  std::stable_sort(made.chains.begin(), made.chains.end(),
                   [](const auto& a, const auto& b) { return a.total_s() > b.total_s(); });
  summarise_machine(raw, made);
  return made;
}

// ---- words ----------------------------------------------------------------------------------------------------

namespace {

std::string seconds_text(double s) {
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
  line(fmt::format("seen {} times on {} rank{}, until {}; {} of computing in between", chain.count,
                   chain.ranks, chain.ranks == 1 ? "" : "s", end_words(chain),
                   seconds_text(chain.between.mean)));
  if (!chain.is_measured()) {
    line(fmt::format(
        "seen too seldom to be measured; estimated from the network: {} as written, {} if all its "
        "messages are under way together",
        seconds_text(chain.estimated_blocking), seconds_text(chain.estimated_deferred)));
    return text;
  }
  const Measured by_hand = chain.by_hand(), at_run_time = chain.at_run_time();
  line(fmt::format("in MPI: {} as written ({} times), {} non-blocking ({} times)",
                   with_interval(chain.blocking), chain.blocking.count, with_interval(chain.deferred),
                   chain.deferred.count));
  line(fmt::format("non-blocking saves {} each time: {}; {} in all, over all ranks", with_interval(by_hand),
                   words_of(verdict(chain, by_hand)), seconds_text(chain.total_s())));
  line(fmt::format("protection, faults and copies take {}: at run time deferring saves {}: {}",
                   with_interval(chain.overhead), with_interval(at_run_time),
                   words_of(verdict(chain, at_run_time))));
  if (chain.round_blocking.count > 1 && chain.round_deferred.count > 1)
    line(fmt::format("once around, with all that is between: {} as written, {} non-blocking",
                     with_interval(chain.round_blocking), with_interval(chain.round_deferred)));
  return text;
}

Json json_of(const Place& place) {
  Json json;
  if (!place.function.empty()) json["function"] = place.function;
  json["file"] = place.file.empty() ? Json(nullptr) : Json(place.file);
  json["line"] = place.line == 0 ? Json(nullptr) : Json(place.line);
  if (place.file.empty()) json["address"] = place.address;
  return json;
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
      "{} on {} ranks, on this machine's MPI: chains of blocking messages as written, and "
      "non-blocking in turn\n\n",
      m.application, m.ranks);
  for (const auto& [why, ranks] : m.stopped)
    text += fmt::format("{} rank{} measured no further: {}\n", ranks, ranks == 1 ? "" : "s", why);
  if (m.chains.empty()) text += "No blocking message could be deferred.\n";
  for (std::size_t i = 0; i < std::min(kMost, m.chains.size()); ++i) text += chain_text(m.chains[i]);
  if (m.chains.size() > kMost) text += fmt::format("and {} chains more\n", m.chains.size() - kMost);
  if (m.not_deferrable > 0)
    text += fmt::format("{} blocking sends and receives were left as they are\n", m.not_deferrable);
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
  if (json.is_discarded() || !json.is_object() || json.value("schema", "") != kMeasuredSchema ||
      !json.contains("chains") || !json["chains"].is_array())
    return Error{"it is no measurement of overlap", "measure again: nplus1 overlap measure"};
  std::map<std::string, std::string> lines;
  for (const Json& chain : json["chains"])
    if (chain.is_object() && chain.contains("title") && chain["title"].is_string() &&
        chain.contains("line") && chain["line"].is_string())
      lines.emplace(chain["title"].get<std::string>(), chain["line"].get<std::string>());
  return lines;
}

}  // namespace nplus1::overlap
