#include "netmodel/flows/link_account.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "netmodel/flows/link_flows.hpp"

namespace nplus1::netmodel {
namespace {

std::int64_t ps(Time time) {
  return time.time_since_epoch().count();
}

}  // namespace

LinkAccount::Link& LinkAccount::link(MaxMin::Link id) {
  if (id >= links_.size()) links_.resize(id + 1);
  return links_[id];
}

LinkAccount::Stream LinkAccount::new_stream(RankId source, RankId destination, std::uint32_t cause,
                                            const Route& route) {
  streams_.push_back({source, destination, cause, &route, 0, 0, {}, {}, {}});
  for (const MaxMin::Use& use : route.uses) static_cast<void>(link(use.link));
  return static_cast<Stream>(streams_.size() - 1);
}

LinkAccount::Passage LinkAccount::begin(Stream number, std::uint64_t payload, Time now) {
  Kept& stream = streams_[number];
  ++stream.messages;
  stream.bytes += payload;
  Passage passage;
  passage.stream = number;
  passage.began = now;
  for (const MaxMin::Link id : stream.route->way) {
    Link& crossed = links_[id];
    passage.met |= crossed.passing > 0;
    ++crossed.passing;
    passage.joined += ++crossed.joined;
  }
  return passage;
}

void LinkAccount::charge(Passage& passage, Duration time) {
  Kept& stream = streams_[passage.stream];
  stream.by.resize(stream.route->uses.size());
  stream.by[passage.limited_by] += time;
  passage.charged += time;
}

void LinkAccount::charge(Passage& passage, double seconds, double speed, double alone) {
  if (passage.limited_by == kByNothing || speed >= alone) return;
  charge(passage, from_seconds(seconds * (1 - speed / alone)));
}

/// What rounding leaves over goes to the link that has limited it last, so that sums are exact.
void LinkAccount::end(Passage& passage, Duration held_up, Time now) {
  if (held_up != passage.charged && !streams_[passage.stream].route->uses.empty()) {
    if (passage.limited_by == kByNothing) passage.limited_by = 0;
    charge(passage, held_up - passage.charged);
  }
  Kept& stream = streams_[passage.stream];
  std::uint64_t joined = 0;
  for (const MaxMin::Link id : stream.route->way) {
    --links_[id].passing;
    joined += links_[id].joined;
  }
  ++messages_;
  if (passage.met || joined > passage.joined) ++met_;
  if (held_up > Duration::zero()) ++slowed_;
  stream.flowing += now - passage.began;
  stream.held_up += held_up;
}

/// Of the narrowest bins that reach there.
std::uint32_t LinkAccount::shift_for(Time end) {
  std::uint32_t shift = kNarrowest;
  while (static_cast<std::size_t>(ps(end) >> shift) >= kBins) ++shift;
  return shift;
}

/// Bins become twice as wide, and neighbours one, until they are 2^`shift` ps wide.
void LinkAccount::widen(Link& link, std::uint32_t shift) {
  for (; link.shift < shift; ++link.shift) {
    if (link.bins.empty()) continue;
    for (std::size_t i = 0; i < kBins / 2; ++i) link.bins[i] = link.bins[2 * i] + link.bins[2 * i + 1];
    std::fill(link.bins.begin() + kBins / 2, link.bins.end(), 0.0F);
  }
}

void LinkAccount::integrate(Link& link, Time now) {
  const Time since = std::exchange(link.since, now);
  if (link.used <= 0 || now <= since) return;
  link.busy += now - since;
  if (link.is_full) link.full += now - since;
  link.carried += link.used * seconds(now - since);
  link.bins.resize(kBins);
  widen(link, shift_for(now));
  for (std::int64_t from = ps(since); from < ps(now);) {
    const std::int64_t bin = from >> link.shift;
    const std::int64_t to = std::min(ps(now), (bin + 1) << link.shift);
    link.bins[static_cast<std::size_t>(bin)] += static_cast<float>(link.used * seconds(Duration{to - from}));
    from = to;
  }
}

void LinkAccount::set(MaxMin::Link id, double used, bool full, Time now) {
  Link& changed = links_[id];
  integrate(changed, now);
  changed.used = used;
  changed.is_full = full;
}

LinkUsage LinkAccount::usage(const LinkNetwork& network, Time now) const {
  LinkUsage usage;
  usage.hosts = network.hosts;
  usage.end = now - kTimeZero;
  usage.messages = messages_;
  usage.met = met_;
  usage.slowed = slowed_;
  const std::uint32_t shift = shift_for(now);
  usage.bin = Duration{std::int64_t{1} << shift};
  for (Link kept : links_) {
    integrate(kept, now);
    widen(kept, shift);
    const SharedLink told = network.link(static_cast<MaxMin::Link>(usage.links.size()));
    LinkUsage::Link& link = usage.links.emplace_back();
    link.name = told.name;
    link.bandwidth = told.capacity;
    link.fat_pipe = told.sharing == MaxMin::Sharing::kFatPipe;
    link.busy = kept.busy;
    link.full = kept.full;
    link.carried = kept.carried;
    const double most = told.capacity * seconds(usage.bin);
    for (const float bytes : kept.bins) link.load.push_back(static_cast<float>(bytes / most));
  }
  std::map<const Route*, LinkUsage::Number> routes;
  for (const Kept& kept : streams_) {
    const auto [route, fresh] = routes.emplace(kept.route, usage.routes.size());
    if (fresh) usage.routes.push_back(kept.route->way);
    LinkUsage::Stream& stream = usage.streams.emplace_back();
    stream = {kept.source,  kept.destination, kept.cause, route->second, kept.messages, kept.bytes,
              kept.flowing, kept.held_up,     {}};
    for (const MaxMin::Link id : kept.route->way) {
      usage.links[id].messages += kept.messages;
      usage.links[id].bytes += kept.bytes;
    }
    for (std::size_t place = 0; place < kept.by.size(); ++place) {
      if (kept.by[place] == Duration::zero()) continue;
      stream.by.emplace_back(kept.route->uses[place].link, kept.by[place]);
      usage.links[kept.route->uses[place].link].held_up += kept.by[place];
    }
  }
  return usage;
}

}  // namespace nplus1::netmodel
