// The ways of cutting a cluster by calls: into equal parts, or by the tags of its messages.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "detector/instances.hpp"
#include "detector/merging.hpp"

namespace nplus1::detector {
namespace {

/// What each rank of a cluster does, in its order: twice the position in the list, plus one for a receive.
using Lanes = std::map<std::int32_t, std::vector<std::uint32_t>>;

Lanes lanes_of(const Transfers& transfers, const TransferList& list) {
  std::map<std::int32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>> timed;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Transfer& t = transfers.all[list[i]];
    timed[t.source].emplace_back(t.sent_at, 2 * i);
    timed[t.destination].emplace_back(t.received_at, 2 * i + 1);
  }
  Lanes lanes;
  for (auto& [rank, halves] : timed) {
    std::ranges::sort(halves);
    auto& lane = lanes[rank];
    for (const auto& [place, half] : halves) lane.push_back(half);
  }
  return lanes;
}

/// Of the numbers of calls of all ranks that take part.
std::size_t common_divisor(const Transfers& transfers, const TransferList& list, std::size_t& ranks) {
  std::vector<std::size_t> calls(static_cast<std::size_t>(transfers.ranks));
  for (const TransferIndex i : list) {
    ++calls[static_cast<std::size_t>(transfers.all[i].source)];
    ++calls[static_cast<std::size_t>(transfers.all[i].destination)];
  }
  std::size_t divisor = 0;
  ranks = 0;
  for (const std::size_t n : calls) {
    divisor = std::gcd(divisor, n);
    ranks += n > 0 ? 1U : 0U;
  }
  return divisor;
}

/// The list cut so that each rank has the same number of calls in each part; empty if a message would cross a cut.
std::vector<TransferList> cut(const TransferList& list, const Lanes& lanes, std::size_t parts) {
  std::vector<std::uint32_t> part_of_send(list.size());
  std::vector<TransferList> result(parts);
  for (const auto& [rank, lane] : lanes)
    for (std::size_t i = 0; i < lane.size(); ++i)
      if (lane[i] % 2 == 0) part_of_send[lane[i] / 2] = static_cast<std::uint32_t>(i / (lane.size() / parts));
  for (const auto& [rank, lane] : lanes)
    for (std::size_t i = 0; i < lane.size(); ++i)
      if (lane[i] % 2 == 1 && part_of_send[lane[i] / 2] != i / (lane.size() / parts)) return {};
  for (std::size_t i = 0; i < list.size(); ++i) result[part_of_send[i]].push_back(list[i]);
  return result;
}

using Shape = std::vector<std::tuple<std::int32_t, std::int32_t, std::uint64_t>>;

/// Who sends how much to whom.
Shape shape_of(const Transfers& transfers, const TransferList& list) {
  Shape shape;
  for (const TransferIndex i : list) {
    const Transfer& t = transfers.all[i];
    shape.emplace_back(t.source, t.destination, t.content.bytes);
  }
  std::ranges::sort(shape);
  return shape;
}

/// A reduction of equal values proves nothing, and parts that ranks keep are `inferred` from the second time on. If only
/// few of many, or the first, are not proved, and their messages are those of the others, they are the same operation.
/// Empty if they are not.
std::vector<Instance> with_unproved(const Transfers& transfers, std::vector<Instance> found,
                                    std::vector<TransferList> unproved, bool inferred) {
  constexpr std::size_t kProvedForEach = 8;
  const auto begin = [&](const TransferList& list) { return transfers.all[list.front()].sent_at; };
  const bool is_first =
      inferred && unproved.size() == 1 && begin(unproved.front()) < begin(found.front().transfers);
  if (!is_first && unproved.size() * kProvedForEach > found.size()) return {};
  if (unproved.empty()) return found;
  if (!found.front().verdict.operation) return {};
  const Shape shape = shape_of(transfers, found.front().transfers);
  for (TransferList& list : unproved) {
    if (shape_of(transfers, list) != shape) return {};
    Instance same{found.front().verdict, std::move(list)};
    if (is_first) same.verdict.certainty = std::min(same.verdict.certainty, Certainty::kProbable);
    same.verdict.evidence.emplace_back(
        is_first ? "the first time is not proved: it has the same messages as the others"
                 : "now and then the values are equal, or zero, and prove nothing");
    found.push_back(std::move(same));
  }
  sort_by_time(transfers, found);
  return found;
}

/// All parts, if they are the same operation.
std::vector<Instance> same_operations(const Transfers& transfers, const Cluster& cluster,
                                      std::vector<TransferList> parts) {
  std::vector<Instance> found;
  std::vector<TransferList> unproved;
  const bool inferred = std::ranges::any_of(cluster.captures, [&](TransferIndex i) {
    return transfers.all[i].captured_as(events::OwnPart::kAddedTo);
  });
  const std::size_t most_unproved =
      std::max(parts.size() / 8, inferred && parts.size() > 1 ? std::size_t{1} : 0);
  for (TransferList& part : parts) {
    auto instance = instance_of(transfers, cluster.captures, part);
    if (!instance) {
      unproved.push_back(std::move(part));
      if (unproved.size() > most_unproved) return {};
      continue;
    }
    const bool other = !found.empty() && (found.front().verdict.kind != instance->verdict.kind ||
                                          found.front().verdict.operation != instance->verdict.operation);
    if (other) return {};
    found.push_back(std::move(*instance));
  }
  return found.empty() ? found : with_unproved(transfers, std::move(found), std::move(unproved), inferred);
}

using Tagged = std::map<std::pair<CommId, std::int32_t>, TransferList>;

/// The messages of each tag; empty if there is only one, or one with messages that are too few for an operation.
Tagged by_tag(const Transfers& transfers, const TransferList& list) {
  const auto tag_of = [&](TransferIndex i) { return std::pair{transfers.all[i].comm, transfers.all[i].tag}; };
  const auto first = tag_of(list.front());
  if (std::ranges::all_of(list, [&](TransferIndex i) { return tag_of(i) == first; })) return {};
  Tagged tagged;
  for (const TransferIndex i : list) tagged[tag_of(i)].push_back(i);
  const bool few =
      std::ranges::any_of(tagged, [](const auto& part) { return part.second.size() + 1 < kFewestRanks; });
  return few ? Tagged{} : tagged;
}

bool is_possible(const Instance& i) {
  return i.verdict.certainty == Certainty::kPossible;
}

}  // namespace

