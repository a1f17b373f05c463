// Collectives on intercommunicators, as MPICH 4.0.2 carries them out: work within each group, messages
// between their first members (the leaders), and work within each group again. Where both directions are
// needed, the one towards the second group comes first in broadcasts, the one towards the first group in
// reductions. Checked against the messages that libmpich hands to UCX: docs/networks.md.
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "netmodel/collectives/algorithms.hpp"
#include "support/collective_forms.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

/// Elements of all blocks: below, the leader collects or distributes them. (The library's table means bytes,
/// but what it is compared with counts elements.)
constexpr std::int64_t kShortGather = 2048;

/// One member's steps of one call.
class BetweenGroups {
 public:
  BetweenGroups(const CollectiveCall& call, const Selection& selection, std::vector<Step>& steps)
      : call_{call}, selection_{selection}, steps_{steps} {}

  void append() {
    switch (call_.kind) {
      case CollectiveKind::kBcast:
        return bcast();
      case CollectiveKind::kReduce:
        return reduce();
      case CollectiveKind::kGather:
      case CollectiveKind::kGatherv:
        return gather();
      case CollectiveKind::kScatter:
      case CollectiveKind::kScatterv:
        return scatter();
      case CollectiveKind::kAllgather:
        return allgather();
      case CollectiveKind::kAllgatherv:
        return allgatherv();
      case CollectiveKind::kAlltoall:
      case CollectiveKind::kAlltoallv:
        return alltoall();
      case CollectiveKind::kAllreduce:
        return call_.blocking ? allreduce() : iallreduce();
      case CollectiveKind::kReduceScatterBlock:
      case CollectiveKind::kReduceScatter:
        return reduce_scatter();
      default:
        return barrier();
    }
  }

 private:
  [[nodiscard]] bool in_first() const { return call_.me < call_.first_group; }
  [[nodiscard]] std::int32_t first_of(bool first_group) const { return first_group ? 0 : call_.first_group; }
  [[nodiscard]] std::int32_t members_of(bool first_group) const {
    return first_group ? call_.first_group : call_.members - call_.first_group;
  }
  [[nodiscard]] std::int32_t leader() const { return first_of(in_first()); }
  [[nodiscard]] std::int32_t remote_leader() const { return first_of(!in_first()); }
  [[nodiscard]] std::int32_t locals() const { return members_of(in_first()); }
  [[nodiscard]] std::int32_t remotes() const { return members_of(!in_first()); }
  [[nodiscard]] bool leads() const { return call_.me == leader(); }
  [[nodiscard]] bool is_root() const { return call_.me == call_.root; }
  [[nodiscard]] std::int64_t size() const { return count(call_.size); }
  [[nodiscard]] std::int64_t remote_block() const {
    return call_.sizes.size() == 1 ? call_.sizes.front() : size();
  }
  /// Of remote member `index`; of the own group in Reduce_scatter.
  [[nodiscard]] std::int64_t listed(std::span<const std::int64_t> sizes, std::int32_t index) const {
    return sizes.empty() ? size() : sizes[static_cast<std::size_t>(index)];
  }

  /// A collective of the own group, with the leader as its root.
  void locally(CollectiveKind kind, std::int64_t bytes_of_it, std::span<const std::int64_t> sizes = {}) {
    CollectiveCall local = call_;
    local.kind = kind;
    local.first_group = 0;
    local.members = locals();
    local.me = call_.me - leader();
    local.root = 0;
    local.size = bytes(bytes_of_it);
    local.sizes = sizes;
    local.receive_sizes = {};
    const std::size_t begin = steps_.size();
    append_steps(local, selection_, steps_);
    for (std::size_t i = begin; i < steps_.size(); ++i) {
      if (steps_[i].send_to != kNoMember) steps_[i].send_to += leader();
      if (steps_[i].receive_from != kNoMember) steps_[i].receive_from += leader();
    }
  }

