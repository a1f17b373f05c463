// Which numbers a payload is made of, by its MPI datatype. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nplus1::events::payload {

enum class ElementType : std::uint8_t {
  kWords,  // not numbers, or not known
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
/// `bytes`: of one element of that datatype.
[[nodiscard]] ElementType element_type(std::string_view datatype, std::int64_t bytes);

/// Bytes of one; 8 for kWords.
[[nodiscard]] std::size_t width(ElementType type);

[[nodiscard]] constexpr bool is_real(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kDouble;
}

}  // namespace nplus1::events::payload