std::vector<Instance> by_rounds(const Transfers& transfers, const Cluster& cluster) {
  const TransferList& list = cluster.transfers;
  std::size_t ranks = 0;
  const std::size_t divisor = common_divisor(transfers, list, ranks);
  if (ranks < kFewestRanks || list.size() / divisor > kMostInOneRound) return {};
  const Lanes lanes = lanes_of(transfers, list);
  for (std::size_t parts = std::min(divisor, list.size() / (lanes.size() - 1)); parts > 0; --parts) {
    if (divisor % parts != 0) continue;
    if (list.size() / parts > kMostInOneRound) break;
    auto found = same_operations(transfers, cluster, cut(list, lanes, parts));
    if (!found.empty()) return merge_segments(transfers, std::move(found));
  }
  return {};
}

std::vector<Instance> by_tags(const Transfers& transfers, const Cluster& cluster) {
  std::vector<Instance> found;
  for (auto& [tag, part] : by_tag(transfers, cluster.transfers)) {
    auto of_tag = by_rounds(transfers, {std::move(part), cluster.captures, {}});
    if (of_tag.empty() || std::ranges::any_of(of_tag, is_possible)) return {};
    const Verdict& first = found.empty() ? of_tag.front().verdict : found.front().verdict;
    const Verdict& next = of_tag.front().verdict;
    if (std::tie(first.kind, first.operation, first.ranks) != std::tie(next.kind, next.operation, next.ranks))
      return {};
    std::ranges::move(of_tag, std::back_inserter(found));
  }
  sort_by_time(transfers, found);
  return merged(transfers, std::move(found));
}

}  // namespace nplus1::detector
