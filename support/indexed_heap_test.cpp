#include "support/indexed_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace nplus1 {
namespace {

TEST(IndexedHeap, KeepsTheEarliestOnTopThroughRandomChanges) {
  std::mt19937 random{1};
  IndexedHeap heap;
  std::map<std::uint32_t, Time> plain;
  for (int i = 0; i < 20000; ++i) {
    const auto item = static_cast<std::uint32_t>(random() % 100);
    if (random() % 3 == 0) {
      heap.erase(item);
      plain.erase(item);
    } else {
      const Time time{Duration{random() % 50}};
      heap.set(item, time, item);
      plain[item] = time;
    }
    ASSERT_EQ(heap.empty(), plain.empty());
    if (plain.empty()) continue;
    const auto earliest = std::min_element(plain.begin(), plain.end(), [](const auto& a, const auto& b) {
      return std::pair{a.second, a.first} < std::pair{b.second, b.first};
    });
    ASSERT_EQ(heap.top().item, earliest->first);
    ASSERT_EQ(heap.top().time, earliest->second);
  }
}

}  // namespace
}  // namespace nplus1
