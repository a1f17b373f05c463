#include "detector/content.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "events/payload/payload_hash.hpp"
#include "events/polynomial_hash.hpp"

namespace nplus1::detector {
namespace {

using events::Residue;

/// Numbers up to this occur as flags and counts everywhere.
constexpr std::int64_t kSmallNumber = 65536;
constexpr std::uint8_t kBitsOfSmallNumber = 11;

std::uint64_t mix(std::uint64_t v) {
  v = (v ^ (v >> 30U)) * 0xbf58476d1ce4e5b9U;
  v = (v ^ (v >> 27U)) * 0x94d049bb133111ebU;
  return v ^ (v >> 31U);
}

std::int64_t as_number(const Content& c) {
  if (c.bytes == 4) return static_cast<std::int32_t>(c.prefix);
  return static_cast<std::int64_t>(c.prefix);
}

/// Multipliers of CRCs by a length. Payloads have few lengths, and to work one out costs ten times what it is used for.
class Multipliers {
 public:
  explicit Multipliers(uLong (*make)(std::uint64_t)) : make_{make} {}
  uLong operator[](std::uint64_t length) {
    Known& entry = known_[mix(length) % known_.size()];
    if (!entry.is_known || entry.length != length) entry = {true, length, make_(length)};
    return entry.multiplier;
  }

