// Finds the number of something by a hash of it: open addressing over the numbers alone, the things stay
// where their owner keeps them. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "events/recording/row_order.hpp"

namespace nplus1::events::recording {

class NumberTable {
 public:
  NumberTable() : slots_(kSmallest) {}

  void clear() {
    slots_.assign(kSmallest, Slot{});
    used_ = 0;
  }

  /// The number for which `is(number)`, among those added with `hash`; kNobody if there is none.
  template <class Is>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, const Is& is) const {
    for (std::size_t at = start(hash);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].number == kNobody) return kNobody;
      if (slots_[at].hash == hash && is(slots_[at].number)) return slots_[at].number;
    }
  }

  void add(std::uint64_t hash, std::uint32_t number) {
    if (2 * ++used_ > slots_.size()) grow();
    place({hash, number});
  }

  /// Mixes `value` into `seed`.
  [[nodiscard]] static std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
    const std::uint64_t h = (seed ^ value) * 0x9e3779b97f4a7c15U;
    return h ^ (h >> 29U);
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t number = kNobody;
  };
  static constexpr std::size_t kSmallest = 64;

  [[nodiscard]] std::size_t start(std::uint64_t hash) const { return (hash >> 20U) & (slots_.size() - 1); }
  void place(Slot slot) {
    std::size_t at = start(slot.hash);
    while (slots_[at].number != kNobody) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.number != kNobody) place(slot);
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace nplus1::events::recording
