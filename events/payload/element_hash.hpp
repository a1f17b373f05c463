// The hash of a payload that knows its elements: what tells a sum from its operands without keeping either.
// Integers: events/polynomial_hash.hpp. Floating point: a sketch, the sum of the elements with fixed weights,
// which is as linear as their rounding allows, and the sum of their absolute values, which bounds that
// rounding. Other types: the integer hash over words of 8 bytes, good for equality alone. On the way a few
// samples of the elements are taken, which tell maxima and minima.
// Never fails; one thread at a time for each object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "events/event.hpp"
#include "events/payload/element_type.hpp"
#include "events/polynomial_hash.hpp"

namespace nplus1::events::payload {

class ElementHash {
 public:
  /// `total`: bytes of the payload, for the places of the samples; 0: without samples.
  explicit ElementHash(ElementType type, std::size_t total = 0);
  /// The next bytes of the packed payload; pieces may end inside of an element.
  void add(const void* bytes, std::size_t size);
  /// Writes the hash of what was added.
  void store(Detail& detail) const;
  /// Whether the samples (kSamples of them) have been taken: not of words, nor of nothing.
  [[nodiscard]] bool has_samples() const { return sampled_ == kSamples; }
  [[nodiscard]] const std::array<float, kSamples>& samples() const { return samples_; }

 private:
  static constexpr std::size_t kLanes = 8;

  void take(const std::byte* elements, std::size_t count);
  template <class T>
  void take_as(const std::byte* elements, std::size_t count);
  template <class T>
  void take_integers(const std::byte* elements, std::size_t count);
  template <class T>
  void take_reals(const std::byte* elements, std::size_t count);
  template <class T>
  void take_samples(const std::byte* elements, std::size_t count);
  [[nodiscard]] std::uint64_t next_sample() const { return (expected_ - 1) * (sampled_ + 1) / kSamples; }

  ElementType type_;
  PolynomialHash polynomial_;
  // Each lane sums every eighth element, so that the result does not depend on how the payload was cut.
  std::array<double, kLanes> sketch_{};
  std::array<double, kLanes> magnitude_{};
  std::uint64_t elements_ = 0;
  std::uint64_t expected_ = 0;  // elements in all, if samples are to be taken
  std::size_t sampled_ = 0;
  std::array<float, kSamples> samples_{};
  std::array<std::byte, 8> partial_{};  // an element whose end has not come yet
  std::size_t pending_ = 0;
};

}  // namespace nplus1::events::payload
