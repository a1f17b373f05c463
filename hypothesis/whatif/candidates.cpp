#include "hypothesis/whatif/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "hypothesis/replay/sweep.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/parameters.hpp"
#include "netmodel/storage/storage.hpp"
#include "support/shell.hpp"

namespace nplus1::hypothesis {
namespace {

using transform::Step;

constexpr std::string_view kComputing = "computing";  // what such activities are called

/// Activities with one title: the same line, reached by several call paths.
struct Place {
  std::string title, region;
  std::vector<std::uint32_t> paths;
  double time = 0;
};

std::vector<Place> places(const std::vector<RunActivity>& activities, std::size_t most,
                          bool (*wanted)(const RunActivity&)) {
  std::map<std::string, Place> by_title;
  for (const RunActivity& a : activities) {
    if (!wanted(a)) continue;
    Place& place = by_title[a.title];
    place.title = a.title;
    place.region = a.region;
    if (a.path != 0) place.paths.push_back(a.path);
    place.time += a.time;
  }
  std::vector<Place> order;
  for (auto& [title, place] : by_title) order.push_back(std::move(place));
  std::stable_sort(order.begin(), order.end(),
                   [](const Place& a, const Place& b) { return a.time > b.time; });
  if (order.size() > most) order.resize(most);
  return order;
}

/// "#3:7".
std::string numbers(const std::vector<std::uint32_t>& paths) {
  std::string text = "#";
  for (const std::uint32_t path : paths) text += (text.size() == 1 ? "" : ":") + std::to_string(path);
  return text;
}

std::string flag(const Step& step) {
  const std::string text = step.text();
  return fmt::format("--{} {}", step.verb, quote(text.substr(step.verb.size() + 1)));
}

Candidate with_step(std::string kind, std::string what, Step step) {
  Candidate c{std::move(kind), std::move(what), flag(step), {}, "", ""};
  c.steps.push_back(std::move(step));
  return c;
}

bool computes(const RunActivity& a) {
  return a.kind == kComputing && a.time > 0;
}

bool sends(const RunActivity& a) {
  for (const char* name :
       {"MPI_Send", "MPI_Isend", "MPI_Ssend", "MPI_Issend", "MPI_Bsend", "MPI_Ibsend", "MPI_Rsend",
        "MPI_Irsend", "MPI_Sendrecv", "MPI_Isendrecv", "MPI_Sendrecv_replace", "MPI_Start", "MPI_Startall"})
    if (a.kind == name && a.path != 0) return true;
  return false;
}

/// "all computation", or "the computation before the call in solve (cg.c:42)", of a subject "computing before the call in
/// solve (cg.c:42)".
std::string computation(const std::string& subject) {
  return subject.empty() ? "all computation" : "the computation" + subject.substr(kComputing.size());
}

/// Over the whole run; and each time by itself, which also evens what is now long on one rank, now on
/// another.
void add_balance(const std::string& subject, Step step, bool each_time, std::vector<Candidate>& all) {
  const std::string what = "balance " + computation(subject);
  all.push_back(with_step("balance", what, step));
  all.back().subject = subject;
  if (!each_time) return;
  step.settings.emplace_back("per", "interval");
  all.push_back(with_step("balance", what + " in each step", step));
  all.back().subject = subject;
  all.back().refines = all.size() - 2;
}

/// The same computing without what comes and goes, and then shared evenly: what of a balance is systematic.
void add_steady(const std::string& subject, const Step& balance, std::vector<Candidate>& all) {
  const Step steady{"steady", balance.settings, "--steady"};
  all.push_back(with_step("noise", "take away what comes and goes of " + computation(subject), steady));
  all.back().subject = subject;
  all.back().bound = true;  // nobody can take it away
  all.back().purpose = Purpose::kSteady;
  all.push_back(all.back());
  all.back().what += ", and balance the rest";
  all.back().flags += " " + flag(balance);
  all.back().steps.push_back(balance);
  all.back().purpose = Purpose::kSteadyBalanced;
}

/// `disturbed`: computing may have come and gone with the host, and what of it did is told apart.
void add_balances(const std::vector<RunActivity>& activities, bool disturbed, std::size_t most,
                  std::vector<Candidate>& all) {
  constexpr std::size_t kMostEachTime = 4;
  if (std::none_of(activities.begin(), activities.end(), computes)) return;
  add_balance("", {"balance", {}, "--balance"}, true, all);
  if (disturbed) add_steady("", {"balance", {}, "--balance"}, all);
  std::size_t tried = 0;
  for (const Place& place : places(activities, most, computes)) {
    Step step{"balance", {}, "--balance"};
    if (!place.region.empty())
      step.settings.emplace_back("region", place.region);
    else if (!place.paths.empty())
      step.settings.emplace_back("before", numbers(place.paths));
    else
      continue;
    const std::size_t first = all.size();
    add_balance(place.title, step, tried < kMostEachTime, all);
    if (place.region.empty())
      for (std::size_t i = first; i < all.size(); ++i) all[i].before = place.paths;
    if (tried++ < kMostEachTime && disturbed) add_steady(place.title, step, all);
  }
}

void add_messages(const std::vector<RunActivity>& activities, const RunMessages& messages, std::size_t most,
                  std::vector<Candidate>& all) {
  struct Replacement {
    const char* with;
    const char* contents;  // what the messages must be, as far as it is known
    const char* how;
    const char* condition;  // where it is not known
  };
  constexpr Replacement kReplacements[] = {{"bcast", "same", "MPI_Bcast", "all get the same"},
                                           {"scatter", "different", "MPI_Scatter", ""},
                                           {"reduce", "", "MPI_Reduce", "they are combined"},
                                           {"alltoall", "", "MPI_Alltoall", ""}};
  constexpr const char* kFewestMembers = "3";  // two exchange messages, whatever it is called
  for (const Place& place : places(activities, most, sends)) {
    const std::string from = numbers(place.paths);
    const bool known = std::all_of(place.paths.begin(), place.paths.end(),
                                   [&](std::uint32_t path) { return messages.known.contains(path); });
    const auto add = [&](std::string kind, std::string what, Step step) {
      all.push_back(with_step(std::move(kind), std::move(what), std::move(step)));
      all.back().sites = place.paths;
    };
    add("messages", "leave out the messages of " + place.title, {"delete", {{"sends", from}}, "--delete"});
    all.back().bound = true;
    if (std::all_of(place.paths.begin(), place.paths.end(),
                    [&](std::uint32_t path) { return messages.empty.contains(path); }))
      continue;
    for (const Replacement& r : kReplacements) {
      const bool told = known && r.contents[0] != '\0';
      if (!known && std::string_view{r.contents} == "different") continue;  // nobody can say that they are
      std::string how = fmt::format("replace the messages of {} by {}", place.title, r.how);
      if (told)
        how += r.contents == std::string_view{"same"} ? " (all get the same)" : "";
      else if (r.condition[0] != '\0')
        how += fmt::format(" (if {})", r.condition);
      Step step{"replace", {{"sends", from}, {"with", r.with}, {"fewest", kFewestMembers}}, "--replace"};
      if (told) step.settings.emplace_back("contents", r.contents);
      if (!told && r.condition[0] != '\0') step.settings.emplace_back("prompt", "yes");
      add("replace", how, std::move(step));
      all.back().assumes = !told && r.condition[0] != '\0';
    }
  }
}

/// "MPI_Send at a.c:10, MPI_Send at a.c:14": the titles of the paths, each once.
std::string titles(const std::vector<RunActivity>& activities, const std::set<std::uint32_t>& paths) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> all;
  for (const RunActivity& a : activities)
    if (paths.contains(a.path) && sends(a) && std::find(all.begin(), all.end(), a.title) == all.end())
      all.push_back(a.title);
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + all[i];
  return all.size() > kMost ? text + " ..." : text;
}

/// Blocking calls that follow each other at once, started together. Where a send stands behind a receive, that
/// is right only if it does not send what came of it.
void add_exchanges(const std::vector<RunActivity>& activities, const RunMessages& messages, std::size_t most,
                   std::vector<Candidate>& all) {
  std::size_t tried = 0;
  for (const transform::ExchangeSites& e : messages.exchanges) {
    const std::string title = titles(activities, e.sends);
    const bool combined = std::any_of(e.sends.begin(), e.sends.end(),
                                      [&](std::uint32_t path) { return messages.combined.contains(path); });
    if (title.empty() || tried++ == most) continue;
    const std::vector<std::uint32_t> paths{e.sends.begin(), e.sends.end()};
    Step step{"nonblocking",
              {{"sends", numbers(paths)}, {"post", "0"}, {"wait", "0"}, {"dependent", "yes"}},
              "--nonblocking"};
    const std::string what = "exchange the messages of " + title + " by MPI_Irecv, MPI_Isend and MPI_Waitall";
    if (e.safe) {
      all.push_back(with_step("exchange", what, step));
      all.back().sites = paths;
    }
    // What a collective by hand sends on is made of what it has received.
    if (!e.assumes || combined) continue;
    step.settings.back().second = "no";
    all.push_back(with_step(
        "exchange", what + " (if nothing that is sent depends on what was received just before)", step));
    all.back().sites = paths;
    if (e.safe) all.back().refines = all.size() - 2;
  }
}

void add_networks(const RecordedSettings& recorded, std::vector<Candidate>& all) {
  const auto add = [&all](const char* what, const std::string& network) {
    all.push_back({"network", what, fmt::format("--network {}", quote(network)), {}, network, ""});
    all.back().bound = true;  // nobody has such a network
  };
  add("use an ideal network (no latency, no limit)", "loggops:L=0,o=0,g=0,G=0,O=0");
  struct Limit {
    netmodel::Role role;
    const char* what;
    double value;
  };
  constexpr double kUnlimited = 1e18;
  constexpr Limit kLimits[] = {
      {netmodel::Role::kLatency, "use the network without latency", 0},
      {netmodel::Role::kBandwidth, "use the network with unlimited bandwidth", kUnlimited},
      {netmodel::Role::kTimePerByte, "use the network with unlimited bandwidth", 0}};
  for (const Limit& limit : kLimits)
    if (const auto* parameter = netmodel::parameter_of(recorded.network, limit.role))
      add(limit.what, network_at(recorded.network, {{std::string{parameter->key}, {}}}, {limit.value}));
}

/// What files cost at most, where the program has some, and how much of it is for requests and how much for bytes.
void add_storages(const std::vector<RunActivity>& activities, const RecordedSettings& recorded,
                  std::vector<Candidate>& all) {
  const RunActivity* longest = nullptr;
  for (const RunActivity& a : activities)
    if (a.kind.starts_with("MPI_File_") && a.time > (longest == nullptr ? 0 : longest->time)) longest = &a;
  const auto model = netmodel::parse_storage(recorded.storage);
  if (longest == nullptr || !model) return;
  constexpr double kUnlimited = 1e18;
  const auto add = [&](std::string what, bool latency, bool bandwidth) {
    netmodel::StorageModel storage = model.value();
    if (latency) storage.latency = 0;
    if (bandwidth) storage.client = storage.total = kUnlimited;
    Candidate c{"storage", std::move(what), fmt::format("--storage {}", quote(storage.describe())), {}, "",
                ""};
    c.storage = storage.describe();
    c.bound = true;  // nobody has such a storage
    all.push_back(std::move(c));
  };
  add("use ideal storage (no latency, no limit): most of the files' time is in " + longest->title, true,
      true);
  add("use the storage without latency", true, false);
  add("use the storage with unlimited bandwidth", false, true);
}

/// "MPI_Iallreduce" -> "allreduce", if it has algorithms.
std::string collective_name(const std::string& call) {
  if (call.rfind("MPI_", 0) != 0) return {};
  std::string name = call.substr(4);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto known = [](const std::string& text) {
    const auto all = netmodel::all_algorithms();
    return std::any_of(all.begin(), all.end(),
                       [&](const netmodel::Algorithm& a) { return netmodel::kind_name(a.kind) == text; });
  };
  if (known(name)) return name;
  return !name.empty() && name[0] == 'i' && known(name.substr(1)) ? name.substr(1) : std::string{};
}

/// The recorded algorithms, with another for one kind.
std::string with_algorithm(const std::string& selection, const std::string& kind,
                           std::string_view algorithm) {
  std::string text;
  for (std::size_t at = 0; at < selection.size();) {
    const std::size_t end = std::min(selection.find(',', at), selection.size());
    const std::string item = selection.substr(at, end - at);
    if (item.rfind(kind + "=", 0) != 0) text += item + ",";
    at = end + 1;
  }
  return text + kind + "=" + std::string{algorithm};
}

/// Whether MPI libraries have it: SimGrid's own forms are what its simulations fall back on, and nobody can ask for them.
bool is_advice(const netmodel::Algorithm& algorithm) {
  constexpr std::string_view kSimgrids = "simgrid_";
  return algorithm.name.substr(0, kSimgrids.size()) != kSimgrids;
}

constexpr std::string_view kOfTheNetwork = "hardware";

void add_algorithms(const std::vector<RunActivity>& activities, const RecordedSettings& recorded,
                    std::vector<Candidate>& all) {
  std::map<std::string, double> used;
  for (const RunActivity& a : activities)
    if (const std::string name = collective_name(a.kind); !name.empty()) used[name] += a.time;
  for (const auto& [name, time] : used)
    for (const netmodel::Algorithm& algorithm : netmodel::all_algorithms()) {
      if (time <= 0 || netmodel::kind_name(algorithm.kind) != name || !is_advice(algorithm)) continue;
      const std::string selection = with_algorithm(recorded.collectives, name, algorithm.name);
      all.push_back({"collectives",
                     fmt::format("use the algorithm {} for {}", algorithm.name, name),
                     fmt::format("--collectives {}", quote(selection)),
                     {},
                     "",
                     selection});
      all.back().subject = name;
      if (algorithm.name != kOfTheNetwork) continue;
      all.back().what = fmt::format("have the network do each {} (multicast, combining switches)", name);
      all.back().subject += " by the network";  // beside the best algorithm
      all.back().bound = true;                  // no MPI library can be asked for it
    }
}

}  // namespace

Result<std::vector<RunActivity>> parse_activities(const std::string& text) try {
  std::vector<RunActivity> activities;
  const auto document = nlohmann::json::parse(text);
  for (const auto& a : document.at("activities"))
    activities.push_back({a.at("title").get<std::string>(), a.at("kind").get<std::string>(),
                          a.at("region").is_string() ? a.at("region").get<std::string>() : std::string{},
                          a.at("path").get<std::uint32_t>(), a.at("calls").get<std::uint64_t>(),
                          a.at("time_s").get<double>()});
  return activities;
} catch (const nlohmann::json::exception& error) {
  return Error{std::string{"waitstates.json: "} + error.what(), "write it again"};
}

std::vector<Candidate> candidates_of(const std::vector<RunActivity>& activities, const RunMessages& messages,
                                     const RecordedSettings& recorded, bool disturbed, std::size_t most) {
  std::vector<Candidate> all;
  add_balances(activities, disturbed && !recorded.given_compute(), most, all);
  add_messages(activities, messages, most, all);
  add_exchanges(activities, messages, most, all);
  add_networks(recorded, all);
  add_storages(activities, recorded, all);
  add_algorithms(activities, recorded, all);
  return all;
}

}  // namespace nplus1::hypothesis
