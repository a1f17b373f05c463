#include "netmodel/simgrid/platform_links.hpp"

#include <simgrid/s4u.hpp>
#include <xbt/config.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "netmodel/simgrid/link_changes.hpp"
#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

namespace sg = simgrid::s4u;

template <class T>
T setting(const char* key) {
  return simgrid::config::get_value<T>(key);
}

/// What a message takes of the links on the way back: its acknowledgements.
constexpr double kBack = 0.05;

/// In steps: the value of the largest threshold below the size, and 1 below all. Source: SimGrid 3.32, "Configuring
/// SMPI", smpi/bw-factor and smpi/lat-factor.
class Steps {
 public:
  explicit Steps(double always) : below_{always} {}

  static Result<Steps> parse(const char* key) {
    const std::string text = setting<std::string>(key);
    Steps steps{1};
    std::istringstream pieces{text};
    for (std::string piece; std::getline(pieces, piece, ';');) {
      const char* const end = piece.data() + piece.size();
      double from = 0;
      double value = 0;
      const auto first = std::from_chars(piece.data(), end, from);
      const bool two = first.ec == std::errc{} && first.ptr != end && *first.ptr == ':';
      const auto second = two ? std::from_chars(first.ptr + 1, end, value) : first;
      if (!two || second.ec != std::errc{} || second.ptr != end || !(value > 0))
        return Error{std::string{key} + ": " + in_quotes(piece) + " is not SIZE:FACTOR",
                     "An example: 65472:0.94;15424:0.7."};
      steps.steps_.emplace_back(from, value);
    }
    std::ranges::sort(steps.steps_);
    return steps;
  }

  /// The least for any size from `size` on.
  [[nodiscard]] double least_from(double size) const {
    double least = at(size);
    for (const auto& [from, factor] : steps_)
      if (from >= size) least = std::min(least, factor);
    return least;
  }

  [[nodiscard]] double at(double size) const {
    double value = below_;
    for (const auto& [from, factor] : steps_) {
      if (size <= from) break;
      value = factor;
    }
    return value;
  }

 private:
  double below_;
  std::vector<std::pair<double, double>> steps_;  // by size
};

/// Of so many all routes are known to be there (check.cpp), and reading them takes some ten milliseconds.
constexpr std::size_t kMostHostsToLookAhead = 64;

/// What SimGrid reads from a file of its own and changes while time passes.
bool changes_in_time(const std::string& file) {
  std::ifstream in{file};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  constexpr std::array<std::string_view, 4> kWords{"_file=", "<trace", "<include", "<peer"};
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

/// The platform as it is asked for: one for all Flows of a network.
class Routes {
 public:
  Routes(std::vector<sg::Host*> hosts, LinkChanges changes)
      : hosts_{std::move(hosts)},
        changes_{std::move(changes)},
        gamma_{setting<double>("network/TCP-gamma")},
        weight_{setting<double>("network/weight-S")},
        back_{setting<bool>("network/crosstraffic")} {}

  Route between(RankId source, RankId destination) {
    const std::lock_guard guard{lock_};
    sg::Host* const from = hosts_[source.index()];
    sg::Host* const to = hosts_[destination.index()];
    Route route;
    std::vector<sg::Link*> there;
    from->route_to(to, there, &route.latency);
    if (from != to && there.empty() && route.latency <= 0)
      throw MessageRefused{"the platform has no route from " + from->get_name() + " to " + to->get_name()};
    route.weight = route.latency > 0 ? route.latency : 1;
    route.bound = std::numeric_limits<double>::infinity();
    for (const sg::Link* link : there) {
      const double bandwidth = bandwidth_of(*link);
      if (bandwidth <= 0)
        throw MessageRefused{"link " + link->get_name() +
                             " has failed, and the platform's routes know no way around it: " +
                             from->get_name() + " cannot reach " + to->get_name()};
      route.bound = std::min(route.bound, bandwidth);
      if (route.latency > 0) route.weight += weight_ / bandwidth;
      route.way.push_back(use(route, *link, 1));
    }
    if (route.latency > 0) route.bound = std::min(route.bound, gamma_ / (2 * route.latency));
    if (!back_ || there.empty()) return route;
    std::vector<sg::Link*> back;
    to->route_to(from, back, nullptr);
    for (const sg::Link* link : back) static_cast<void>(use(route, *link, kBack));
    return route;
  }

  /// LinkNetwork::lookahead, in latencies of routes.
  double lookahead() {
    const std::lock_guard guard{lock_};
    const std::set<sg::Host*> hosts{hosts_.begin(), hosts_.end()};
    if (hosts.size() > kMostHostsToLookAhead || changes_.any_bursts()) return 0;
    std::set<const sg::Link*> within;
    std::set<const sg::Link*> between;
    double least = std::numeric_limits<double>::infinity();
    for (sg::Host* from : hosts) {
      for (sg::Host* to : hosts) {
        std::vector<sg::Link*> way;
        double latency = 0;
        from->route_to(to, way, &latency);
        (from == to ? within : between).insert(way.begin(), way.end());
        const bool reachable = !way.empty() || latency > 0;
        if (from != to && reachable) least = std::min(least, latency);
      }
    }
    const bool apart =
        std::ranges::none_of(within, [&](const sg::Link* link) { return between.count(link) != 0; });
    return apart && std::isfinite(least) ? least : 0;
  }

  SharedLink link(MaxMin::Link id) {
    const std::lock_guard guard{lock_};
    return links_[id];
  }

 private:
  MaxMin::Link use(Route& route, const sg::Link& link, double share) {
    const auto [known, fresh] = numbers_.emplace(&link, static_cast<MaxMin::Link>(links_.size()));
    const bool pipe = link.get_sharing_policy() == sg::Link::SharingPolicy::FATPIPE;
    if (fresh)
      links_.push_back({std::max(bandwidth_of(link), std::numeric_limits<double>::min()),
                        pipe ? MaxMin::Sharing::kFatPipe : MaxMin::Sharing::kShared, link.get_name()});
    if (const auto bursts = changes_.bursts(link.get_name()); fresh && bursts && !pipe) {
      links_.back().background = bursts->share * links_.back().capacity;
      links_.back().phases = LinkChanges::phases(*bursts, link.get_name());
    }
    const MaxMin::Link number = known->second;
    const auto used = std::find_if(route.uses.begin(), route.uses.end(),
                                   [&](const MaxMin::Use& u) { return u.link == number; });
    if (used == route.uses.end())
      route.uses.push_back({number, share});
    else
      used->share = pipe ? std::max(used->share, share) : used->share + share;
    return number;
  }

  [[nodiscard]] double bandwidth_of(const sg::Link& link) const {
    return link.get_bandwidth() * changes_.factor(link.get_name());
  }

  std::mutex lock_;
  const std::vector<sg::Host*> hosts_;  // by rank
  const LinkChanges changes_;
  const double gamma_;
  const double weight_;
  const bool back_;
  std::unordered_map<const sg::Link*, MaxMin::Link> numbers_;
  std::vector<SharedLink> links_;  // those that routes have named
};

}  // namespace

