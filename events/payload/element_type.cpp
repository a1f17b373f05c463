#include "events/payload/element_type.hpp"

#include <algorithm>
#include <initializer_list>

namespace nplus1::events::payload {
namespace {

/// The type inside of "MPI_Type_vector(MPI_Type_contiguous(MPI_INT))".
std::string_view innermost(std::string_view name) {
  const std::size_t open = name.rfind('(');
  if (open == name.npos) return name;
  return name.substr(open + 1, name.find(')', open) - open - 1);
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_signed(std::string_view name) {
  return is_one_of(name, {"MPI_SHORT", "MPI_INT", "MPI_LONG", "MPI_LONG_LONG_INT", "MPI_LONG_LONG",
                          "MPI_INT16_T", "MPI_INT32_T", "MPI_INT64_T", "MPI_INTEGER", "MPI_INTEGER2",
                          "MPI_INTEGER4", "MPI_INTEGER8", "MPI_AINT", "MPI_OFFSET", "MPI_COUNT"});
}

bool is_unsigned(std::string_view name) {
  return is_one_of(name, {"MPI_UNSIGNED_SHORT", "MPI_UNSIGNED", "MPI_UNSIGNED_LONG", "MPI_UNSIGNED_LONG_LONG",
                          "MPI_UINT16_T", "MPI_UINT32_T", "MPI_UINT64_T"});
}

bool is_real(std::string_view name) {
  return is_one_of(name,
                   {"MPI_FLOAT", "MPI_DOUBLE", "MPI_REAL", "MPI_DOUBLE_PRECISION", "MPI_REAL4", "MPI_REAL8",
                    "MPI_COMPLEX", "MPI_DOUBLE_COMPLEX", "MPI_C_COMPLEX", "MPI_C_FLOAT_COMPLEX",
                    "MPI_C_DOUBLE_COMPLEX", "MPI_CXX_FLOAT_COMPLEX", "MPI_CXX_DOUBLE_COMPLEX"});
}

bool is_complex(std::string_view name) {
  return name.find("COMPLEX") != name.npos;
}

/// Bytes of an element of a named type; 0 if its name does not say.
std::int64_t named_bytes(std::string_view name) {
  if (is_one_of(name, {"MPI_SHORT", "MPI_UNSIGNED_SHORT", "MPI_INT16_T", "MPI_UINT16_T", "MPI_INTEGER2"}))
    return 2;
  if (is_one_of(name, {"MPI_INT", "MPI_UNSIGNED", "MPI_INT32_T", "MPI_UINT32_T", "MPI_INTEGER4", "MPI_FLOAT",
                       "MPI_REAL4"}))
    return 4;
  if (is_one_of(name, {"MPI_LONG", "MPI_UNSIGNED_LONG", "MPI_LONG_LONG_INT", "MPI_LONG_LONG",
                       "MPI_UNSIGNED_LONG_LONG", "MPI_INT64_T", "MPI_UINT64_T", "MPI_INTEGER8", "MPI_AINT",
                       "MPI_OFFSET", "MPI_COUNT", "MPI_DOUBLE", "MPI_REAL8"}))
    return 8;
  return 0;
}

/// Bytes of one number: Fortran's default kinds can be 4 or 8 bytes long, which only the type itself knows.
std::int64_t number_bytes(std::string_view whole, std::string_view name, std::int64_t bytes) {
  if (const std::int64_t known = named_bytes(name); known != 0) return known;
  if (is_complex(name)) return whole == name ? bytes / 2 : name.find("DOUBLE") != name.npos ? 8 : 4;
  return whole == name ? bytes : name == "MPI_DOUBLE_PRECISION" ? 8 : 4;
}

}  // namespace

ElementType element_type(std::string_view datatype, std::int64_t bytes) {
  const std::string_view name = innermost(datatype);
  const std::int64_t number = number_bytes(datatype, name, bytes);
  if (number < 1 || bytes % number != 0) return ElementType::kWords;
  const auto pick = [&](ElementType two, ElementType four, ElementType eight) {
    return number == 2 ? two : number == 4 ? four : number == 8 ? eight : ElementType::kWords;
  };
  if (is_signed(name)) return pick(ElementType::kInt16, ElementType::kInt32, ElementType::kInt64);
  if (is_unsigned(name)) return pick(ElementType::kUint16, ElementType::kUint32, ElementType::kUint64);
  if (is_real(name)) return pick(ElementType::kWords, ElementType::kFloat, ElementType::kDouble);
  return ElementType::kWords;
}

std::size_t width(ElementType type) {
  switch (type) {
    case ElementType::kInt16:
    case ElementType::kUint16:
      return 2;
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kFloat:
      return 4;
    default:
      return 8;
  }
}

}  // namespace nplus1::events::payload
