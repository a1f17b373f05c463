#include "netmodel/flows/max_min.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::netmodel {
namespace {

/// Rates closer than this, relative to their size, are the same: what rounding leaves behind.
constexpr double kTolerance = 1e-12;
/// Demands are sums of many changes; whether a link is full is decided exactly once it is evaluated.
constexpr double kDrift = 1e-9;

}  // namespace

MaxMin::Link MaxMin::add_link(double capacity, Sharing sharing) {
  LinkState& link = links_.emplace_back();
  link.capacity = capacity;
  link.sharing = sharing;
  levels_.push_back(kNotFull);
  return static_cast<Link>(links_.size() - 1);
}

MaxMin::Flow MaxMin::add(double weight, double bound, std::span<const Use> uses) {
  if (free_.empty()) {
    free_.push_back(static_cast<Flow>(flows_.size()));
    flows_.emplace_back();
  }
  const Flow id = free_.back();
  free_.pop_back();
  FlowState& flow = flows_[id];
  flow.cap = bound * weight;
  flow.level = 0;
  flow.inverse_weight = 1 / weight;
  flow.hops.clear();
  double level = kNotFull;
  for (const Use& use : uses) {
    LinkState& link = links_[use.link];
    const double slope = use.share / weight;
    const auto hop = static_cast<std::uint32_t>(flow.hops.size());
    flow.hops.push_back({slope, use.link, static_cast<std::uint32_t>(link.elements.size())});
    link.elements.push_back({slope, id, hop});
    // No link gives more than all of it: sums of levels stay of the order of capacities.
    flow.cap = std::min(flow.cap, link.capacity / slope);
    level = std::min(level, levels_[use.link]);
  }
  level = std::min(level, flow.cap);
  // A flow that begins with no more than nothing is told to whoever asks, too.
  if (!std::exchange(flow.changed, true)) changed_.push_back(id);
  set_level(id, level);
  return id;
}

/// Whether a flow that takes `demand` of a link may be one that others pass with, or that stops them (level_of_pipe).
bool MaxMin::nearly_takes_all_of(const LinkState& link, double demand) {
  return link.sharing == Sharing::kFatPipe && demand > link.capacity * (1 - kDrift);
}

void MaxMin::remove(Flow id) {
  FlowState& flow = flows_[id];
  for (const Hop& hop : flow.hops) {
    LinkState& link = links_[hop.link];
    const Element last = link.elements.back();
    link.elements.pop_back();
    if (last.flow != id) {
      link.elements[hop.place] = last;
      flows_[last.flow].hops[last.hop].place = hop.place;
    }
    link.demand -= hop.slope * flow.level;
    if (link.elements.empty()) {
      link.demand = 0;  // and what rounding has left there
      levels_[hop.link] = kNotFull;
    } else if (levels_[hop.link] != kNotFull || nearly_takes_all_of(link, hop.slope * flow.level)) {
      enqueue(hop.link);
    }
  }
  flow.hops.clear();
  flow.changed = false;
  free_.push_back(id);
}

void MaxMin::enqueue(Link id) {
  LinkState& link = links_[id];
  if (std::exchange(link.queued, true)) return;
  queue_.emplace(levels_[id], id);
}

/// Queues the links to which it makes a difference. To a full link two levels above its own are the same.
void MaxMin::set_level(Flow id, double level) {
  FlowState& flow = flows_[id];
  const double before = std::exchange(flow.level, level);
  if (!std::exchange(flow.changed, true)) changed_.push_back(id);
  for (const Hop& hop : flow.hops) {
    LinkState& link = links_[hop.link];
    link.demand += hop.slope * (level - before);
    const bool fills = link.sharing == Sharing::kShared
                           ? link.demand > link.capacity * (1 - kDrift)
                           : nearly_takes_all_of(link, hop.slope * std::max(before, level));
    const double full_at = levels_[hop.link];
    const bool matters = full_at != kNotFull ? std::min(before, level) < full_at : fills;
    if (matters) enqueue(hop.link);
  }
}

/// The level of the element's flow if this link gave it all it wants.
double MaxMin::elsewhere(const Element& element) const {
  const FlowState& flow = flows_[element.flow];
  double level = flow.cap;
  for (std::uint32_t h = 0; h < flow.hops.size(); ++h)
    if (h != element.hop) level = std::min(level, levels_[flow.hops[h].link]);
  return level;
}

void MaxMin::look_elsewhere(const LinkState& link) {
  elsewhere_.clear();
  for (const Element& element : link.elements) elsewhere_.push_back(elsewhere(element));
}

