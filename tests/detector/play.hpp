// What random programs are written with: dice, data and messages. Tests only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "detector/testing/world.hpp"

namespace nplus1::tests {

using detector::World;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15U + 1} {}
  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t v = state_;
    v = (v ^ (v >> 30U)) * 0xbf58476d1ce4e5b9U;
    v = (v ^ (v >> 27U)) * 0x94d049bb133111ebU;
    return v ^ (v >> 31U);
  }
  /// first to last, both included.
  int between(int first, int last) {
    return first + static_cast<int>(bits() % static_cast<std::uint64_t>(last - first + 1));
  }
  bool chance(double share) { return real() < share; }
  double real() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  template <class T>
  const T& of(const std::vector<T>& items) {
    return items[bits() % items.size()];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[bits() % i]);
  }

 private:
  std::uint64_t state_;
};

/// How the numbers of a program are distributed.
enum class Values : std::uint8_t { kMany, kSigned, kFew, kMostlyZero, kGrowing, kSame };

struct Send {
  int from;
  std::int64_t at;
  std::int64_t count;
  int to;
  std::int64_t into;
};

struct Play {
  World& w;
  Dice dice;
  Values values;
  int site = 1;
  double clock = 0;  // for growing values

  static constexpr double kLarge = 65536;  // smaller ones are counts and flags, which prove nothing

  [[nodiscard]] int p() const { return w.ranks(); }
  double number() {
    switch (values) {
      case Values::kMany:
        return w.is_real() ? dice.real() : kLarge + static_cast<double>(dice.bits() % 100'000'007);
      case Values::kSigned: {
        if (w.is_real()) return 2 * dice.real() - 1;
        const double size = kLarge + static_cast<double>(dice.bits() % 50'000'003);
        return dice.chance(0.5) ? size : -size;
      }
      case Values::kFew:
        return static_cast<double>(dice.between(0, 2)) * (w.is_real() ? 0.5 : 1);
      case Values::kMostlyZero:
        return dice.chance(0.92)
                   ? 0
                   : (w.is_real() ? dice.real() : static_cast<double>(dice.between(1, 1'000'000)));
      case Values::kGrowing:
        return clock += w.is_real() ? 0.001 + dice.real() : dice.between(1, 1000);
      case Values::kSame:
        return 7;
    }
    return 0;
  }
  /// New data.
  void draw(int rank, std::int64_t at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) w.put(rank, at + i, number());
  }
  void send(const Send& s, int tag = 0) {
    w.send(s.from, s.at, s.count, s.to, s.into, {.site = site, .tag = tag});
  }
  /// All under way before the first is received.
  void at_once(const std::vector<Send>& sends, int tag = 0) {
    std::vector<World::Message> under_way;
    for (const Send& s : sends)
      under_way.push_back(w.post(s.from, s.at, s.count, s.to, {.site = site, .tag = tag}));
    for (std::size_t i = 0; i < sends.size(); ++i)
      w.receive(under_way[i], sends[i].into, {.site = site, .tag = tag});
  }
};

inline int ceil_log2(int p) {
  int rounds = 0;
  while ((1 << rounds) < p) ++rounds;
  return rounds;
}

}  // namespace nplus1::tests