std::string needs_simgrid(const sg::Engine& engine, const PlatformOptions& options) {
  if (options.simgrid_solver()) return "it is asked for";
  if (options.model != "SMPI" && options.model != "LV08" && options.model != "CM02")
    return "the model is " + options.model;
  if (setting<double>("surf/precision") != kSimgridPrecision) return "surf/precision is set";
  for (const char* key : {"maxmin/precision", "maxmin/concurrency-limit", "network/solver"})
    if (!simgrid::config::is_default(key)) return std::string{key} + " is set";
  if (changes_in_time(options.file)) return "the platform changes while time passes";
  for (const sg::Link* link : engine.get_all_links()) {
    const auto policy = link->get_sharing_policy();
    if (policy == sg::Link::SharingPolicy::WIFI || policy == sg::Link::SharingPolicy::NONLINEAR ||
        !link->is_on())
      return "link " + in_quotes(link->get_name()) + " is shared in a way of its own, or off";
  }
  return {};
}

Result<std::shared_ptr<const LinkNetwork>> links_of(const sg::Engine& engine, std::vector<sg::Host*> hosts,
                                                    const PlatformOptions& options) {
  const bool smpi = options.model == "SMPI";
  auto rate = smpi ? Steps::parse("smpi/bw-factor") : Steps{setting<double>("network/bandwidth-factor")};
  if (!rate) return rate.error();
  auto latency = smpi ? Steps::parse("smpi/lat-factor") : Steps{setting<double>("network/latency-factor")};
  if (!latency) return latency.error();
  auto network = std::make_shared<LinkNetwork>();
  for (const sg::Host* host : hosts) network->hosts.push_back(host->get_name());
  engine.seal_platform();  // which gives hosts their routes to themselves
  auto changes = LinkChanges::parse(options.settings);
  if (!changes) return changes.error();
  std::vector<std::string> names;
  for (const sg::Link* link : engine.get_all_links()) names.push_back(link->get_name());
  if (const std::string unknown = changes.value().unknown(names); !unknown.empty())
    return Error{"the platform has no link " + in_quotes(unknown),
                 "links.csv of a run on it names those that carried something."};
  network->jitter = changes.value().jitter();
  const auto routes = std::make_shared<Routes>(std::move(hosts), std::move(changes).value());
  network->link = [routes](MaxMin::Link id) { return routes->link(id); };
  network->route = [routes](RankId source, RankId destination) {
    return routes->between(source, destination);
  };
  network->lookahead = [routes, factor = latency.value().least_from(kEnvelopeBytes)] {
    return routes->lookahead() * factor;
  };
  network->factors = [rate = std::move(rate).value(), latency = std::move(latency).value()](double size) {
    return Factors{latency.at(size), rate.at(size)};
  };
  network->envelope = kEnvelopeBytes;
  return std::shared_ptr<const LinkNetwork>{std::move(network)};
}

}  // namespace nplus1::netmodel
