#include "detector/clusters.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace nplus1::detector {
namespace {

/// Union-find over (communicator, call site), numbered as they come.
class Sites {
 public:
  std::uint32_t id(CommId comm, CallSiteId site) {
    const std::uint64_t key = std::uint64_t{comm.value} << 32U | site.value;
    if (key == last_key_ && last_ < parent_.size()) return last_;
    const auto [place, first] = ids_.try_emplace(key, static_cast<std::uint32_t>(parent_.size()));
    if (first) parent_.push_back(place->second);
    last_key_ = key;
    return last_ = place->second;
  }
  std::uint32_t find(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  bool unite(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[a] = b;
    return a != b;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;
  std::vector<std::uint32_t> parent_;
  std::uint64_t last_key_ = 0;
  std::uint32_t last_ = ~std::uint32_t{0};
};

/// Joins the sites through which one payload came to a rank and left it.
void join_by_content(const Transfers& transfers, const std::vector<std::uint32_t>& site, Sites& sites) {
  std::vector<std::pair<std::uint64_t, TransferIndex>> sorted;
  for (TransferIndex i = 0; i < transfers.all.size(); ++i) {
    const Transfer& t = transfers.all[i];
    if (!t.captured() && t.content.hashed() && t.content.bytes > 0) sorted.emplace_back(t.content.key(), i);
  }
  std::ranges::sort(sorted);
  for (std::size_t i = 0, end = 0; i < sorted.size(); i = end) {
    std::uint32_t first = site[sorted[i].second];
    bool several = false;
    for (end = i; end < sorted.size() && sorted[end].first == sorted[i].first; ++end)
      several = several || sites.find(site[sorted[end].second]) != sites.find(first);
    if (!several || transfers.all[sorted[i].second].content.is_constant()) continue;
    std::unordered_map<std::int32_t, std::uint32_t> received;  // at which rank, through which site
    for (std::size_t k = i; k < end; ++k)
      received.emplace(transfers.all[sorted[k].second].destination, site[sorted[k].second]);
    for (std::size_t k = i; k < end; ++k)
      if (const auto r = received.find(transfers.all[sorted[k].second].source); r != received.end())
        sites.unite(site[sorted[k].second], r->second);
  }
}

/// Joins the sites through which a rank sends with one tag what overlaps in its memory without being the same: a
/// vector and its pieces.
void join_by_place(const Transfers& transfers, const std::vector<std::uint32_t>& site, Sites& sites) {
  struct Place {
    std::uint64_t begin, end;
    std::uint32_t site;
  };
  constexpr std::size_t kMostPlaces = 16;
  std::unordered_map<std::uint64_t, std::vector<Place>> sent;  // by rank, communicator, tag
  for (TransferIndex i = 0; i < transfers.all.size(); ++i) {
    const Transfer& t = transfers.all[i];
    if (t.captured() || t.source_buffer == 0 || t.content.bytes == 0) continue;
    const std::uint64_t key = (std::uint64_t{t.comm.value} << 40U) ^ (static_cast<std::uint64_t>(t.source) << 20U) ^
                              (static_cast<std::uint64_t>(t.tag) * 0x9e3779b97f4a7c15U);
    auto& places = sent[key];
    const Place place{t.source_buffer, t.source_buffer + t.content.bytes, site[i]};
    bool known = false;
    for (const Place& other : places) {
      const bool same = other.begin == place.begin && other.end == place.end;
      known = known || (same && other.site == place.site);
      if (!same && other.begin < place.end && place.begin < other.end) sites.unite(other.site, place.site);
    }
    if (!known && places.size() < kMostPlaces) places.push_back(place);
  }
}

/// Joins the sites of a communicator that only ever pass signals: the halves of a barrier share no content.
void join_signals(const Transfers& transfers, const std::vector<std::uint32_t>& site, Sites& sites) {
  constexpr std::uint64_t kLongestSignal = 8;
  std::unordered_map<std::uint32_t, bool> only_signals;
  std::unordered_map<std::uint32_t, CommId> comm;
  for (TransferIndex i = 0; i < transfers.all.size(); ++i) {
    const Transfer& t = transfers.all[i];
    if (t.captured()) continue;
    auto& all = only_signals.try_emplace(site[i], true).first->second;
    all = all && t.content.bytes <= kLongestSignal && t.content.is_constant();
    comm[site[i]] = t.comm;
  }
  std::unordered_map<std::uint32_t, bool> group_signals;
  for (const auto& [s, all] : only_signals) {
    auto& whole = group_signals.try_emplace(sites.find(s), true).first->second;
    whole = whole && all;
  }
  std::unordered_map<CommId, std::uint32_t> first;
  for (const auto& [s, all] : only_signals)
    if (group_signals[sites.find(s)] && !first.try_emplace(comm[s], s).second) {
      const std::uint32_t other = first[comm[s]];
      const bool both = group_signals[sites.find(other)];
      sites.unite(s, other);
      group_signals[sites.find(other)] = both;
    }
}

/// The transfers of a group of sites, apart where no rank connects them.
std::vector<Cluster> by_connected_ranks(const Transfers& transfers, const TransferList& list) {
  std::vector<std::int32_t> parent(static_cast<std::size_t>(transfers.ranks));
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](std::int32_t r) {
    while (parent[static_cast<std::size_t>(r)] != r)
      r = parent[static_cast<std::size_t>(r)] = parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(r)])];
    return r;
  };
  for (const TransferIndex i : list)
    parent[static_cast<std::size_t>(find(transfers.all[i].source))] = find(transfers.all[i].destination);
  std::map<std::int32_t, Cluster> clusters;
  for (const TransferIndex i : list) clusters[find(transfers.all[i].source)].transfers.push_back(i);
  std::vector<Cluster> result;
  for (auto& [rank, cluster] : clusters) result.push_back(std::move(cluster));
  return result;
}

