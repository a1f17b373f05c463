#include "detector/trees.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace nplus1::detector {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

/// Who sends each message to whom, as numbers of those who take part, in the order of their first messages.
struct MessageEnds {
  MessageEnds(const Transfers& transfers, const TransferList& list) {
    std::vector<std::uint32_t> few(std::min(static_cast<std::size_t>(transfers.ranks), 8 * list.size()),
                                   kNobody);
    std::unordered_map<std::int32_t, std::uint32_t> many;  // where ranks are far more than messages
    const auto member = [&](std::int32_t rank) {
      const auto at = static_cast<std::size_t>(rank);
      std::uint32_t& number = at < few.size() ? few[at] : many.try_emplace(rank, kNobody).first->second;
      if (number == kNobody) number = ranks++;
      return number;
    };
    of.reserve(list.size());
    for (const TransferIndex i : list) {
      const std::uint32_t source = member(transfers.all[i].source);
      of.emplace_back(source, member(transfers.all[i].destination));
    }
  }
  static constexpr std::uint32_t kNobody = 0xffffffffU;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of;
  std::uint32_t ranks = 0;
};

/// By the upper 32 bits; what is equal there stays as it is. For millions of them, digit by digit.
void sort_by_place(std::vector<std::uint64_t>& halves) {
  constexpr std::size_t kFew = 4096;
  if (halves.size() < kFew) {
    std::ranges::sort(halves);
    return;
  }
  constexpr unsigned kDigit = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kDigit;
  std::vector<std::uint64_t> sorted(halves.size());
  for (unsigned shift = 32; shift < 64; shift += kDigit) {
    std::array<std::size_t, kDigits + 1> begins{};
    for (const std::uint64_t half : halves) ++begins[(half >> shift & (kDigits - 1)) + 1];
    for (std::size_t d = 0; d < kDigits; ++d) begins[d + 1] += begins[d];
    for (const std::uint64_t half : halves) sorted[begins[half >> shift & (kDigits - 1)]++] = half;
    halves.swap(sorted);
  }
}

