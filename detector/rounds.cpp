// The ways of cutting a cluster by calls: into equal parts, or by the tags of its messages.
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "detector/instances.hpp"
#include "detector/merging.hpp"

namespace nplus1::detector {
namespace {

/// A scatter and a ring of its parts, and once more round the ring: no operation has more messages for each pair.
constexpr std::size_t kMostForEachPair = 2;

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

/// The list cut so that each rank has the same number of calls in each of `parts`, of which the `first` ones; empty if a
/// message would cross a cut. `part_of_send`: of the list's size; what is left in it does not matter.
std::vector<TransferList> cut(const TransferList& list, const Lanes& lanes, std::size_t parts,
                              std::size_t first, std::vector<std::uint32_t>& part_of_send) {
  std::vector<TransferList> result(first);
  for (const auto& [rank, lane] : lanes) {
    const std::size_t length = lane.size() / parts;
    for (std::size_t i = 0; i < first * length; ++i)
      if (lane[i] % 2 == 0) part_of_send[lane[i] / 2] = static_cast<std::uint32_t>(i / length);
  }
  std::size_t received = 0;
  std::size_t sent = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;  // part, position in the list
  for (const auto& [rank, lane] : lanes) {
    const std::size_t length = lane.size() / parts;
    for (std::size_t i = 0; i < first * length; ++i) {
      const std::uint32_t message = lane[i] / 2;
      if (lane[i] % 2 == 1 && part_of_send[message] != i / length) return {};
      ++(lane[i] % 2 == 1 ? received : sent);
      if (lane[i] % 2 == 0) order.emplace_back(part_of_send[message], message);
    }
  }
  if (sent != received) return {};
  std::ranges::sort(order);
  for (const auto& [part, message] : order) result[part].push_back(list[message]);
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
/// Empty if they are not. `open`: how many of them may be the same by what was judged of them.
std::vector<Instance> with_unproved(const Transfers& transfers, std::vector<Instance> found,
                                    std::vector<TransferList> unproved, bool inferred, std::size_t open) {
  constexpr std::size_t kProvedForEach = 8;
  const auto begin = [&](const TransferList& list) { return transfers.all[list.front()].sent_at; };
  const bool is_first =
      inferred && unproved.size() == 1 && begin(unproved.front()) < begin(found.front().transfers);
  const bool extremes = found.front().verdict.operation == Operation::kMax ||
                        found.front().verdict.operation == Operation::kMin;
  if (!is_first && !extremes && open < unproved.size() && unproved.size() * kProvedForEach > found.size())
    return {};
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

bool is_extreme(const Verdict& v) {
  return v.operation == Operation::kMax || v.operation == Operation::kMin;
}

/// The kind with blocks of different lengths: whether they are depends on how many elements there are this time.
CollectiveKind with_any_blocks(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllgather:
      return CollectiveKind::kAllgatherv;
    case CollectiveKind::kGather:
      return CollectiveKind::kGatherv;
    case CollectiveKind::kScatter:
      return CollectiveKind::kScatterv;
    case CollectiveKind::kAlltoall:
      return CollectiveKind::kAlltoallv;
    case CollectiveKind::kReduceScatterBlock:
      return CollectiveKind::kReduceScatter;
    default:
      return kind;
  }
}

bool are_alike(const Verdict& a, const Verdict& b) {
  return with_any_blocks(a.kind) == with_any_blocks(b.kind) && a.operation == b.operation;
}

/// Whether the verdict of one part leaves open that it is what others are: it has nothing to prove itself by, or is a
/// largest number that happened to be where all others came from.
bool may_be(const Verdict& v, const Verdict& other) {
  if (v.operation && v.proof < 1) return true;
  if (!v.operation && v.kind == other.kind && other.operation)
    return true;  // with which operation is not to be seen
  return is_extreme(other) && (v.kind == CollectiveKind::kBcast || is_extreme(v));
}

/// As many as show which elements of messages vary independently.
std::span<const TransferIndex> first_of(const TransferList& list) {
  constexpr std::size_t kMost = 64;
  return std::span{list}.first(std::min(list.size(), kMost));
}

/// All parts, if they are the same operation.
std::vector<Instance> same_operations_of(const Transfers& transfers, const Cluster& cluster,
                                         std::vector<TransferList> parts) {
  std::vector<Instance> found;
  std::vector<TransferList> unproved;
  const bool inferred = std::ranges::any_of(cluster.captures, [&](TransferIndex i) {
    return transfers.all[i].captured_as(events::OwnPart::kAddedTo);
  });
  const std::size_t all = parts.size();
  const std::size_t most_unproved = std::max(all / 8, inferred && all > 1 ? std::size_t{1} : 0);
  std::size_t main = 0;  // of those found, the one that proves most
  for (TransferList& part : parts) {
    auto instance = instance_of(transfers, cluster.captures, part, first_of(cluster.transfers));
    if (!instance) {
      constexpr std::size_t kMostAtFirst = 8;
      unproved.push_back(std::move(part));
      if (unproved.size() > most_unproved || (found.empty() && unproved.size() > kMostAtFirst)) return {};
      continue;
    }
    if (!found.empty()) {
      const Verdict& first = found[main].verdict;
      const Verdict& next = instance->verdict;
      if (!are_alike(first, next) && !may_be(first, next) && !may_be(next, first)) return {};
      const bool better =
          next.operation.has_value() > first.operation.has_value() ||
          (next.operation.has_value() == first.operation.has_value() && next.proof > first.proof);
      if (better) main = found.size();
    }
    found.push_back(std::move(*instance));
  }
  if (found.empty()) return found;
  std::vector<Instance> alike;
  const Verdict wanted = found[main].verdict;
  std::size_t open = 0;
  for (Instance& i : found) {
    if (are_alike(i.verdict, wanted)) {
      alike.push_back(std::move(i));
      continue;
    }
    if (!may_be(i.verdict, wanted)) return {};
    ++open;
    unproved.push_back(std::move(i.transfers));
  }
  // Of a few numbers the largest is often where all others come from; what was open is not against it either.
  const std::size_t most =
      is_extreme(wanted) || open == unproved.size() ? std::max(all / 2, most_unproved) : most_unproved;
  if (unproved.size() > most) return {};
  return with_unproved(transfers, std::move(alike), std::move(unproved), inferred, open);
}

/// Who sends to whom.
using Partners = std::vector<std::pair<std::int32_t, std::int32_t>>;

Partners partners_of(const Transfers& transfers, const TransferList& list) {
  Partners partners;
  for (const TransferIndex i : list)
    partners.emplace_back(transfers.all[i].source, transfers.all[i].destination);
  std::ranges::sort(partners);
  return partners;
}

/// All parts, if they are the same operation. One of a vector without elements shows nothing by itself: where its messages
/// have the partners of the others', it is what those are.
std::vector<Instance> same_operations(const Transfers& transfers, const Cluster& cluster,
                                      std::vector<TransferList> parts) {
  const auto first_empty = std::stable_partition(
      parts.begin(), parts.end(), [&](const TransferList& part) { return !is_empty(transfers, part); });
  if (first_empty == parts.begin() || first_empty == parts.end())
    return same_operations_of(transfers, cluster, std::move(parts));
  std::vector<TransferList> empty{std::move_iterator{first_empty}, std::move_iterator{parts.end()}};
  parts.erase(first_empty, parts.end());
  auto found = same_operations_of(transfers, cluster, std::move(parts));
  std::map<Partners, Verdict> known;
  for (const Instance& i : found) known.emplace(partners_of(transfers, i.transfers), i.verdict);
  for (TransferList& list : empty) {
    const auto same = known.find(partners_of(transfers, list));
    if (same == known.end()) return {};
    found.push_back(without_elements(same->second, std::move(list)));
  }
  sort_by_time(transfers, found);
  return found;
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
  std::vector<std::uint32_t> part_of_send(list.size());
  for (std::size_t parts = std::min(divisor, list.size() / (lanes.size() - 1)); parts > 0; --parts) {
    if (divisor % parts != 0) continue;
    if (list.size() / parts > std::min(kMostInOneRound, kMostForEachPair * ranks * ranks)) break;
    // A look at the first ones: where none of them is anything, the others are not cut.
    constexpr std::size_t kFirst = 8;
    if (parts > kFirst) {
      std::ranges::fill(part_of_send, ~std::uint32_t{0});
      const auto first = cut(list, lanes, parts, kFirst, part_of_send);
      if (std::ranges::none_of(first, [&](const TransferList& part) {
            return is_empty(transfers, part) ||
                   instance_of(transfers, cluster.captures, part, first_of(list)).has_value();
          }))
        continue;
    }
    auto found = same_operations(transfers, cluster, cut(list, lanes, parts, parts, part_of_send));
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