 private:
  struct Known {
    bool is_known = false;
    std::uint64_t length = 0;
    uLong multiplier = 0;
  };
  uLong (*make_)(std::uint64_t);
  std::array<Known, 512> known_{};
};

/// What appending so many bytes multiplies by, at most a period.
uLong appending(std::uint64_t bytes) {
  static thread_local Multipliers multipliers{
      [](std::uint64_t length) { return crc32_combine_gen(static_cast<z_off_t>(length)); }};
  return multipliers[bytes];
}

/// What being there so many times in a row multiplies the CRC of a word of 8 bytes by: 1 + m + m^2 + ..., m being what
/// appending one multiplies by. By doubling.
uLong repeating(std::uint64_t words) {
  static thread_local Multipliers multipliers{[](std::uint64_t times) {
    constexpr std::uint32_t kOne = 0x80000000U;  // bits are mirrored
    std::uint32_t block = kOne;
    std::uint32_t sum = 0;
    std::uint64_t length = 8;
    for (std::uint64_t n = times; n != 0; n >>= 1U, length *= 2) {
      if ((n & 1U) != 0) sum = crc_concatenated(sum, block, length);
      block = crc_concatenated(block, block, length);
    }
    return uLong{sum};
  }};
  return multipliers[words];
}

/// CRC of `bytes` bytes that repeat the 8 of `word`.
std::uint32_t crc_of_repeated(std::uint64_t word, std::uint64_t bytes) {
  std::array<unsigned char, 8> pattern{};
  std::memcpy(pattern.data(), &word, pattern.size());
  const uLong multiplier = repeating(bytes / 8);
  uLong crc = 0;
  if (multiplier != 0)  // with which zlib never ends
    crc = crc32_combine_op(crc32_z(0, pattern.data(), pattern.size()), 0, multiplier);
  return static_cast<std::uint32_t>(crc32_z(crc, pattern.data(), bytes % 8));
}

/// Whether `polynomial` is that of `bytes` bytes that repeat the 8 of `word`, as elements of `width` bytes (8: words).
bool is_polynomial_of_repeated(std::uint64_t polynomial, std::uint64_t word, std::uint64_t bytes,
                               std::uint64_t width, bool is_signed) {
  if (width == 0 || 8 % width != 0) return false;
  Residue block;  // of what repeats
  const unsigned bits = static_cast<unsigned>(8 * width);
  for (std::uint64_t i = 0; i < 8 / width; ++i) {
    const std::uint64_t element = word << (64U - bits * (i + 1)) >> (64U - bits);
    const bool negative = is_signed && (element >> (bits - 1)) != 0;
    const Residue value = negative
                              ? Residue{element} - Residue{1} - Residue{~std::uint64_t{0} >> (64U - bits)}
                              : Residue{element};
    block = block * events::kHashPoint + value;
  }
  Residue hash;
  std::uint64_t length = 8 / width;
  for (std::uint64_t n = bytes / 8; n != 0; n >>= 1U, length *= 2) {
    if ((n & 1U) != 0) hash = events::hash_concatenated(hash, block, length);
    block = events::hash_concatenated(block, block, length);
  }
  return bytes % 8 == 0 && hash.value() == polynomial;
}

std::uint32_t crc_of_zeros(std::uint64_t bytes) {
  return crc_of_repeated(0, bytes);
}

/// crc(a ^ b ^ ...) is the exclusive or of the CRCs, and of the zeros' CRC once for each operand too many.
bool is_bxor(const Content& result, std::span<const Content> operands) {
  std::uint32_t crc = 0;
  std::uint64_t prefix = 0;
  for (const Content& c : operands) {
    crc ^= c.crc;
    prefix ^= c.prefix;
  }
  if (prefix != result.prefix) return false;  // nearly always; the zeros' CRC takes longer
  if (operands.size() % 2 == 0) crc ^= crc_of_zeros(result.bytes);
  return crc == result.crc;
}

bool is_integer_sum(const Content& result, std::span<const Content> operands) {
  Residue sum;
  for (const Content& c : operands) sum = sum + Residue{c.polynomial};
  return sum.value() == result.polynomial;
}

/// Above so many times the smallest normal float a sum of floats is exact enough.
constexpr double kExactFrom = 1000;

/// Rounding: half a unit in the last place for each element and addition, of the operands and of the sketch. That of
/// floats is far above all others.
bool is_real_sum(const Content& result, std::span<const Content> operands) {
  double sum = 0;
  double magnitude = static_cast<double>(result.magnitude);
  for (const Content& c : operands) {
    sum += std::bit_cast<double>(c.polynomial);
    magnitude += static_cast<double>(c.magnitude);
  }
  // The magnitude is kept as a float: of very small numbers (the residual of a solver) it is 0, or hardly exact.
  if (magnitude < static_cast<double>(std::numeric_limits<float>::min()) * kExactFrom)
    for (const Content& c : operands) magnitude += std::abs(std::bit_cast<double>(c.polynomial));
  const double elements = std::max(2.0, static_cast<double>(result.bytes) / 4);
  const double bound = result.element == 4
                           ? std::numeric_limits<float>::epsilon() * magnitude
                           : 4 * std::numeric_limits<double>::epsilon() * std::log2(elements) * 8 * magnitude;
  const double error = std::abs(sum - std::bit_cast<double>(result.polynomial));
  return std::isfinite(error) && error <= bound && magnitude > 0;
}

/// Whether `combine(samples so far, next sample)` over the operands gives the result's samples, as far as floats tell:
/// `scale` is what the rounding errors are relative to. Without samples nothing speaks against it.
template <class Combine, class Scale>
bool agree_in_samples(const Content& result, std::span<const Content> operands, Combine combine,
                      Scale scale) {
  if ((result.known & events::kHasSamples) == 0) return true;
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    double value = static_cast<double>(operands.front().samples[i]);
    double size = std::abs(value);
    for (const Content& c : operands.subspan(1)) {
      if ((c.known & events::kHasSamples) == 0) return true;
      value = combine(value, static_cast<double>(c.samples[i]));
      size = scale(size, std::abs(static_cast<double>(c.samples[i])));
    }
    const double error = std::abs(value - static_cast<double>(result.samples[i]));
    // Below the smallest normal number a float is as exact as that, whatever its size.
    const double bound = static_cast<double>(operands.size() + 1) *
                         std::max(std::numeric_limits<float>::epsilon() * size,
                                  static_cast<double>(std::numeric_limits<float>::denorm_min()));
    if (!(error <= bound)) return false;
  }
  return true;
}

/// Products of floating-point numbers: by the samples alone, none of which may be 0 (0 times anything is 0). Those that
/// are one of the operands (1 times anything is that) say nothing; the others have to say enough.
bool is_real_product(const Content& result, std::span<const Content> operands) {
  constexpr unsigned kEnough = 14;
  if (std::ranges::any_of(result.samples, [](float s) { return s == 0; })) return false;
  unsigned bits = 0;
  for (std::size_t i = 0; i < result.samples.size(); ++i)
    if (std::ranges::none_of(operands, [&](const Content& c) { return c.samples[i] == result.samples[i]; }))
      bits += significant_bits(static_cast<double>(result.samples[i]));
  const auto multiply = [](double a, double b) { return a * b; };
  return bits >= kEnough && agree_in_samples(result, operands, multiply, multiply);
}

template <class Combine>
bool is_fold(const Content& result, std::span<const Content> operands, Combine combine) {
  std::int64_t value = as_number(operands.front());
  for (const Content& c : operands.subspan(1)) value = combine(value, as_number(c));
  return value == as_number(result);
}

Operations fitting(const Content& result, std::span<const Content> operands) {
  if (operands.size() < 2 || !result.hashed()) return 0;
  const auto all_have = [&](std::uint8_t what) {
    return (result.known & what) != 0 &&
           std::ranges::all_of(operands, [&](const Content& c) { return (c.known & what) != 0; });
  };
  Operations found = 0;
  if (all_have(events::kHasElements) && is_integer_sum(result, operands)) found |= only(Operation::kSum);
  if (all_have(events::kHasSketch) && is_real_sum(result, operands) &&
      agree_in_samples(result, operands, std::plus<double>{}, std::plus<double>{}))
    found |= only(Operation::kSum);
  if (all_have(events::kHasCrc) && is_bxor(result, operands)) found |= only(Operation::kBxor);
  if (all_have(events::kHasSketch) && all_have(events::kHasSamples) && is_real_product(result, operands))
    found |= only(Operation::kProd);
  if (result.bytes > 8 || !all_have(events::kHasElements)) return found;
  const auto product = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  };
  if (is_fold(result, operands, product)) found |= only(Operation::kProd);
  return found;
}