/// Captured parts go to every cluster with their rank: what they belong to shows when it is judged.
void add_captures(const Transfers& transfers, const TransferList& captures, Cluster& cluster) {
  if (captures.empty()) return;
  std::vector<bool> member(static_cast<std::size_t>(transfers.ranks));
  for (const TransferIndex i : cluster.transfers)
    member[static_cast<std::size_t>(transfers.all[i].source)] =
        member[static_cast<std::size_t>(transfers.all[i].destination)] = true;
  for (const TransferIndex i : captures)
    if (member[static_cast<std::size_t>(transfers.all[i].source)]) cluster.captures.push_back(i);
}

/// Of each transfer, the group of its sites at one stage of joining them.
using Stage = std::vector<std::uint32_t>;

Stage stage_of(const std::vector<std::uint32_t>& site, Sites& sites) {
  Stage stage(site.size());
  for (std::size_t i = 0; i < site.size(); ++i) stage[i] = sites.find(site[i]);
  return stage;
}

struct Joining {
  const Transfers& transfers;
  const TransferList& captures;
  std::vector<Stage> stages;  // the last one joins most

  std::vector<Cluster> clusters(const TransferList& list, std::size_t stage) const {
    std::map<std::uint32_t, TransferList> groups;
    for (const TransferIndex i : list) groups[stages[stage][i]].push_back(i);
    std::vector<Cluster> result;
    for (const auto& [group, part] : groups) {
      for (Cluster& cluster : by_connected_ranks(transfers, part)) {
        add_captures(transfers, captures, cluster);
        if (stage > 0) cluster.parts = clusters(cluster.transfers, stage - 1);
        // One part: what it is made of itself is next.
        if (cluster.parts.size() == 1) cluster.parts = std::vector<Cluster>(std::move(cluster.parts.front().parts));
        result.push_back(std::move(cluster));
      }
    }
    return result;
  }
};

}  // namespace

std::vector<Cluster> make_clusters(const Transfers& transfers) {
  Sites sites;
  std::vector<std::uint32_t> site(transfers.all.size());
  TransferList order;
  TransferList captures;
  for (TransferIndex i = 0; i < transfers.all.size(); ++i) {
    const Transfer& t = transfers.all[i];
    if (t.captured()) {
      captures.push_back(i);
      continue;
    }
    // A receive's site and a send's are the same number only if they are the same call.
    site[i] = sites.id(t.comm, t.send_site);
    sites.unite(site[i], sites.id(t.comm, t.receive_site));
    order.push_back(i);
  }
  if (order.empty()) return {};
  Joining joining{transfers, captures, {stage_of(site, sites)}};
  if (std::ranges::adjacent_find(joining.stages.front(), std::not_equal_to{}) != joining.stages.front().end()) {
    join_by_content(transfers, site, sites);
    join_signals(transfers, site, sites);
    joining.stages.push_back(stage_of(site, sites));
    join_by_place(transfers, site, sites);
    joining.stages.push_back(stage_of(site, sites));
  }
  return joining.clusters(order, joining.stages.size() - 1);
}

}  // namespace nplus1::detector