/// Cuts a cluster into trees. Up a tree each rank but the root sends once, after all that it receives; so the first send
/// of each but one rank is the first operation, and the only rank that can be its root is the one that then has nothing
/// else but receives. Down a tree it is the same, backwards in time and with sends and receives exchanged.
class Cutter {
 public:
  Cutter(const Transfers& transfers, const TransferList& list, const MessageEnds& ends, bool up)
      : messages_(list.size()) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      messages_[i].child = up ? ends.of[i].first : ends.of[i].second;
      messages_[i].parent = up ? ends.of[i].second : ends.of[i].first;
    }
    lanes_.resize(ends.ranks);
    if (may_be_trees()) order(transfers, list, up);
  }
  [[nodiscard]] std::size_t ranks() const { return lanes_.size(); }

  /// Not so for most clusters, of which the rest need not be known. In each tree, nobody leads to the root more than once.
  [[nodiscard]] bool may_be_trees() const {
    if (ranks() < kFewestRanks || messages_.size() % (ranks() - 1) != 0) return false;
    std::vector<std::size_t> left(ranks(), messages_.size() / (ranks() - 1));
    return std::ranges::all_of(messages_, [&](const Message& m) { return left[m.child]-- > 0; });
  }

  /// Positions in the list, of the next tree; empty if what is left begins with none.
  std::vector<std::size_t> next() {
    for (std::size_t root = 0; root < ranks(); ++root) {
      if (lanes_[root].next_leaving() == lanes_[root].used) continue;
      auto tree = tree_to(root);
      if (tree.empty()) continue;
      for (std::size_t m = 0; m < ranks(); ++m) {
        lanes_[m].used = ends_[m];
        if (m != root) ++lanes_[m].used_leaving;
      }
      return tree;
    }
    return {};
  }

 private:
  struct Message {
    std::uint32_t child = 0;  // who sends up the tree, or receives down the tree
    std::uint32_t parent = 0;
    std::uint32_t leaves_at = 0;   // in the child's lane
    std::uint32_t arrives_at = 0;  // in the parent's
  };
  struct Lane {
    std::vector<std::uint32_t> messages;
    std::vector<std::uint32_t> leaving;  // places in the lane
    std::uint32_t length = 0;
    std::size_t used = 0;  // of `messages`
    std::size_t used_leaving = 0;

    [[nodiscard]] std::size_t next_leaving() const {
      return used_leaving < leaving.size() ? leaving[used_leaving] : kNone;
    }
  };

  /// Each rank's sends and receives, in the order of the recording; down a tree backwards.
  void order(const Transfers& transfers, const TransferList& list, bool up) {
    // From the highest bit: place, position in the list, whether it is the half that leads to the root.
    static_assert(sizeof(TransferIndex) == 4 && sizeof(Transfer::sent_at) == 4);
    std::vector<std::uint64_t> halves;
    halves.reserve(2 * list.size());
    const auto add = [&](std::uint64_t place, std::size_t i, bool leaves) {
      halves.push_back(place << 32U | i << 1U | (leaves ? 1U : 0U));
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
      add(transfers.all[list[i]].sent_at, i, up);
      add(transfers.all[list[i]].received_at, i, !up);
    }
    sort_by_place(halves);
    if (!up) std::ranges::reverse(halves);
    for (const std::uint64_t half : halves) {
      const auto message = static_cast<std::uint32_t>(half) >> 1U;
      const bool leaves = (half & 1U) != 0;
      Message& m = messages_[message];
      Lane& lane = lanes_[leaves ? m.child : m.parent];
      if (leaves) lane.leaving.push_back(lane.length);
      (leaves ? m.leaves_at : m.arrives_at) = lane.length++;
      lane.messages.push_back(message);
    }
  }

  std::vector<std::size_t> tree_to(std::size_t root) {
    std::vector<std::size_t> tree;
    ends_.assign(ranks(), 0);
    for (std::size_t m = 0; m < ranks(); ++m) {
      ends_[m] += lanes_[m].used + (m == root ? 0 : 1);
      if (m == root) continue;
      if (lanes_[m].next_leaving() == kNone) return {};
      tree.push_back(lanes_[m].messages[lanes_[m].next_leaving()]);
      ++ends_[messages_[tree.back()].parent];
    }
    for (const std::size_t i : tree)
      if (messages_[i].leaves_at + 1 != ends_[messages_[i].child] ||
          messages_[i].arrives_at < lanes_[messages_[i].parent].used ||
          messages_[i].arrives_at >= ends_[messages_[i].parent])
        return {};
    return tree;
  }

  std::vector<Message> messages_;
  std::vector<Lane> lanes_;
  std::vector<std::size_t> ends_;  // of the tree that is looked for, in each lane
};

/// What goes up (down) a tree and is the same each time, but for its root and the lengths of its blocks.
std::optional<CollectiveKind> kind_of(const Verdict& v, bool up) {
  switch (v.kind) {
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherv:
      return up ? std::optional{CollectiveKind::kGather} : std::nullopt;
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterv:
      return up ? std::nullopt : std::optional{CollectiveKind::kScatter};
    case CollectiveKind::kReduce:
      return up && v.operation ? std::optional{CollectiveKind::kReduce} : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::vector<Instance> as_operations(const Transfers& transfers, const Cluster& cluster,
                                    const MessageEnds& ends, bool up) {
  Cutter cutter{transfers, cluster.transfers, ends, up};
  if (!cutter.may_be_trees()) return {};
  std::vector<Instance> found;
  for (std::size_t left = cluster.transfers.size(); left > 0; left -= cutter.ranks() - 1) {
    const auto tree = cutter.next();
    if (tree.empty()) return {};
    TransferList list;
    for (const std::size_t i : tree) list.push_back(cluster.transfers[i]);
    std::ranges::sort(list);
    auto instance = instance_of(transfers, cluster.captures, std::move(list));
    if (!instance) return {};
    const auto kind = kind_of(instance->verdict, up);
    if (!kind || (!found.empty() && (kind != kind_of(found.front().verdict, up) ||
                                     instance->verdict.operation != found.front().verdict.operation)))
      return {};
    found.push_back(std::move(*instance));
  }
  sort_by_time(transfers, found);
  return found;
}

}  // namespace

std::vector<Instance> by_trees(const Transfers& transfers, const Cluster& cluster) {
  const MessageEnds ends{transfers, cluster.transfers};
  for (const bool up : {true, false})
    if (auto found = as_operations(transfers, cluster, ends, up); !found.empty()) return found;
  return {};
}

}  // namespace nplus1::detector
