// The search of `nplus1 map`: placements by rules, replayed, the best of them improved by swaps that are replayed.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "cli/failure.hpp"
#include "cli/map.hpp"
#include "cli/scratch_folder.hpp"
#include "cli/whatif.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/children.hpp"
#include "netmodel/simgrid/load.hpp"

namespace nplus1::cli {
namespace {

namespace fs = std::filesystem;
using events::recording::Reader;
using hypothesis::Placement;
using hypothesis::PlacementProblem;
using netmodel::LinkUsage;

/// So many swaps are replayed before the best of them is taken: as many on any number of cores, so that the result does
/// not depend on it.
constexpr std::size_t kBatch = 8;
constexpr std::size_t kMostHeldUp = 32;  // pairs of ranks that a replay tells of

/// What a replay of one placement came to.
struct Tried {
  Time end{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held_up;  // pairs of ranks, the longest first
};

using Json = nlohmann::json;

Error no_links() {
  return {"SimGrid itself simulates this platform, and does not tell of links",
          "nplus1 doctor --platform says why"};
}

Result<hypothesis::ReplayResult> replay_with(const ReplayWords& words, const std::string& map) {
  auto reader = Reader::open(words.source);
  if (!reader) return reader.error();
  const auto recorded = hypothesis::recorded_settings(reader.value().properties());
  ReplayWords here = words;
  here.platform.map = map;
  const auto prepared = prepare_replay(here, recorded, reader.value().header().ranks);
  prepared->options.watch_links = true;
  prepared->options.decisions = hypothesis::Decisions::kRecorded;
  auto result = hypothesis::replay(reader.value(), prepared->options);
  if (!result) return result.error();
  if (result.value().state != simnode::engine::State::kFinished)
    return Error{"the recorded program does not come to its end on " + words.platform.platform,
                 "nplus1 replay says why"};
  if (!result.value().links) return no_links();
  return result;
}

/// The first replay: all that is exchanged, and the hosts.
std::string traffic_text(const hypothesis::ReplayResult& result) {
  Json all;
  all["end"] = result.makespan().time_since_epoch().count();
  all["hosts"] = result.links->hosts;
  Json& sent = all["sent"] = Json::array();
  for (const LinkUsage::Stream& s : result.links->streams)
    sent.push_back({s.source.value, s.destination.value, static_cast<double>(s.bytes)});
  return all.dump();
}

/// Empty messages between all pairs of places show their routes.
Result<std::string> routes_text(const ReplayWords& words, const std::string& map, int ranks) {
  ReplayWords here = words;
  here.platform.map = map;
  const auto network = replay_network(here, {}, ranks);
  const auto flows = network->flows();
  flows->watch_links();
  for (std::int32_t from = 0; from < ranks; ++from)
    for (std::int32_t to = 0; to < ranks; ++to)
      flows->start(static_cast<std::uint32_t>(from * ranks + to), RankId{from}, RankId{to}, Bytes{},
                   kTimeZero, 0);
  std::vector<netmodel::Flows::Completion> done;
  while (!flows->idle()) flows->advance(kNever, done);
  const auto watched = flows->link_usage();
  if (!watched) return no_links();
  const LinkUsage& usage = *watched;
  Json all;
  Json& cost = all["seconds_per_byte"] = Json::array();
  for (const LinkUsage::Link& link : usage.links) cost.push_back(link.fat_pipe ? 0 : 1 / link.bandwidth);
  Json& ways = all["ways"] = Json::array();
  for (const LinkUsage::Stream& s : usage.streams)
    ways.push_back({s.source.value, s.destination.value,
                    usage.hosts[s.source.index()] == usage.hosts[s.destination.index()]
                        ? std::vector<LinkUsage::Number>{}
                        : usage.routes[s.route]});
  return all.dump();
}

std::string tried_text(const hypothesis::ReplayResult& result) {
  std::vector<const LinkUsage::Stream*> streams;
  for (const LinkUsage::Stream& s : result.links->streams)
    if (s.source != s.destination) streams.push_back(&s);
  const std::size_t most = std::min(kMostHeldUp, streams.size());
  std::ranges::partial_sort(streams, streams.begin() + static_cast<std::ptrdiff_t>(most),
                            [](const LinkUsage::Stream* a, const LinkUsage::Stream* b) {
                              return std::tuple{a->held_up, a->flowing, b->source, b->destination} >
                                     std::tuple{b->held_up, b->flowing, a->source, a->destination};
                            });
  Json all;
  all["end"] = result.makespan().time_since_epoch().count();
  Json& pairs = all["held_up"] = Json::array();
  for (std::size_t i = 0; i < most; ++i)
    pairs.push_back({streams[i]->source.value, streams[i]->destination.value});
  return all.dump();
}

class Search {
 public:
  explicit Search(const MapWords& words) : words_{words}, draw_{words.seed} {
    Reader reader = or_fail(Reader::open(words.replay.source), ExitCode::kNoInput, kNothingMapped);
    ranks_ = reader.header().ranks;
    result_.application = hypothesis::recorded_settings(reader.properties()).application;
    result_.platform = words.replay.platform.platform;
    if (ranks_ < 1 || ranks_ > kMostRanks)
      throw Failure{ExitCode::kUsage,
                    fmt::format("{} ranks are more than the {} that can be placed", ranks_, kMostRanks),
                    kNothingMapped, "replay with map files of your own"};
  }