/// Of `width` bytes at `at`, as a number of that type.
double number_at(const std::byte* at, events::payload::ElementType type, std::size_t width) {
  using events::payload::ElementType;
  const auto as = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return static_cast<double>(value);
  };
  if (type == ElementType::kDouble) return as(double{});
  if (type == ElementType::kFloat) return as(float{});
  if (width == 2) return as(std::int16_t{});
  if (width == 4) return as(std::int32_t{});
  return as(std::int64_t{});
}

}  // namespace

std::uint64_t Content::key() const {
  return mix(polynomial ^ mix(crc + (bytes << 32U)) ^ mix(prefix + 0x9e3779b97f4a7c15U));
}

bool Content::is_constant() const {
  if (bytes == 0) return true;
  if (!hashed()) return false;
  if (information != 0 && information <= kBitsOfSmallNumber && bytes <= events::kExcerptBytes) return true;
  if (bytes <= 8) {
    if ((known & events::kHasSketch) != 0) return information == 0;
    const std::int64_t number = as_number(*this);
    return (number > -kSmallNumber && number < kSmallNumber);
  }
  if (has_crc()) return crc_of_repeated(prefix, bytes) == crc;
  const std::uint64_t width = (known & events::kHasElements) != 0 ? element : 8;
  return is_polynomial_of_repeated(polynomial, prefix, bytes, width, false) ||
         is_polynomial_of_repeated(polynomial, prefix, bytes, width, true);
}

std::vector<long double> some_elements(const Content& content) {
  if (content.bytes < content.element || (content.known & events::kHasPrefix) == 0) return {};
  const bool real = (content.known & events::kHasSketch) != 0;
  if (!real && (content.known & events::kHasElements) == 0) return {};
  std::vector<long double> found;
  const auto low = static_cast<std::uint32_t>(content.prefix);
  if (content.element == 8)
    found = {real ? std::bit_cast<double>(content.prefix)
                  : static_cast<long double>(static_cast<std::int64_t>(content.prefix))};
  else if (content.element == 4)
    found = {real ? std::bit_cast<float>(low) : static_cast<long double>(static_cast<std::int32_t>(low))};
  else
    return {};
  if ((content.known & events::kHasSamples) != 0)
    found.insert(found.end(), content.samples.begin(), content.samples.end());
  return found;
}

Content content_of(std::uint64_t bytes, const events::Detail* told, events::payload::ElementType type) {
  Content content;
  content.bytes = bytes;
  if (told == nullptr) return content;
  const events::Detail detail = events::payload::with_hashes(*told, bytes, type);
  content.known = static_cast<std::uint8_t>(detail.content & ~(events::kHasPayload | events::kHasSamples));
  content.crc = detail.crc;
  content.prefix = detail.prefix;
  content.polynomial = detail.polynomial;
  if ((detail.content & events::kHasSketch) != 0)
    std::memcpy(&content.magnitude, detail.reserved, sizeof(content.magnitude));
  content.information = information_of(*told, bytes, type);
  if (const auto samples = events::payload::samples_of(*told, bytes, type); samples.known) {
    content.samples = samples.values;
    content.known |= events::kHasSamples;
  }
  return content;
}

std::uint32_t crc_concatenated(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  // Appending bytes multiplies by a power of x, and those repeat: so no length is too large for zlib, which never ends
  // on a negative one.
  constexpr std::uint64_t kPeriod = 0xffffffffU;
  return static_cast<std::uint32_t>(crc32_combine_op(first, second, appending(second_bytes % kPeriod)));
}

