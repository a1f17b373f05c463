// Random numbers that are the same on all ranks, and small helpers of the random programs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace random_programs {

/// Splitmix64: short, and the same everywhere.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b = 0) {
  std::uint64_t z = a * 0x9E3779B97F4A7C15u + b + 0x632BE59BD9B4E019u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_{mix(seed)} {}
  std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  /// 0 to n - 1.
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  int between(int from, int to) { return from + below(to - from + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<int>(choices.size()))];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<std::size_t>(below(static_cast<int>(i)))]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace random_programs
