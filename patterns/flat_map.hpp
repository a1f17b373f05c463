// A hash table from 64-bit keys to small values that only grows: open addressing in one array, so that a
// look-up on the simulator's thread costs one cache line. Not thread-safe. Its own because what only grows can do without
// what a general table keeps for each key: Debian's tsl::robin_map takes 3 to 12 % longer to count pairs of neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nplus1::patterns {

template <class Value>
class FlatMap {
 public:
  struct Slot {
    std::uint64_t key{};
    Value value{};
    bool used = false;
  };

  /// The value of `key`, made by Value{} if it is new. Valid until the next new key.
  Value& operator[](std::uint64_t key) {
    if (slots_.empty()) slots_.resize(kFirst);
    Slot* slot = &probe(slots_, key);
    if (slot->used) return slot->value;
    if (4 * (size_ + 1) > 3 * slots_.size()) {
      grow();
      slot = &probe(slots_, key);
    }
    ++size_;
    slot->key = key;
    slot->used = true;
    return slot->value;
  }

  [[nodiscard]] Value* find(std::uint64_t key) {
    if (slots_.empty()) return nullptr;
    Slot& slot = probe(slots_, key);
    return slot.used ? &slot.value : nullptr;
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  /// In no particular order: visit(key, value).
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_)
      if (slot.used) visit(slot.key, slot.value);
  }

 private:
  static constexpr std::size_t kFirst = 16;  // a power of two

  static Slot& probe(std::vector<Slot>& slots, std::uint64_t key) {
    const std::size_t mask = slots.size() - 1;
    std::uint64_t hash = key * 0x9E3779B97F4A7C15ULL;  // Fibonacci hashing: the high bits are the good ones
    hash ^= hash >> 32;
    std::size_t at = hash & mask;
    while (slots[at].used && slots[at].key != key) at = (at + 1) & mask;
    return slots[at];
  }

  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    for (const Slot& slot : slots_)
      if (slot.used) probe(larger, slot.key) = slot;
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace nplus1::patterns