std::optional<double> agreement(const Content& whole, std::uint64_t offset, const Content& part) {
  const std::uint64_t width = whole.element;
  if (width == 0 || part.element != width || offset % width != 0) return 0;
  const auto a = some_elements(whole);
  const auto b = some_elements(part);
  // Element 0 is the prefix, the others the samples.
  const auto place = [&](const Content& c, std::size_t i) {
    return i == 0 ? 0 : (c.bytes / width - 1) * i / events::kSamples;
  };
  double bits = 0;
  std::uint64_t last = ~std::uint64_t{0};
  for (std::size_t k = 0; k < b.size(); ++k)
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::uint64_t at = place(whole, i);
      if (at != offset / width + place(part, k) || at == last) continue;
      const auto expected = static_cast<float>(a[i]);
      if (expected != static_cast<float>(b[k])) return std::nullopt;
      bits += significant_bits(static_cast<double>(expected));
      last = at;
    }
  return bits;
}

const char* name(Operation operation) {
  constexpr std::array kNames{"sum", "bxor", "max", "min", "prod"};
  return kNames.at(static_cast<std::size_t>(operation));
}

Operations combinations(const Content& result, std::span<const Content> operands) {
  // 0 + 0 = 0 proves nothing.
  if (std::ranges::all_of(operands, [](const Content& c) { return c.is_constant(); })) return 0;
  return fitting(result, operands);
}

std::optional<Operation> combination(const Content& result, std::span<const Content> operands) {
  const Operations all = combinations(result, operands);
  if (all == 0) return std::nullopt;
  return static_cast<Operation>(std::countr_zero(all));
}

unsigned significant_bits(double number) {
  if (number == 0 || !std::isfinite(number)) return 0;
  constexpr unsigned kOfSize = 3;
  constexpr std::uint64_t kFirstDigit = std::uint64_t{1}
                                        << 52U;  // not stored, but where the number is subnormal
  const auto word = std::bit_cast<std::uint64_t>(number);
  const bool normal = (word >> 52U & 0x7ffU) != 0;
  const std::uint64_t digits = (word & (kFirstDigit - 1)) | (normal ? kFirstDigit : 0);
  return static_cast<unsigned>(std::bit_width(digits)) - static_cast<unsigned>(std::countr_zero(digits)) +
         kOfSize;
}

std::uint8_t information_of(const events::Detail& detail, std::uint64_t bytes,
                            events::payload::ElementType type) {
  constexpr unsigned kMost = 255;
  constexpr unsigned kOfHash = 8;   // something in it differs from its first word
  constexpr unsigned kUnseen = 64;  // a hash, and nothing of what it is of
  if (bytes == 0) return 0;
  const std::size_t width = events::payload::width(type);
  std::array<double, events::kExcerptBytes / 2 + 2> numbers;
  std::size_t count = 0;
  const auto take = [&](const void* words, std::size_t size) {
    const auto* at = static_cast<const std::byte*>(words);
    for (std::size_t i = 0; i + width <= size; i += width) numbers[count++] = number_at(at + i, type, width);
    std::array<std::byte, 8> rest{};
    if (size % width != 0) {
      std::memcpy(rest.data(), at + size / width * width, size % width);
      numbers[count++] = number_at(rest.data(), events::payload::ElementType::kInt64, 8);
    }
  };
  unsigned sum = 0;
  if ((detail.content & events::kHasPayload) != 0) {
    take(detail.excerpt.data(), std::min<std::size_t>(bytes, events::kExcerptBytes));
  } else {
    if ((detail.content & events::kHasPrefix) == 0)
      return (detail.content & (events::kHasCrc | events::kHasPolynomial)) != 0 ? kUnseen : 0;
    take(&detail.prefix, std::min<std::size_t>(bytes, sizeof(detail.prefix)));
    if (const auto samples = events::payload::samples_of(detail, bytes, type); samples.known)
      for (const float s : samples.values) numbers[count++] = static_cast<double>(s);
    sum = bytes > sizeof(detail.prefix) ? kOfHash : 0;
  }
  // An element that is repeated says nothing more.
  const auto known = std::span{numbers}.first(count);
  if (count > 1) std::ranges::sort(known);
  for (std::size_t i = 0; i < count; ++i)
    if (i == 0 || known[i] != known[i - 1]) sum += significant_bits(known[i]);
  return static_cast<std::uint8_t>(std::min(sum, kMost));
}

}  // namespace nplus1::detector
