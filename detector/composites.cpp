#include "detector/composites.hpp"

#include <algorithm>
#include <utility>

namespace nplus1::detector {
namespace {

bool are(const std::vector<Instance>& found, std::initializer_list<CollectiveKind> kinds) {
  return !found.empty() && std::ranges::all_of(found, [&](const Instance& i) {
    return std::ranges::find(kinds, i.verdict.kind) != kinds.end();
  });
}

std::uint32_t end_of(const Transfers& transfers, const Instance& i) {
  std::uint32_t end = 0;
  for (const TransferIndex t : i.transfers) end = std::max(end, transfers.all[t].received_at);
  return end;
}

/// The root's own order: its last receive of the first part, its first send of the second. Without a root the judge of
/// both together looks at it.
bool follows(const Transfers& transfers, const Instance& first, const Instance& second) {
  if (second.verdict.roots.empty()) return true;
  const std::int32_t root = second.verdict.roots.front();
  std::uint32_t last = 0;
  for (const TransferIndex t : first.transfers)
    if (transfers.all[t].destination == root) last = std::max(last, transfers.all[t].received_at);
  return last < transfers.all[second.transfers.front()].sent_at;
}

/// Where the numbers of some don't show with which operation they were combined, it is that of the others.
void agree_on_operation(std::vector<Instance>& joined) {
  const auto known =
      std::ranges::find_if(joined, [](const Instance& i) { return i.verdict.operation.has_value(); });
  const auto open = std::ranges::count_if(joined, [](const Instance& i) { return !i.verdict.operation; });
  if (known == joined.end() || 2 * static_cast<std::size_t>(open) > joined.size()) return;
  for (Instance& i : joined) {
    if (i.verdict.operation || i.verdict.kind != known->verdict.kind) continue;
    i.verdict.operation = known->verdict.operation;
    i.verdict.certainty = known->verdict.certainty;
    i.verdict.evidence = known->verdict.evidence;
    i.verdict.alternatives = known->verdict.alternatives;
  }
}

/// Each of the two lists' operations in turn, as one; empty if they are not.
std::vector<Instance> together(const Transfers& transfers, const TransferList& captures,
                               const std::vector<Instance>& up, const std::vector<Instance>& down) {
  if (up.size() != down.size()) return {};
  std::vector<Instance> joined;
  std::vector<TransferList> empty;
  for (std::size_t i = 0; i < up.size(); ++i) {
    if (up[i].verdict.ranks != down[i].verdict.ranks || up[i].verdict.roots != down[i].verdict.roots ||
        !follows(transfers, up[i], down[i]))
      return {};
    if (i > 0 && end_of(transfers, up[i]) < transfers.all[down[i - 1].transfers.front()].sent_at) return {};
    TransferList list = up[i].transfers;
    list.insert(list.end(), down[i].transfers.begin(), down[i].transfers.end());
    if (is_empty(transfers, list)) {
      empty.push_back(std::move(list));
      continue;
    }
    auto instance = instance_of(transfers, captures, std::move(list));
    if (!instance || (instance->verdict.kind != CollectiveKind::kAllreduce &&
                      instance->verdict.kind != CollectiveKind::kAllgather &&
                      instance->verdict.kind != CollectiveKind::kAllgatherv))
      return {};
    joined.push_back(std::move(*instance));
  }
  if (joined.empty()) return joined;
  agree_on_operation(joined);
  const Verdict known = joined.front().verdict;
  for (TransferList& list : empty) joined.push_back(without_elements(known, std::move(list)));
  sort_by_time(transfers, joined);
  return joined;
}

}  // namespace

std::vector<Joined> join_composites(const Transfers& transfers, std::vector<std::vector<Instance>>& found) {
  constexpr std::size_t kMostLists = 300;  // are compared in pairs
  std::vector<Joined> all;
  if (found.size() > kMostLists) return all;
  TransferList captures;
  for (TransferIndex i = 0; i < transfers.all.size(); ++i)
    if (transfers.all[i].captured()) captures.push_back(i);
  for (auto& up : found) {
    const bool to_root =
        are(up, {CollectiveKind::kReduce, CollectiveKind::kGather, CollectiveKind::kGatherv});
    const bool to_all = are(up, {CollectiveKind::kReduceScatter, CollectiveKind::kReduceScatterBlock});
    if (!to_root && !to_all) continue;
    for (auto& down : found) {
      if (!are(down, {CollectiveKind::kBcast}) &&
          !(to_all && are(down, {CollectiveKind::kAllgather, CollectiveKind::kAllgatherv})))
        continue;
      auto joined = together(transfers, captures, up, down);
      if (joined.empty()) continue;
      all.push_back({static_cast<std::size_t>(&up - found.data()),
                     static_cast<std::size_t>(&down - found.data()), std::exchange(up, std::move(joined)),
                     std::exchange(down, {})});
      break;
    }
  }
  return all;
}

}  // namespace nplus1::detector