  MapSearch run() {
    survey();
    add("start", hypothesis::as_it_is(problem_.n));
    add("fewest hops", improved(problem_, greedy(problem_), hypothesis::Measure::kHopBytes));
    add("even links", improved(problem_, hypothesis::as_it_is(problem_.n), hypothesis::Measure::kUnevenness));
    add("fewest hops, then even links",
        improved(problem_, result_.trials[1].placement, hypothesis::Measure::kUnevenness));
    for (const std::string& file : words_.also) add(file, read_map(file));
    std::vector<Placement> placements;
    for (const MapTrial& trial : result_.trials) placements.push_back(trial.placement);
    const std::vector<Tried> tried = replays(placements);
    for (std::size_t i = 0; i < tried.size(); ++i) {
      result_.trials[i].end = tried[i].end;
      if (tried[i].end < result_.trials[result_.best].end) result_.best = i;
    }
    climb(tried[result_.best]);
    confirm();
    return std::move(result_);
  }

 private:
  static constexpr std::int32_t kMostRanks = 512;

  std::vector<std::string> in_children(std::size_t count, const hypothesis::Work& work) const {
    return or_fail(hypothesis::in_children(count, jobs_of(words_.replay), guarded(work), [](std::size_t) {}),
                   ExitCode::kNoInput, kNothingMapped);
  }
  static hypothesis::Work guarded(const hypothesis::Work& work) {
    return [work](std::size_t i) -> Result<std::string> {
      try {
        return work(i);
      } catch (const Failure& failure) {
        return Error{failure.what(), failure.next()};
      }
    };
  }

  /// Who exchanges what, and how places are joined.
  void survey() {
    const auto texts = in_children(2, [&](std::size_t i) -> Result<std::string> {
      if (i == 1) return routes_text(words_.replay, words_.start, ranks_);
      const auto result = replay_with(words_.replay, words_.start);
      if (!result) return result.error();
      return traffic_text(result.value());
    });
    const Json traffic = Json::parse(texts[0]);
    const Json routes = Json::parse(texts[1]);
    result_.hosts = traffic["hosts"].get<std::vector<std::string>>();
    problem_.n = static_cast<std::size_t>(ranks_);
    problem_.sent.resize(problem_.n);
    for (const Json& s : traffic["sent"])
      if (s[0] != s[1]) problem_.sent[s[0].get<std::size_t>()].push_back({s[1], s[2]});
    problem_.seconds_per_byte = routes["seconds_per_byte"].get<std::vector<double>>();
    problem_.ways.resize(problem_.n * problem_.n);
    for (const Json& w : routes["ways"])
      problem_.ways[w[0].get<std::size_t>() * problem_.n + w[1].get<std::size_t>()] =
          w[2].get<std::vector<LinkUsage::Number>>();
  }

  void add(std::string name, Placement placement) {
    const double cost = hop_bytes(problem_, placement);
    result_.trials.push_back({std::move(name), std::move(placement), {}, cost});
  }

