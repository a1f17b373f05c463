// The 61-bit hash of a payload of integers: the value of the polynomial whose coefficients are its elements,
// at a fixed point, modulo the prime 2^61 - 1. What makes it useful beyond equality (all modulo p, absent
// overflow of the elements):
//   linear      h(a + b) = h(a) + h(b), element by element: an MPI_SUM can be verified from hashes
//   splittable  h(ab) = h(a) x^(elements of b) + h(b)
// Pure; from any thread. The stubs compute it, analyses combine it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nplus1::events {

/// Integers modulo 2^61 - 1.
class Residue {
 public:
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61U) - 1;

  constexpr Residue() = default;
  /// `value` modulo the prime.
  constexpr explicit Residue(std::uint64_t value) : value_{fold(value)} {}
  /// Negative elements count as such, so that sums of mixed signs work.
  static constexpr Residue of_signed(std::int64_t value) {
    // p - (-value): two's complement makes -value of the most negative number right, too.
    return value >= 0 ? Residue{static_cast<std::uint64_t>(value)}
                      : Residue{} - Residue{std::uint64_t{0} - static_cast<std::uint64_t>(value)};
  }
  __extension__ using Wide = unsigned __int128;
  static constexpr Residue of_wide(Wide value) {
    // The high part stands for 2^64 = 8 modulo the prime, times itself.
    return Residue{static_cast<std::uint64_t>(value)} +
           Residue{8} * Residue{static_cast<std::uint64_t>(value >> 64U)};
  }
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

  friend constexpr Residue operator+(Residue a, Residue b) { return Residue{a.value_ + b.value_}; }
  friend constexpr Residue operator-(Residue a, Residue b) { return Residue{a.value_ + kPrime - b.value_}; }
  friend constexpr Residue operator*(Residue a, Residue b) { return reduce(Wide{a.value_} * b.value_); }
  friend constexpr bool operator==(Residue, Residue) = default;

 private:
  static constexpr std::uint64_t fold(std::uint64_t v) {
    v = (v & kPrime) + (v >> 61U);
    return v >= kPrime ? v - kPrime : v;
  }
  static constexpr Residue reduce(Wide v) {
    return Residue{static_cast<std::uint64_t>(v & kPrime) + static_cast<std::uint64_t>(v >> 61U)};
  }
  std::uint64_t value_ = 0;
};

/// Where the polynomial is evaluated: an arbitrary number of 61 bits.
inline constexpr Residue kHashPoint{0x0e3779b97f4a7c15U};

/// x^n.
[[nodiscard]] constexpr Residue hash_power(std::uint64_t n) {
  Residue result{1};
  for (Residue square = kHashPoint; n != 0; n >>= 1U, square = square * square)
    if ((n & 1U) != 0) result = result * square;
  return result;
}

/// The hash of a payload followed by another of `second_elements` elements.
[[nodiscard]] constexpr Residue hash_concatenated(Residue first, Residue second,
                                                  std::uint64_t second_elements) {
  return first * hash_power(second_elements) + second;
}

/// Takes elements one by one or in blocks.
class PolynomialHash {
 public:
  static constexpr std::size_t kBlock = 16;

  void add(Residue element) { value_ = value_ * kHashPoint + element; }
  /// The same for kBlock numbers below 2^64, several times faster: eight products are summed before they are
  /// reduced (8 x (2^64 - 1) x (2^61 - 2) is just below 2^128), and one step depends on the one before,
  /// not 16.
  void add_block(const std::uint64_t* elements) {
    value_ = value_ * powers()[kBlock] + sum_of_eight(elements, powers().of + kBlock - 1) +
             sum_of_eight(elements + 8, powers().of + kBlock - 9);
  }
  [[nodiscard]] Residue value() const { return value_; }

 private:
  struct Powers {
    Residue of[kBlock + 1];
    constexpr Powers() {
      for (std::size_t i = 0; i <= kBlock; ++i) of[i] = hash_power(i);
    }
    constexpr Residue operator[](std::size_t i) const { return of[i]; }
  };
  static constexpr const Powers& powers() { return kPowers; }
  static const Powers kPowers;

  /// elements[0] power[0] + elements[1] power[-1] + ... of eight.
  static Residue sum_of_eight(const std::uint64_t* elements, const Residue* power) {
    Residue::Wide sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum += Residue::Wide{elements[i]} * (power - i)->value();
    return Residue::of_wide(sum);
  }

  Residue value_;
};
inline constexpr PolynomialHash::Powers PolynomialHash::kPowers{};

}  // namespace nplus1::events
