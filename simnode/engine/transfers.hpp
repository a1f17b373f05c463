// The messages of one collective call that have been sent and not yet received: first in, first out per
// ordered pair of members. Private to the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Transfers {
 public:
  struct Transfer {
    Time arrival;
    Bytes size;
  };

  void clear(std::size_t members) {
    nodes_.clear();
    free_ = kNil;
    used_ = 0;
    std::size_t buckets = 16;
    while (buckets < members) buckets *= 2;
    buckets_.assign(buckets, kNil);
  }

  void push(std::int32_t from, std::int32_t to, Transfer transfer) {
    if (++used_ > 2 * buckets_.size()) grow();
    std::uint32_t node = free_;
    if (node == kNil) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[node].next;
    }
    std::uint32_t& head = buckets_[bucket(from, to)];
    nodes_[node] = {transfer, from, to, head};
    head = node;
  }

  /// The oldest message of the pair.
  std::optional<Transfer> pop(std::int32_t from, std::int32_t to) {
    std::uint32_t* oldest = nullptr;  // new ones stand first in the chain
    for (std::uint32_t* link = &buckets_[bucket(from, to)]; *link != kNil; link = &nodes_[*link].next)
      if (nodes_[*link].from == from && nodes_[*link].to == to) oldest = link;
    if (oldest == nullptr) return std::nullopt;
    const std::uint32_t node = *oldest;
    *oldest = nodes_[node].next;
    nodes_[node].next = free_;
    free_ = node;
    --used_;
    return nodes_[node].transfer;
  }

 private:
  static constexpr std::uint32_t kNil = 0xffffffffU;
  struct Node {
    Transfer transfer{};
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::uint32_t next = kNil;
  };

  [[nodiscard]] std::size_t bucket(std::int32_t from, std::int32_t to) const {
    const auto key = (static_cast<std::uint64_t>(from) << 32U) ^ static_cast<std::uint64_t>(to);
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 32U) & (buckets_.size() - 1);
  }

  // Chains keep their order: oldest last.
  void grow() {
    std::vector<std::uint32_t> old(2 * buckets_.size(), kNil);
    old.swap(buckets_);
    std::vector<std::uint32_t> tails(buckets_.size(), kNil);
    for (const std::uint32_t head : old) {
      for (std::uint32_t node = head; node != kNil;) {
        const std::uint32_t next = nodes_[node].next;
        const std::size_t b = bucket(nodes_[node].from, nodes_[node].to);
        nodes_[node].next = kNil;
        (tails[b] == kNil ? buckets_[b] : nodes_[tails[b]].next) = node;
        tails[b] = node;
        node = next;
      }
    }
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> buckets_;
  std::uint32_t free_ = kNil;
  std::size_t used_ = 0;
};

}  // namespace nplus1::simnode::engine
