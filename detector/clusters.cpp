#include "detector/clusters.hpp"

#include <algorithm>
#include <map>

#include <boost/pending/disjoint_sets.hpp>

#include "detector/site_groups.hpp"

namespace nplus1::detector {
namespace {

/// The transfers of a group of sites, apart where no rank connects them.
std::vector<Cluster> by_connected_ranks(const Transfers& transfers, const TransferList& list) {
  boost::disjoint_sets_with_storage<> connected{static_cast<std::size_t>(transfers.ranks)};
  for (const TransferIndex i : list)
    connected.union_set(static_cast<std::size_t>(transfers.all[i].source),
                        static_cast<std::size_t>(transfers.all[i].destination));
  std::map<std::size_t, Cluster> clusters;
  for (const TransferIndex i : list)
    clusters[connected.find_set(static_cast<std::size_t>(transfers.all[i].source))].transfers.push_back(i);
  std::vector<Cluster> result;
  for (auto& [rank, cluster] : clusters) result.push_back(std::move(cluster));
  return result;
}

std::map<std::uint32_t, TransferList> groups_of(const Transfers& transfers, const TransferList& messages,
                                                SiteGroups& sites) {
  std::map<std::uint32_t, TransferList> groups;
  for (const TransferIndex i : messages) groups[sites.group(transfers.all[i])].push_back(i);
  return groups;
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

}  // namespace

Clusters make_clusters(const Transfers& transfers) {
  SiteGroups sites;
  TransferList messages;
  TransferList captures;
  for (TransferIndex i = 0; i < transfers.all.size(); ++i) {
    const Transfer& t = transfers.all[i];
    if (t.captured()) {
      captures.push_back(i);
      continue;
    }
    sites.add(t);
    messages.push_back(i);
  }
  const auto alone = groups_of(transfers, messages, sites);
  if (alone.size() > 1) {
    sites.join_by_content(transfers.all);
    sites.join_by_place(transfers.all);
    sites.join_signals();
  }
  Clusters result;
  for (auto& [group, list] : groups_of(transfers, messages, sites)) {
    for (Cluster& cluster : by_connected_ranks(transfers, list)) {
      add_captures(transfers, captures, cluster);
      result.joined.push_back(std::move(cluster));
    }
  }
  // The parts of each: its transfers again by what they were before they were joined.
  std::vector<std::uint32_t> group_alone(transfers.all.size());
  for (const auto& [group, list] : alone)
    for (const TransferIndex i : list) group_alone[i] = group;
  for (const Cluster& whole : result.joined) {
    std::map<std::uint32_t, TransferList> lists;
    for (const TransferIndex i : whole.transfers) lists[group_alone[i]].push_back(i);
    auto& parts = result.parts.emplace_back();
    if (lists.size() == 1) continue;
    for (const auto& [group, list] : lists)
      for (Cluster& part : by_connected_ranks(transfers, list)) {
        add_captures(transfers, captures, part);
        parts.push_back(std::move(part));
      }
  }
  return result;
}

}  // namespace nplus1::detector
