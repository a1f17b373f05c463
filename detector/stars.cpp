#include "detector/stars.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "detector/merging.hpp"

namespace nplus1::detector {
namespace {

struct Half {
  std::uint32_t place;
  TransferIndex transfer;
  bool sent;
};
using Lanes = std::map<std::int32_t, std::vector<Half>>;

Lanes lanes_of(const Transfers& transfers, const TransferList& list) {
  Lanes lanes;
  for (const TransferIndex i : list) {
    const Transfer& t = transfers.all[i];
    lanes[t.source].push_back({t.sent_at, i, true});
    lanes[t.destination].push_back({t.received_at, i, false});
  }
  for (auto& [rank, lane] : lanes) std::ranges::sort(lane, {}, &Half::place);
  return lanes;
}

/// What one rank sends to (or receives from) each other once, with nothing else in between. False if it does not.
bool cut(const Transfers& transfers, const std::vector<Half>& lane, std::size_t members, bool sends,
         std::vector<TransferList>& stars) {
  TransferList star;
  std::set<std::int32_t> partners;
  for (const Half& half : lane) {
    if (half.sent != sends) {
      if (!star.empty()) return false;
      continue;
    }
    const Transfer& t = transfers.all[half.transfer];
    if (!partners.insert(sends ? t.destination : t.source).second) return false;
    star.push_back(half.transfer);
    if (star.size() + 1 < members) continue;
    std::ranges::sort(star);
    stars.push_back(std::exchange(star, {}));
    partners.clear();
  }
  return star.empty();
}

/// Whether the root of each has done with it before it takes part in the next: else they are one exchange of all with
/// all.
bool follow_each_other(const Transfers& transfers, const std::vector<Instance>& found, bool sends) {
  for (std::size_t i = 1; i < found.size(); ++i) {
    const std::int32_t before = found[i - 1].verdict.roots.front();
    const std::int32_t root = found[i].verdict.roots.front();
    if (before == root) continue;
    // Of a scatter the later root, which gets its part of the earlier one; of a gather the earlier, which gets all.
    const std::int32_t waits = sends ? root : before;
    std::uint32_t received = 0;
    std::uint32_t sent = ~std::uint32_t{0};
    for (const TransferIndex t : found[i - 1].transfers)
      if (transfers.all[t].destination == waits) received = std::max(received, transfers.all[t].received_at);
    for (const TransferIndex t : found[i].transfers)
      if (transfers.all[t].source == waits) sent = std::min(sent, transfers.all[t].sent_at);
    if (sent < received) return false;
  }
  return true;
}

bool is_of_one_root(CollectiveKind kind, bool sends) {
  return sends ? kind == CollectiveKind::kScatter || kind == CollectiveKind::kScatterv
               : kind == CollectiveKind::kGather || kind == CollectiveKind::kGatherv;
}

}  // namespace

std::vector<Instance> by_stars(const Transfers& transfers, const Cluster& cluster) {
  const Lanes lanes = lanes_of(transfers, cluster.transfers);
  if (lanes.size() < kFewestRanks || cluster.transfers.size() % (lanes.size() - 1) != 0) return {};
  for (const bool sends : {true, false}) {
    std::vector<TransferList> stars;
    if (!std::ranges::all_of(
            lanes, [&](const auto& lane) { return cut(transfers, lane.second, lanes.size(), sends, stars); }))
      continue;
    std::vector<Instance> found;
    for (TransferList& star : stars) {
      auto instance = instance_of(transfers, cluster.captures, std::move(star));
      if (!instance || !is_of_one_root(instance->verdict.kind, sends)) break;
      found.push_back(std::move(*instance));
    }
    if (found.size() < stars.size()) continue;
    sort_by_time(transfers, found);
    if (follow_each_other(transfers, found, sends)) return found;
  }
  return {};
}

}  // namespace nplus1::detector
