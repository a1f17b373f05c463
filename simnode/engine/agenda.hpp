// What is to be decided in virtual time, and when: for each rank its next match of a receive from any source, for each
// lane its wait, test or probe. Ties among equal times go by a fixed order. Private to the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "simnode/engine/lanes.hpp"
#include "support/ids.hpp"
#include "support/indexed_heap.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Agenda {
 public:
  using Item = IndexedHeap::Entry;

  explicit Agenda(Lanes& lanes) : lanes_{lanes} {}

  /// The lane's call is decided at `when`, given what is known.
  void plan(const Lane& lane, Time when) { heap_.set(item_of(lane), when, tie_of(lane)); }
  void drop(const Lane& lane) { heap_.erase(item_of(lane)); }
  /// The rank's next match.
  void plan_match(RankId rank, Time when) {
    heap_.set(static_cast<std::uint32_t>(rank.index()), when, rank.index());
  }
  void drop_match(RankId rank) { heap_.erase(static_cast<std::uint32_t>(rank.index())); }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Item& first() const { return heap_.top(); }
  /// When the first is; kNever if there is none.
  [[nodiscard]] Time next() const { return heap_.empty() ? kNever : heap_.top().time; }
  /// Whether nobody can act before the item any more.
  [[nodiscard]] bool safe(const Item& item);
  [[nodiscard]] bool is_match(const Item& item) const { return item.item < lanes_.ranks(); }
  [[nodiscard]] Lane& lane_of(const Item& item) {
    return lanes_[item.item - static_cast<std::uint32_t>(lanes_.ranks())];
  }
  [[nodiscard]] RankId rank_of(const Item& item) const;

  /// The mailbox of `rank` changed: what is decided there has to be computed anew.
  void touch(RankId rank);
  [[nodiscard]] std::vector<RankId>& touched() { return touched_; }

 private:
  /// Among equal times: matches first, then lanes, both by rank.
  static std::uint64_t tie_of(const Lane& lane) {
    return (std::uint64_t{1} << 48U) | (std::uint64_t{lane.rank.index()} << 16U) | lane.thread.value;
  }
  [[nodiscard]] std::uint32_t item_of(const Lane& lane) const {
    return static_cast<std::uint32_t>(lanes_.ranks()) + lanes_.index_of(lane);
  }

  Lanes& lanes_;
  IndexedHeap heap_;  // rank r: its next match; ranks + lane: its wait, test or probe
  std::vector<RankId> touched_;
};

}  // namespace nplus1::simnode::engine
