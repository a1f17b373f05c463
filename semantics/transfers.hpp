// The messages of one collective call that have been sent and not yet received: first in, first out per
// ordered pair of members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/units.hpp"

namespace nplus1::semantics {

class Transfers {
 public:
  struct Transfer {
    Time arrival;
    Bytes size;
  };

  void clear(std::size_t members) {
    nodes_.clear();
    pairs_.clear();
    free_node_ = free_pair_ = kNil;
    used_ = 0;
    std::size_t buckets = 16;
    while (buckets < members) buckets *= 2;
    buckets_.assign(buckets, kNil);
  }

  void push(std::int32_t from, std::int32_t to, Transfer transfer) {
    const std::uint32_t node = allocate(nodes_, free_node_);
    nodes_[node] = {transfer, kNil};
    const std::uint32_t known = *find(from, to);
    if (known == kNil) return add_pair(from, to, node);
    nodes_[pairs_[known].newest].next = node;
    pairs_[known].newest = node;
  }

  /// The oldest message of the pair.
  std::optional<Transfer> pop(std::int32_t from, std::int32_t to) {
    std::uint32_t* const link = find(from, to);
    if (*link == kNil) return std::nullopt;
    const std::uint32_t at = *link;
    Pair& pair = pairs_[at];
    const std::uint32_t node = pair.oldest;
    const Transfer transfer = nodes_[node].transfer;
    pair.oldest = nodes_[node].next;
    nodes_[node].next = free_node_;
    free_node_ = node;
    if (pair.oldest == kNil) {
      *link = pair.next;
      pair.next = free_pair_;
      free_pair_ = at;
      --used_;
    }
    return transfer;
  }

 private:
  static constexpr std::uint32_t kNil = 0xffffffffU;
  struct Node {
    Transfer transfer{};
    std::uint32_t next = kNil;  // younger one of the same pair
  };
  struct Pair {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::uint32_t oldest = kNil;
    std::uint32_t newest = kNil;
    std::uint32_t next = kNil;  // of the same bucket
  };

  template <class Items>
  static std::uint32_t allocate(Items& items, std::uint32_t& free) {
    if (free == kNil) {
      items.emplace_back();
      return static_cast<std::uint32_t>(items.size() - 1);
    }
    const std::uint32_t at = free;
    free = items[at].next;
    return at;
  }

  [[nodiscard]] std::size_t bucket(std::int32_t from, std::int32_t to) const {
    const auto key = (static_cast<std::uint64_t>(from) << 32U) ^ static_cast<std::uint64_t>(to);
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 32U) & (buckets_.size() - 1);
  }

  /// The link to the pair; to kNil if it has no messages.
  std::uint32_t* find(std::int32_t from, std::int32_t to) {
    std::uint32_t* link = &buckets_[bucket(from, to)];
    while (*link != kNil && (pairs_[*link].from != from || pairs_[*link].to != to))
      link = &pairs_[*link].next;
    return link;
  }

  void add_pair(std::int32_t from, std::int32_t to, std::uint32_t node) {
    if (++used_ > 2 * buckets_.size()) grow();
    const std::uint32_t made = allocate(pairs_, free_pair_);
    std::uint32_t& first = buckets_[bucket(from, to)];
    pairs_[made] = {from, to, node, node, first};
    first = made;
  }

  void grow() {
    std::vector<std::uint32_t> old(2 * buckets_.size(), kNil);
    old.swap(buckets_);
    for (const std::uint32_t head : old) {
      for (std::uint32_t at = head; at != kNil;) {
        const std::uint32_t next = pairs_[at].next;
        std::uint32_t& first = buckets_[bucket(pairs_[at].from, pairs_[at].to)];
        pairs_[at].next = first;
        first = at;
        at = next;
      }
    }
  }

  std::vector<Node> nodes_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> buckets_;
  std::uint32_t free_node_ = kNil;
  std::uint32_t free_pair_ = kNil;
  std::size_t used_ = 0;  // pairs with messages
};

}  // namespace nplus1::semantics