std::optional<std::uint32_t> MaxMin::limited_by(Flow id) const {
  const FlowState& flow = flows_[id];
  if (flow.level >= flow.cap * (1 - kTolerance)) return std::nullopt;
  const auto level = [&](const Hop& hop) { return levels_[hop.link]; };
  const double lowest = level(*std::ranges::min_element(flow.hops, {}, level));
  const auto first = std::ranges::find_if(
      flow.hops, [&](const Hop& hop) { return level(hop) <= lowest * (1 + kTolerance); });
  return static_cast<std::uint32_t>(first - flow.hops.begin());
}

/// The level at which what is in open_ takes the capacity, which is less than all of it would take.
/// Newton's method on a concave function of straight pieces: from the left it never goes beyond the root, and each pass
/// leaves at least one piece behind.
double MaxMin::fill(double capacity) {
  double slopes = 0;
  for (const auto& [level, slope] : open_) slopes += slope;
  double level = capacity / slopes;
  for (;;) {
    std::size_t left = 0;
    slopes = 0;
    for (const auto& element : open_) {
      if (element.first <= level) {
        capacity -= element.first * element.second;
      } else {
        slopes += element.second;
        open_[left++] = element;
      }
    }
    if (left == open_.size() || left == 0) return level;
    open_.resize(left);
    level = std::max(level, capacity / slopes);
  }
}

/// The lowest level at which a flow takes all of a fat pipe. A flow for which the pipe is the narrowest link on its way takes
/// exactly all; whether that is so in doubles depends on the last digits of weights. SimGrid asks the same of the same
/// doubles, and where one flow falls short it lets all pass that need the same level but for rounding.
double MaxMin::level_of_pipe(const LinkState& link) {
  open_.clear();  // the level that takes all, and the flow's level elsewhere
  for (std::size_t i = 0; i < link.elements.size(); ++i) {
    const double most = elsewhere_[i];
    const double all = link.capacity / link.elements[i].slope;
    if (most >= all * (1 - kTolerance)) open_.emplace_back(all, most);
  }
  std::ranges::sort(open_);
  for (auto first = open_.begin(); first != open_.end();) {
    const double level = first->first;
    const auto same = [&](const std::pair<double, double>& flow) {
      return flow.first <= level * (1 + kTolerance);
    };
    const auto end = std::find_if_not(first, open_.end(), same);
    if (std::all_of(first, end, [&](const auto& flow) { return flow.second >= level; })) return level;
    first = end;
  }
  return kNotFull;
}

/// After look_elsewhere().
double MaxMin::level_of(const LinkState& link) {
  if (link.sharing == Sharing::kFatPipe) return level_of_pipe(link);
  open_.clear();
  double demand = 0;
  for (std::size_t i = 0; i < link.elements.size(); ++i) {
    const double slope = link.elements[i].slope;
    demand += slope * elsewhere_[i];
    open_.emplace_back(elsewhere_[i], slope);
  }
  return demand <= link.capacity ? kNotFull : fill(link.capacity);
}

void MaxMin::evaluate(Link id, double tolerance) {
  LinkState& link = links_[id];
  ++effort_.links;
  effort_.flows += link.elements.size();
  look_elsewhere(link);
  const double full_at = levels_[id] = level_of(link);
  link.queued = true;  // what its own flows are given is no news to it
  double demand = 0;
  for (std::size_t i = 0; i < link.elements.size(); ++i) {
    const Element& element = link.elements[i];
    const double level = std::min(full_at, elsewhere_[i]);
    const double before = flows_[element.flow].level;
    if (std::abs(level - before) > tolerance * std::max(level, before)) set_level(element.flow, level);
    demand += element.slope * flows_[element.flow].level;
  }
  link.demand = demand;  // without what rounding has added to it
  link.queued = false;
}

void MaxMin::settle(std::vector<Flow>& changed) {
  // Each round of a hundred evaluations for each link doubles the tolerance: rounding alone can take so long.
  const std::uint64_t patience = 100 * (links_.size() + 1);
  std::uint64_t begin = effort_.links;
  double tolerance = kTolerance;
  while (!queue_.empty()) {
    const Link link = queue_.top().second;
    queue_.pop();
    links_[link].queued = false;
    evaluate(link, tolerance);
    if (effort_.links - begin < patience) continue;
    begin = effort_.links;
    tolerance *= 2;
  }
  const std::size_t known = changed.size();
  for (const Flow flow : changed_)
    if (std::exchange(flows_[flow].changed, false)) changed.push_back(flow);
  changed_.clear();
  ++effort_.settled;
  effort_.changed += changed.size() - known;
  effort_.present += flows_.size() - free_.size();
}

}  // namespace nplus1::netmodel