  /// From member `root` to all of the other group.
  void bcast_from(std::int32_t root, std::int64_t bytes_of_it) {
    const bool from_first = root < call_.first_group;
    if (from_first == in_first()) {
      if (call_.me == root) send(steps_, remote_leader(), bytes_of_it);
      return;
    }
    if (leads()) receive(steps_, root);
    locally(CollectiveKind::kBcast, bytes_of_it);
  }

  /// From all of the other group to member `root`.
  void reduce_to(std::int32_t root, std::int64_t bytes_of_it) {
    const bool to_first = root < call_.first_group;
    if (to_first == in_first()) {
      if (call_.me == root) receive(steps_, remote_leader());
      return;
    }
    locally(CollectiveKind::kReduce, bytes_of_it);
    if (leads()) send(steps_, root, bytes_of_it);
  }

  void gather_to(std::int32_t root) {
    const bool to_first = root < call_.first_group;
    if (to_first != in_first()) {
      if (size() > 0) send(steps_, root, size());
    } else if (call_.me == root) {
      for (std::int32_t i = 0; i < remotes(); ++i)
        if (listed(call_.sizes, i) > 0) receive(steps_, remote_leader() + i);
    }
  }

  void bcast() {
    if (call_.root != kNoMember && size() > 0) bcast_from(call_.root, size());
  }

  void reduce() {
    if (call_.root != kNoMember && size() > 0) reduce_to(call_.root, size());
  }

  /// The blocks of the group that does not have the root.
  [[nodiscard]] bool travel_together() const {
    const std::int32_t blocks = is_root() ? remotes() : locals();
    const bool alike = call_.kind == CollectiveKind::kGather || call_.kind == CollectiveKind::kScatter;
    return alike && size() / element_size(size()) * blocks < kShortGather;
  }

  void gather() {
    if (call_.root == kNoMember) return;
    if (!travel_together()) return gather_to(call_.root);
    if (size() == 0) return;
    if (is_root()) return receive(steps_, remote_leader());
    locally(CollectiveKind::kGather, size());
    if (leads()) send(steps_, call_.root, size() * locals());
  }

  void scatter() {
    if (call_.root == kNoMember) return;
    if (!travel_together()) return scatter_one_by_one();
    if (size() == 0) return;
    if (is_root()) return send(steps_, remote_leader(), size() * remotes());
    if (leads()) receive(steps_, call_.root);
    locally(CollectiveKind::kScatter, size());
  }

  void scatter_one_by_one() {
    if (!is_root()) {
      if (size() > 0) receive(steps_, call_.root);
      return;
    }
    for (std::int32_t i = 0; i < remotes(); ++i)
      if (listed(call_.sizes, i) > 0) send(steps_, remote_leader() + i, listed(call_.sizes, i));
  }

  void allgather() {
    const std::int64_t mine = size() * locals();
    const std::int64_t theirs = remote_block() * remotes();
    if (mine > 0) locally(CollectiveKind::kGather, size());
    for (const bool from_first : {true, false}) {
      const std::int64_t travels = from_first == in_first() ? mine : theirs;
      if (travels > 0) bcast_from(first_of(from_first), travels);
    }
  }

  void allgatherv() {
    gather_to(first_of(true));
    gather_to(first_of(false));
    std::int64_t theirs = 0;
    for (std::int32_t i = 0; i < remotes(); ++i) theirs += listed(call_.sizes, i);
    locally(CollectiveKind::kBcast, theirs);
  }

  /// Empty blocks travel too, except those of a non-blocking Alltoallv.
  void alltoall() {
    const std::int32_t rounds = std::max(locals(), remotes());
    const std::int32_t me = call_.me - leader();
    const bool pairs = call_.kind == CollectiveKind::kAlltoallv;
    const bool all = !pairs || call_.blocking || call_.empty_blocks_travel;
    const auto takes_part = [&](std::int32_t index, std::span<const std::int64_t> sizes) {
      return index < remotes() && (all || listed(sizes, index) > 0);
    };
    for (std::int32_t i = 0; i < rounds; ++i) {
      const std::int32_t to = (me + i) % rounds;
      const std::int32_t from = (me - i + rounds) % rounds;
      const bool sends = takes_part(to, call_.sizes);
      const bool receives = takes_part(from, call_.receive_sizes);
      if (!sends && !receives) continue;
      const std::int64_t given = pairs && sends ? listed(call_.sizes, to) : size();
      exchange(steps_, sends ? remote_leader() + to : kNoMember, sends ? given : 0,
               receives ? remote_leader() + from : kNoMember);
    }
  }

