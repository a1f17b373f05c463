#include "events/payload/element_hash.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace nplus1::events::payload {
namespace {

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

template <class T>
T element(const std::byte* elements, std::size_t i) {
  T value;
  std::memcpy(&value, elements + i * sizeof(T), sizeof(T));
  return value;
}

/// The number that stands for an element: itself modulo the prime. Negative ones are 2^64 too large in two's
/// complement, which is 8 modulo 2^61 - 1.
template <class T>
std::uint64_t coefficient(T value) {
  if constexpr (std::is_signed_v<T>) {
    const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    return bits - (bits >> 63U << 3U);
  } else {
    return value;
  }
}

}  // namespace

ElementHash::ElementHash(ElementType type, std::size_t total)
    : type_{type}, expected_{type == ElementType::kWords ? 0 : total / width(type)} {}

template <class T>
void ElementHash::take_integers(const std::byte* elements, std::size_t count) {
  std::size_t i = 0;
  for (; i + PolynomialHash::kBlock <= count; i += PolynomialHash::kBlock) {
    std::uint64_t block[PolynomialHash::kBlock];
    for (std::size_t k = 0; k < PolynomialHash::kBlock; ++k)
      block[k] = coefficient(element<T>(elements, i + k));
    polynomial_.add_block(block);
  }
  for (; i < count; ++i) polynomial_.add(Residue{coefficient(element<T>(elements, i))});
}

template <class T>
void ElementHash::take_reals(const std::byte* elements, std::size_t count) {
  const auto one = [&](std::size_t i) {
    const std::uint64_t place = elements_ + i;
    const auto v = static_cast<double>(element<T>(elements, i));
    sketch_[place % kLanes] += kWeight[place % kWeights] * v;
    magnitude_[place % kLanes] += std::fabs(v);
  };
  std::size_t i = 0;
  for (; i < count && (elements_ + i) % kLanes != 0; ++i) one(i);
  // Copies, which stay in registers, and lanes of a number that the compiler knows: it vectorises them.
  auto sketch = sketch_;
  auto magnitude = magnitude_;
  for (; i + kLanes <= count; i += kLanes) {
    const double* weight = kWeight.data() + (elements_ + i) % kWeights;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto v = static_cast<double>(element<T>(elements, i + lane));
      sketch[lane] += weight[lane] * v;
      magnitude[lane] += std::fabs(v);
    }
  }
  sketch_ = sketch;
  magnitude_ = magnitude;
  for (; i < count; ++i) one(i);
}

template <class T>
void ElementHash::take_samples(const std::byte* elements, std::size_t count) {
  while (expected_ != 0 && sampled_ < kSamples && next_sample() < elements_ + count) {
    samples_[sampled_] = static_cast<float>(element<T>(elements, next_sample() - elements_));
    ++sampled_;
  }
}

template <class T>
void ElementHash::take_as(const std::byte* elements, std::size_t count) {
  if constexpr (std::is_floating_point_v<T>)
    take_reals<T>(elements, count);
  else
    take_integers<T>(elements, count);
  take_samples<T>(elements, count);
}

void ElementHash::take(const std::byte* elements, std::size_t count) {
  switch (type_) {
    case ElementType::kInt16:
      take_as<std::int16_t>(elements, count);
      break;
    case ElementType::kInt32:
      take_as<std::int32_t>(elements, count);
      break;
    case ElementType::kInt64:
      take_as<std::int64_t>(elements, count);
      break;
    case ElementType::kUint16:
      take_as<std::uint16_t>(elements, count);
      break;
    case ElementType::kUint32:
      take_as<std::uint32_t>(elements, count);
      break;
    case ElementType::kFloat:
      take_as<float>(elements, count);
      break;
    case ElementType::kDouble:
      take_as<double>(elements, count);
      break;
    case ElementType::kUint64:
    case ElementType::kWords:
      take_as<std::uint64_t>(elements, count);
  }
  elements_ += count;
}

void ElementHash::add(const void* bytes, std::size_t size) {
  if (size == 0) return;  // there may be no address either
  const auto* data = static_cast<const std::byte*>(bytes);
  const std::size_t each = width(type_);
  if (pending_ > 0) {
    const std::size_t more = std::min(size, each - pending_);
    std::memcpy(partial_.data() + pending_, data, more);
    pending_ += more;
    data += more;
    size -= more;
    if (pending_ < each) return;
    take(partial_.data(), 1);
    pending_ = 0;
  }
  take(data, size / each);
  pending_ = size % each;
  if (pending_ > 0) std::memcpy(partial_.data(), data + size - pending_, pending_);
}

void ElementHash::store(Detail& detail) const {
  if (is_real(type_)) {
    double sketch = 0;
    double magnitude = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sketch += sketch_[lane];
      magnitude += magnitude_[lane];
    }
    detail.polynomial = std::bit_cast<std::uint64_t>(sketch);
    const auto rough = static_cast<float>(magnitude);
    std::memcpy(detail.reserved, &rough, sizeof(rough));
    detail.content |= kHasSketch;
    return;
  }
  ElementHash whole = *this;
  if (pending_ > 0) {
    std::fill(whole.partial_.begin() + static_cast<std::ptrdiff_t>(pending_), whole.partial_.end(),
              std::byte{});
    whole.take(whole.partial_.data(), 1);
  }
  detail.polynomial = whole.polynomial_.value().value();
  detail.content |= kHasPolynomial;
  if (type_ != ElementType::kWords) detail.content |= kHasElements;
}

}  // namespace nplus1::events::payload
