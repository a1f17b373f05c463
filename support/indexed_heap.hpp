// A priority queue of numbered items whose times change: the earliest item first, ties by a fixed order. Not thread-safe;
// never fails but for want of memory, of which it takes a place for each number up to the highest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/units.hpp"

namespace nplus1 {

class IndexedHeap {
 public:
  struct Entry {
    Time time;
    std::uint64_t tie;  // smaller first among equal times
    std::uint32_t item;
  };

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const Entry& top() const { return entries_.front(); }
  [[nodiscard]] bool contains(std::uint32_t item) const {
    return item < positions_.size() && positions_[item] != kAbsent;
  }

  /// Inserts the item, or moves it to another time.
  void set(std::uint32_t item, Time time, std::uint64_t tie) {
    if (item >= positions_.size()) positions_.resize(item + 1, kAbsent);
    if (positions_[item] == kAbsent) {
      positions_[item] = entries_.size();
      entries_.push_back({time, tie, item});
    } else {
      entries_[positions_[item]] = {time, tie, item};
    }
    down(up(positions_[item]));
  }

  /// Removes the item if it is there.
  void erase(std::uint32_t item) {
    if (!contains(item)) return;
    const std::size_t hole = positions_[item];
    positions_[item] = kAbsent;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (hole == entries_.size()) return;
    place(hole, last);
    down(up(hole));
  }

 private:
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

  static bool before(const Entry& a, const Entry& b) {
    return a.time != b.time ? a.time < b.time : a.tie < b.tie;
  }
  void place(std::size_t at, const Entry& entry) {
    entries_[at] = entry;
    positions_[entry.item] = at;
  }
  std::size_t up(std::size_t at) {
    const Entry entry = entries_[at];
    for (std::size_t parent; at > 0 && before(entry, entries_[parent = (at - 1) / 2]); at = parent)
      place(at, entries_[parent]);
    place(at, entry);
    return at;
  }
  void down(std::size_t at) {
    const Entry entry = entries_[at];
    for (std::size_t child; (child = 2 * at + 1) < entries_.size(); at = child) {
      if (child + 1 < entries_.size() && before(entries_[child + 1], entries_[child])) ++child;
      if (!before(entries_[child], entry)) break;
      place(at, entries_[child]);
    }
    place(at, entry);
  }

  std::vector<Entry> entries_;
  std::vector<std::size_t> positions_;  // by item
};

}  // namespace nplus1
