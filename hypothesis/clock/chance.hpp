// Chance that depends on what it is asked for and on nothing else, so that each pass over a recording meets the same one.
//
// Pure. Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators" (2014).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nplus1::hypothesis::clock {

[[nodiscard]] inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
  return x ^ x >> 31U;
}

/// Of numbers, for tables that take the low bits.
struct Mixed {
  std::size_t operator()(std::uint64_t x) const { return mixed(x); }
};

/// In [0, 1).
[[nodiscard]] inline double fraction(std::uint64_t x) {
  return static_cast<double>(x >> 11U) * 0x1p-53;
}

/// One of the sets of samples that might have been; number 0 is the one that is, and says what is the most likely.
class Replicate {
 public:
  explicit Replicate(std::uint32_t number = 0) : number_{number} {}
  [[nodiscard]] bool is_estimate() const { return number_ == 0; }
  [[nodiscard]] std::uint64_t random(std::uint64_t of) const { return mixed(of ^ mixed(number_)); }
  /// In [0, 1).
  [[nodiscard]] double chance(std::uint64_t of) const { return fraction(random(of)); }

 private:
  std::uint32_t number_;
};

}  // namespace nplus1::hypothesis::clock