  /// A map file on the start's hosts.
  Placement read_map(const std::string& file) const {
    std::ifstream in{file};
    std::multimap<std::string, std::uint32_t> free;
    for (std::uint32_t place = 0; place < problem_.n; ++place) free.emplace(result_.hosts[place], place);
    Placement placement;
    for (std::string line; std::getline(in, line);) {
      std::istringstream names{line.substr(0, line.find('#'))};
      for (std::string name; names >> name;) {
        const auto place = free.find(name);
        if (place == free.end() || placement.size() == problem_.n)
          throw Failure{ExitCode::kUsage,
                        fmt::format("{}: '{}' is not among the start's hosts, or too often", file, name),
                        kNothingMapped,
                        "--also takes placements on the hosts of --start, a name for each rank"};
        placement.push_back(place->second);
        free.erase(place);
      }
    }
    if (placement.size() != problem_.n)
      throw Failure{ExitCode::kUsage,
                    fmt::format("{} names hosts for {} of {} ranks", file, placement.size(), problem_.n),
                    kNothingMapped, "--also takes map files, as --map does"};
    return placement;
  }

  std::vector<Tried> replays(const std::vector<Placement>& placements) {
    std::vector<std::string> files;
    for (const Placement& placement : placements) {
      files.push_back((scratch_.path() / std::to_string(result_.replays++)).string());
      std::ofstream out{files.back()};
      for (const std::uint32_t place : placement) out << result_.hosts[place] << '\n';
    }
    const auto texts = in_children(files.size(), [&](std::size_t i) -> Result<std::string> {
      const auto result = replay_with(words_.replay, files[i]);
      if (!result) return result.error();
      return tried_text(result.value());
    });
    std::vector<Tried> all;
    for (const std::string& text : texts) {
      const Json json = Json::parse(text);
      Tried& tried = all.emplace_back();
      tried.end = Time{Duration{json["end"].get<std::int64_t>()}};
      for (const Json& pair : json["held_up"]) tried.held_up.emplace_back(pair[0], pair[1]);
    }
    return all;
  }

  /// One of two ranks whose messages are held up changes places with any other.
  Placement neighbour(const Placement& placement, const Tried& now) {
    Placement next = placement;
    const auto any = [&](std::size_t n) { return static_cast<std::uint32_t>(draw_() % n); };
    for (std::uint32_t swaps = any(4) == 0 ? 2 : 1; swaps > 0; --swaps) {
      std::uint32_t a = any(problem_.n);
      if (!now.held_up.empty() && any(4) != 0) {
        const auto& pair = now.held_up[any(now.held_up.size())];
        a = any(2) == 0 ? pair.first : pair.second;
      }
      std::swap(next[a], next[any(problem_.n)]);
    }
    return next;
  }

  void climb(Tried now) {
    MapTrial best = result_.trials[result_.best];
    best.name = "found by replays";
    std::set<Placement> seen{best.placement};
    const auto budget = static_cast<std::size_t>(std::max(0, words_.replays));
    while (result_.replays < budget) {
      std::vector<Placement> tries;
      const std::size_t wanted = std::min(kBatch, budget - result_.replays);
      for (int attempts = 0; tries.size() < wanted && attempts < 200; ++attempts)
        if (Placement next = neighbour(best.placement, now); seen.insert(next).second)
          tries.push_back(std::move(next));
      if (tries.empty()) break;
      const std::vector<Tried> tried = replays(tries);
      const auto least = std::ranges::min_element(tried, {}, &Tried::end);
      if (least->end >= best.end) continue;
      best.end = least->end;
      best.placement = tries[static_cast<std::size_t>(least - tried.begin())];
      now = *least;
      ++result_.steps;
    }
    if (result_.steps == 0) return;
    best.hop_bytes = hop_bytes(problem_, best.placement);
    result_.trials.push_back(std::move(best));
    result_.best = result_.trials.size() - 1;
  }

  /// The best one once more, beside the start.
  void confirm() {
    const MapTrial& best = result_.trials[result_.best];
    const std::vector<Tried> again = replays({result_.trials[0].placement, best.placement});
    if (again[0].end != result_.trials[0].end || again[1].end != best.end)
      throw Failure{ExitCode::kSoftware, "a placement that is replayed again takes another time",
                    kNothingMapped, "please report this"};
  }

  const MapWords& words_;
  ScratchFolder scratch_{kNothingMapped};
  std::mt19937_64 draw_;
  std::int32_t ranks_ = 0;
  PlacementProblem problem_;
  MapSearch result_;
};

}  // namespace

MapSearch search_map(const MapWords& words) {
  return Search{words}.run();
}

}  // namespace nplus1::cli
