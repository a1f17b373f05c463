// A hash table for what is under way: open addressing in one array, with erasure that leaves no traces
// (Knuth, volume 3, algorithm 6.4R), so that memory follows what is open at a time. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nplus1::hypothesis {

/// Key: `hash()` spread over all bits, ==, and cheap to copy. Value: cheap to move.
template <class Key, class Value>
class OpenTable {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] Value* find(const Key& key) {
    if (size_ == 0) return nullptr;
    Slot& slot = slots_[place(slots_, key)];
    return slot.used ? &slot.value : nullptr;
  }
  /// Made by Value{} if it is new. Valid until the next change.
  Value& operator[](const Key& key) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    Slot& slot = slots_[place(slots_, key)];
    if (!slot.used) {
      slot = {key, Value{}, true};
      ++size_;
    }
    return slot.value;
  }
  void erase(const Key& key) {
    if (size_ == 0) return;
    std::size_t hole = place(slots_, key);
    if (!slots_[hole].used) return;
    --size_;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (hole + 1) & mask; slots_[at].used; at = (at + 1) & mask) {
      const std::size_t home = slots_[at].key.hash() & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;  // must stay behind the hole
      slots_[hole] = std::move(slots_[at]);
      hole = at;
    }
    slots_[hole] = Slot{};
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    bool used = false;
  };

  static std::size_t place(const std::vector<Slot>& slots, const Key& key) {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = key.hash() & mask;
    while (slots[at].used && !(slots[at].key == key)) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> larger(slots_.empty() ? 16 : 2 * slots_.size());
    for (Slot& slot : slots_)
      if (slot.used) larger[place(larger, slot.key)] = std::move(slot);
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

/// Things that are under way, by small numbers that are used again. References hold until the next take().
template <class T>
class Slab {
 public:
  std::uint32_t take() {
    if (free_.empty()) {
      items_.emplace_back();
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    return place;
  }
  void give(std::uint32_t place) {
    items_[place] = T{};
    free_.push_back(place);
  }
  [[nodiscard]] T& operator[](std::uint32_t place) { return items_[place]; }
  [[nodiscard]] std::size_t in_use() const { return items_.size() - free_.size(); }
  [[nodiscard]] std::size_t places() const { return items_.size(); }

 private:
  std::vector<T> items_;
  std::vector<std::uint32_t> free_;
};

}  // namespace nplus1::hypothesis
