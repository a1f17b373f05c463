#include "detector/clusters.hpp"

#include <algorithm>
#include <functional>
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

Stage stage_of(const Transfers& transfers, SiteGroups& sites) {
  Stage stage(transfers.all.size());
  for (std::size_t i = 0; i < stage.size(); ++i)
    if (!transfers.all[i].captured()) stage[i] = sites.group(transfers.all[i]);
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
        if (cluster.parts.size() == 1)
          cluster.parts = std::vector<Cluster>(std::move(cluster.parts.front().parts));
        result.push_back(std::move(cluster));
      }
    }
    return result;
  }
};

}  // namespace

std::vector<Cluster> make_clusters(const Transfers& transfers) {
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
  if (messages.empty()) return {};
  Joining joining{transfers, captures, {stage_of(transfers, sites)}};
  if (sites.count() > 1) {
    sites.join_by_content(transfers.all);
    sites.join_signals();
    joining.stages.push_back(stage_of(transfers, sites));
    sites.join_by_place(transfers.all);
    joining.stages.push_back(stage_of(transfers, sites));
  }
  return joining.clusters(messages, joining.stages.size() - 1);
}

}  // namespace nplus1::detector
