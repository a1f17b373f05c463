// Placements by rules, replayed, the best of them improved by swaps that are replayed.
#include "analyses/map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <tuple>

#include "analyses/scratch_folder.hpp"
#include "events/recording/reader.hpp"
#include "netmodel/link_usage.hpp"
#include "support/processes/children.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
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
struct TriedPlacement {
  Time end{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> held_up;  // pairs of ranks, the longest first
  static constexpr auto kMembers = std::tuple{&TriedPlacement::end, &TriedPlacement::held_up};
};

Error no_links() {
  return {"SimGrid itself simulates this platform, and does not tell of links",
          "nplus1 doctor --platform says why"};
}

Result<hypothesis::ReplayResult> replay_with(const ReplaySettings& settings, const std::string& map) {
  auto reader = Reader::open(settings.source);
  if (!reader) return reader.error();
  const auto recorded = hypothesis::recorded_settings(reader.value().properties());
  ReplaySettings here = settings;
  here.platform.map = map;
  const auto prepared = prepare_replay(here, recorded, reader.value().header().ranks);
  prepared->options.watch_links = true;
  prepared->options.decisions = hypothesis::Decisions::kRecorded;
  auto result = hypothesis::replay(reader.value(), prepared->options);
  if (!result) return result.error();
  if (result.value().state != simnode::engine::State::kFinished)
    return Error{"the recorded program does not come to its end on " + settings.platform.platform,
                 "nplus1 replay says why"};
  if (!result.value().links) return no_links();
  return result;
}

/// The first replay: all that is exchanged, and the hosts. The others: how places are joined.
struct Surveyed {
  std::vector<std::string> hosts;
  std::vector<std::vector<std::pair<std::uint32_t, double>>> sent;  // by rank: to whom, bytes
  std::vector<double> seconds_per_byte;                             // of links
  std::vector<std::vector<LinkUsage::Number>> ways;                 // links between places, n x n
  static constexpr auto kMembers =
      std::tuple{&Surveyed::hosts, &Surveyed::sent, &Surveyed::seconds_per_byte, &Surveyed::ways};
};

Surveyed traffic_of(const hypothesis::ReplayResult& result, std::size_t ranks) {
  Surveyed s;
  s.hosts = result.links->hosts;
  s.sent.resize(ranks);
  for (const LinkUsage::Stream& stream : result.links->streams)
    if (stream.source != stream.destination)
      s.sent[stream.source.index()].emplace_back(static_cast<std::uint32_t>(stream.destination.value),
                                                 static_cast<double>(stream.bytes));
  return s;
}

/// Empty messages between all pairs of places show their routes.
Result<Surveyed> routes_of(const ReplaySettings& settings, const std::string& map, int ranks) {
  ReplaySettings here = settings;
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
  Surveyed s;
  const auto n = static_cast<std::size_t>(ranks);
  for (const LinkUsage::Link& link : usage.links)
    s.seconds_per_byte.push_back(link.fat_pipe ? 0 : 1 / link.bandwidth);
  s.ways.resize(n * n);
  for (const LinkUsage::Stream& stream : usage.streams)
    if (usage.hosts[stream.source.index()] != usage.hosts[stream.destination.index()])
      s.ways[stream.source.index() * n + stream.destination.index()] = usage.routes[stream.route];
  return s;
}

TriedPlacement tried(const hypothesis::ReplayResult& result) {
  std::vector<const LinkUsage::Stream*> streams;
  for (const LinkUsage::Stream& s : result.links->streams)
    if (s.source != s.destination) streams.push_back(&s);
  const std::size_t most = std::min(kMostHeldUp, streams.size());
  std::ranges::partial_sort(streams, streams.begin() + static_cast<std::ptrdiff_t>(most),
                            [](const LinkUsage::Stream* a, const LinkUsage::Stream* b) {
                              return std::tuple{a->held_up, a->flowing, b->source, b->destination} >
                                     std::tuple{b->held_up, b->flowing, a->source, a->destination};
                            });
  TriedPlacement t;
  t.end = result.makespan();
  for (std::size_t i = 0; i < most; ++i)
    t.held_up.emplace_back(static_cast<std::uint32_t>(streams[i]->source.value),
                           static_cast<std::uint32_t>(streams[i]->destination.value));
  return t;
}

class Search {
 public:
  Search(const MapOptions& options, const Progress& progress)
      : options_{options}, progress_{progress}, draw_{options.seed} {
    Reader reader = need(Reader::open(options.replay.source));
    ranks_ = reader.header().ranks;
    result_.application = hypothesis::recorded_settings(reader.properties()).application;
    result_.platform = options.replay.platform.platform;
    if (ranks_ < 1 || ranks_ > kMostRanks)
      throw Stopped{{fmt::format("{} ranks are more than the {} that can be placed", ranks_, kMostRanks),
                     "replay with map files of your own", Fault::kUsage}};
  }

