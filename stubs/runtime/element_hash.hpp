// The hash of a payload that knows its elements: what tells a sum from its operands without keeping either.
// Integers: events/polynomial_hash.hpp. Floating point: a sketch, the sum of the elements with fixed weights,
// which is as linear as their rounding allows, and the sum of their absolute values, which bounds that
// rounding. Other types: the integer hash over words of 8 bytes, good for equality alone.
// Never fails; one thread at a time for each object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "events/event.hpp"
#include "events/polynomial_hash.hpp"

namespace nplus1::stubs {

enum class ElementType : std::uint8_t {
  kWords,
  kInt16,
  kInt32,
  kInt64,
  kUint16,
  kUint32,
  kUint64,
  kFloat,
  kDouble
};

/// By the name of an MPI datatype, or of one that is made of a single type: "MPI_Type_vector(MPI_DOUBLE)".
[[nodiscard]] ElementType element_type(std::string_view datatype, std::int64_t bytes);

class ElementHash {
 public:
  explicit ElementHash(ElementType type) : type_{type} {}
  /// The next bytes of the packed payload; pieces may end inside of an element.
  void add(const void* bytes, std::size_t size);
  /// Writes the hash of what was added.
  void store(events::Detail& detail) const;

 private:
  static constexpr std::size_t kLanes = 8;

  [[nodiscard]] std::size_t width() const;
  void take(const std::byte* elements, std::size_t count);
  template <class T>
  void take_integers(const std::byte* elements, std::size_t count);
  template <class T>
  void take_reals(const std::byte* elements, std::size_t count);

  ElementType type_;
  events::PolynomialHash polynomial_;
  // Each lane sums every eighth element, so that the result does not depend on how the payload was cut.
  std::array<double, kLanes> sketch_{};
  std::array<double, kLanes> magnitude_{};
  std::uint64_t elements_ = 0;
  std::array<std::byte, 8> partial_{};  // an element whose end has not come yet
  std::size_t pending_ = 0;
};

}  // namespace nplus1::stubs