  void allreduce() {
    if (size() == 0) return;
    locally(CollectiveKind::kReduce, size());
    if (leads()) exchange(steps_, remote_leader(), size(), remote_leader());
    locally(CollectiveKind::kBcast, size());
  }

  void reduce_both_ways(std::int64_t bytes_of_it) {
    reduce_to(first_of(true), bytes_of_it);
    reduce_to(first_of(false), bytes_of_it);
  }

  void iallreduce() {
    if (size() == 0) return;
    reduce_both_ways(size());
    locally(CollectiveKind::kBcast, size());
  }

  void reduce_scatter() {
    const bool block = call_.kind == CollectiveKind::kReduceScatterBlock;
    const std::int64_t total = std::accumulate(call_.sizes.begin(), call_.sizes.end(),
                                               call_.sizes.empty() ? size() * locals() : std::int64_t{0});
    if (total == 0) return;
    reduce_both_ways(total);
    if (block) return locally(CollectiveKind::kScatter, size());
    locally(CollectiveKind::kScatterv, listed(call_.sizes, call_.me - leader()), call_.sizes);
  }

  void barrier() {
    locally(CollectiveKind::kBarrier, 0);
    bcast_from(first_of(true), 1);
    bcast_from(first_of(false), 1);
  }

  const CollectiveCall& call_;
  const Selection& selection_;
  std::vector<Step>& steps_;
};

void check(const CollectiveCall& call) {
  const auto inside = [&call](std::int32_t member) { return member >= 0 && member < call.members; };
  if (!inside(call.me) || call.first_group < 0 || call.first_group >= call.members)
    throw std::invalid_argument{"collective between groups: `me` or the groups don't fit the members"};
  const bool own_group = (call.root < call.first_group) == (call.me < call.first_group);
  const bool is_there = inside(call.root) && (!own_group || call.root == call.me);
  if (is_rooted(call.kind) && call.root != kNoMember && !is_there)
    throw std::invalid_argument{"collective between groups: the root is neither `me` nor in the other group"};
  const bool own = call.kind == CollectiveKind::kReduceScatter;
  const std::int32_t first = call.me < call.first_group ? call.first_group : call.members - call.first_group;
  const auto expected = static_cast<std::size_t>(own ? first : call.members - first);
  const bool one = call.kind == CollectiveKind::kAllgather || call.kind == CollectiveKind::kAlltoall;
  const auto fits = [&](std::span<const std::int64_t> sizes) {
    return sizes.empty() || sizes.size() == expected || (one && sizes.size() == 1);
  };
  if (!fits(call.sizes) || !fits(call.receive_sizes))
    throw std::invalid_argument{"collective between groups: `sizes` doesn't fit the remote members"};
}

}  // namespace

void append_between_groups(const CollectiveCall& call, const Selection& selection, std::vector<Step>& steps) {
  check(call);
  BetweenGroups{call, selection, steps}.append();
}

}  // namespace nplus1::netmodel::algorithms

namespace nplus1::netmodel {

bool moves_nothing_between_groups(CollectiveKind kind, Bytes size, std::span<const std::int64_t> sizes) {
  const auto empty = [](std::int64_t block) { return block == 0; };
  const bool lists_nothing = std::all_of(sizes.begin(), sizes.end(), empty);
  switch (kind) {
    case CollectiveKind::kBcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kReduceScatterBlock:
      return empty(count(size));
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kAllgather:
    case CollectiveKind::kAllgatherv:
      return empty(count(size)) && lists_nothing;
    case CollectiveKind::kReduceScatter:
      return sizes.empty() ? empty(count(size)) : lists_nothing;
    default:  // these exchange empty blocks too, or skip them one by one
      return false;
  }
}

}  // namespace nplus1::netmodel