  MapSearch run() {
    survey();
    add("start", hypothesis::as_it_is(problem_.n));
    add("fewest hops", improved(problem_, greedy(problem_), hypothesis::Measure::kHopBytes));
    add("even links", improved(problem_, hypothesis::as_it_is(problem_.n), hypothesis::Measure::kUnevenness));
    add("fewest hops, then even links",
        improved(problem_, result_.trials[1].placement, hypothesis::Measure::kUnevenness));
    for (const std::string& file : options_.also) add(file, read_map(file));
    std::vector<Placement> placements;
    for (const MapTrial& trial : result_.trials) placements.push_back(trial.placement);
    const std::vector<TriedPlacement> outcomes = replays(placements);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      result_.trials[i].end = outcomes[i].end;
      if (outcomes[i].end < result_.trials[result_.best].end) result_.best = i;
    }
    climb(outcomes[result_.best]);
    confirm();
    return std::move(result_);
  }

 private:
  static constexpr std::int32_t kMostRanks = 512;

  template <class Work>
  auto in_children(std::size_t count, const Work& work) const {
    return need(processes::in_children(count, {.jobs = jobs_of(options_.replay)}, work));
  }

  /// Who exchanges what, and how places are joined.
  void survey() {
    ReplaySettings start = options_.replay;
    start.platform.map = options_.start;
    share_network(start, {}, ranks_);
    problem_.n = static_cast<std::size_t>(ranks_);
    auto both = in_children(2, [&](std::size_t i) -> Result<Surveyed> {
      if (i == 1) return routes_of(options_.replay, options_.start, ranks_);
      const auto result = replay_with(options_.replay, options_.start);
      if (!result) return result.error();
      return traffic_of(result.value(), problem_.n);
    });
    result_.hosts = std::move(both[0].hosts);
    problem_.sent.resize(problem_.n);
    for (std::size_t r = 0; r < problem_.n; ++r)
      for (const auto& [to, bytes] : both[0].sent[r]) problem_.sent[r].push_back({to, bytes});
    problem_.seconds_per_byte = std::move(both[1].seconds_per_byte);
    problem_.ways = std::move(both[1].ways);
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
          throw Stopped{{fmt::format("{}: '{}' is not among the start's hosts, or too often", file, name),
                         "--also takes placements on the hosts of --start, a name for each rank",
                         Fault::kUsage}};
        placement.push_back(place->second);
        free.erase(place);
      }
    }
    if (placement.size() != problem_.n)
      throw Stopped{{fmt::format("{} names hosts for {} of {} ranks", file, placement.size(), problem_.n),
                     "--also takes map files, as --map does", Fault::kUsage}};
    return placement;
  }

  std::vector<TriedPlacement> replays(const std::vector<Placement>& placements) {
    std::vector<std::string> files;
    for (const Placement& placement : placements) {
      files.push_back((scratch_.path() / std::to_string(result_.replays++)).string());
      std::ofstream out{files.back()};
      for (const std::uint32_t place : placement) out << result_.hosts[place] << '\n';
    }
    auto outcomes = in_children(files.size(), [&](std::size_t i) -> Result<TriedPlacement> {
      place_shared_network(files[i]);
      const auto result = replay_with(options_.replay, files[i]);
      if (!result) return result.error();
      return tried(result.value());
    });
    const std::size_t all = std::max(result_.replays, budget());
    if (progress_) progress_(result_.replays, all);
    return outcomes;
  }

  /// Replays before the best one is confirmed.
  [[nodiscard]] std::size_t budget() const { return static_cast<std::size_t>(std::max(0, options_.replays)); }

  /// One of two ranks whose messages are held up changes places with any other.
  Placement neighbour(const Placement& placement, const TriedPlacement& now) {
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

  void climb(TriedPlacement now) {
    MapTrial best = result_.trials[result_.best];
    best.name = "found by replays";
    std::set<Placement> seen{best.placement};
    while (result_.replays < budget()) {
      std::vector<Placement> tries;
      const std::size_t wanted = std::min(kBatch, budget() - result_.replays);
      for (int attempts = 0; tries.size() < wanted && attempts < 200; ++attempts)
        if (Placement next = neighbour(best.placement, now); seen.insert(next).second)
          tries.push_back(std::move(next));
      if (tries.empty()) break;
      const std::vector<TriedPlacement> outcomes = replays(tries);
      const auto least = std::ranges::min_element(outcomes, {}, &TriedPlacement::end);
      if (least->end >= best.end) continue;
      best.end = least->end;
      best.placement = tries[static_cast<std::size_t>(least - outcomes.begin())];
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
    const std::vector<TriedPlacement> again = replays({result_.trials[0].placement, best.placement});
    if (again[0].end != result_.trials[0].end || again[1].end != best.end)
      throw Stopped{
          {"a placement that is replayed again takes another time", "please report this", Fault::kBug}};
  }

  const MapOptions& options_;
  const Progress& progress_;
  ScratchFolder scratch_;
  std::mt19937_64 draw_;
  std::int32_t ranks_ = 0;
  PlacementProblem problem_;
  MapSearch result_;
};

}  // namespace

Result<MapSearch> search_map(const MapOptions& options, const Progress& progress) {
  return attempt([&] { return Search{options, progress}.run(); });
}

}  // namespace nplus1::analyses
