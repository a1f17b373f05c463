#include "stubs/runtime/element_hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace nplus1::stubs {
namespace {

using events::Residue;

constexpr std::size_t kWeights = 64;

/// Numbers between 1 and 2 without a pattern, so that exchanged elements change the sketch.
constexpr std::array<double, kWeights> make_weights() {
  std::array<double, kWeights> weights{};
  std::uint64_t state = 1;
  for (double& w : weights) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    w = 1.0 + static_cast<double>(state >> 44U) * 0x1p-20;
  }
  return weights;
}
constexpr std::array<double, kWeights> kWeight = make_weights();

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
  const std::int64_t width = number_bytes(datatype, name, bytes);
  if (width < 1 || bytes % width != 0) return ElementType::kWords;
  const auto pick = [&](ElementType two, ElementType four, ElementType eight) {
    return width == 2 ? two : width == 4 ? four : width == 8 ? eight : ElementType::kWords;
  };
  if (is_signed(name)) return pick(ElementType::kInt16, ElementType::kInt32, ElementType::kInt64);
  if (is_unsigned(name)) return pick(ElementType::kUint16, ElementType::kUint32, ElementType::kUint64);
  if (is_real(name)) return pick(ElementType::kWords, ElementType::kFloat, ElementType::kDouble);
  return ElementType::kWords;
}

std::size_t ElementHash::width() const {
  switch (type_) {
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

template <class T>
void ElementHash::take_integers(const std::byte* elements, std::size_t count) {
  const auto residue = [&](std::size_t i) {
    T value;
    std::memcpy(&value, elements + i * sizeof(T), sizeof(T));
    if constexpr (std::is_signed_v<T>)
      return Residue::of_signed(value);
    else
      return Residue{value};
  };
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Residue block[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) block[lane] = residue(i + lane);
    polynomial_.add_block(block);
  }
  for (; i < count; ++i) polynomial_.add(residue(i));
}

template <class T>
void ElementHash::take_reals(const std::byte* elements, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, elements + i * sizeof(T), sizeof(T));
    const std::uint64_t place = elements_ + i;
    const double v = static_cast<double>(value);
    sketch_[place % kLanes] += kWeight[place % kWeights] * v;
    magnitude_[place % kLanes] += v < 0 ? -v : v;
  }
}

void ElementHash::take(const std::byte* elements, std::size_t count) {
  switch (type_) {
    case ElementType::kInt16:
      take_integers<std::int16_t>(elements, count);
      break;
    case ElementType::kInt32:
      take_integers<std::int32_t>(elements, count);
      break;
    case ElementType::kInt64:
      take_integers<std::int64_t>(elements, count);
      break;
    case ElementType::kUint16:
      take_integers<std::uint16_t>(elements, count);
      break;
    case ElementType::kUint32:
      take_integers<std::uint32_t>(elements, count);
      break;
    case ElementType::kFloat:
      take_reals<float>(elements, count);
      break;
    case ElementType::kDouble:
      take_reals<double>(elements, count);
      break;
    default:
      take_integers<std::uint64_t>(elements, count);
  }
  elements_ += count;
}

void ElementHash::add(const void* bytes, std::size_t size) {
  const auto* data = static_cast<const std::byte*>(bytes);
  if (pending_ > 0) {
    const std::size_t more = std::min(size, width() - pending_);
    std::memcpy(partial_.data() + pending_, data, more);
    pending_ += more;
    data += more;
    size -= more;
    if (pending_ < width()) return;
    take(partial_.data(), 1);
    pending_ = 0;
  }
  take(data, size / width());
  pending_ = size % width();
  if (pending_ > 0) std::memcpy(partial_.data(), data + size - pending_, pending_);
}

void ElementHash::store(events::Detail& detail) const {
  if (type_ == ElementType::kFloat || type_ == ElementType::kDouble) {
    double sketch = 0;
    double magnitude = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sketch += sketch_[lane];
      magnitude += magnitude_[lane];
    }
    detail.polynomial = std::bit_cast<std::uint64_t>(sketch);
    const auto rough = static_cast<float>(magnitude);
    std::memcpy(detail.reserved, &rough, sizeof(rough));
    detail.content |= events::kHasSketch;
    return;
  }
  ElementHash whole = *this;
  if (pending_ > 0) {
    std::fill(whole.partial_.begin() + static_cast<std::ptrdiff_t>(pending_), whole.partial_.end(),
              std::byte{});
    whole.take(whole.partial_.data(), 1);
  }
  detail.polynomial = whole.polynomial_.value().value();
  detail.content |= events::kHasPolynomial;
  if (type_ != ElementType::kWords) detail.content |= events::kHasElements;
}

}  // namespace nplus1::stubs
