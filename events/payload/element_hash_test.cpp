#include "events/payload/element_hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace nplus1::events::payload {
namespace {

template <class T>
Detail hash_of(const std::vector<T>& values, ElementType type, std::size_t piece = 1U << 30U) {
  ElementHash hash{type};
  const std::size_t size = values.size() * sizeof(T);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  for (std::size_t i = 0; i < size; i += piece) hash.add(bytes + i, std::min(piece, size - i));
  Detail detail;
  hash.store(detail);
  return detail;
}

template <class T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937_64 random{seed};
  std::vector<T> values(count);
  for (T& v : values) v = static_cast<T>(static_cast<std::int32_t>(random()) / 4);
  return values;
}

// Oracle: the definition, evaluated with the compiler's own 128-bit remainder.
TEST(ElementHashes, AreThePolynomialOfTheirElements) {
  __extension__ using Wide = unsigned __int128;
  const auto values = random_values<std::int64_t>(1001, 1);
  Wide expected = 0;
  for (const std::int64_t v : values) {
    const std::uint64_t coefficient =
        v >= 0 ? static_cast<std::uint64_t>(v) : Residue::kPrime - static_cast<std::uint64_t>(-v);
    expected = (expected * kHashPoint.value() + coefficient) % Residue::kPrime;
  }
  EXPECT_EQ(hash_of(values, ElementType::kInt64).polynomial, static_cast<std::uint64_t>(expected));
}

TEST(ElementHashes, AreRightForTheLargestAndSmallestElements) {
  __extension__ using Wide = unsigned __int128;
  const std::vector<std::int64_t> values(64, std::numeric_limits<std::int64_t>::min());
  const std::vector<std::uint64_t> large(64, std::numeric_limits<std::uint64_t>::max());
  Wide negative = 0;
  Wide positive = 0;
  constexpr Wide p = Residue::kPrime;
  for (int i = 0; i < 64; ++i) {
    negative = (negative * kHashPoint.value() + (p - (Wide{1} << 63U) % p)) % p;
    positive = (positive * kHashPoint.value() + ~std::uint64_t{0}) % p;
  }
  EXPECT_EQ(hash_of(values, ElementType::kInt64).polynomial, static_cast<std::uint64_t>(negative));
  EXPECT_EQ(hash_of(large, ElementType::kUint64).polynomial, static_cast<std::uint64_t>(positive));
}

TEST(ElementHashes, OfASumAreTheSumOfTheHashes) {
  const auto a = random_values<std::int32_t>(777, 2);
  const auto b = random_values<std::int32_t>(777, 3);
  std::vector<std::int32_t> sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  const auto h = [](const auto& v) { return Residue{hash_of(v, ElementType::kInt32).polynomial}; };
  EXPECT_EQ(h(sum), h(a) + h(b));
  ++sum[5];
  EXPECT_NE(h(sum).value(), (h(a) + h(b)).value());
}

TEST(ElementHashes, OfAConcatenationFollowFromTheParts) {
  const auto a = random_values<std::int64_t>(13, 4);
  const auto b = random_values<std::int64_t>(50, 5);
  auto both = a;
  both.insert(both.end(), b.begin(), b.end());
  const auto h = [](const auto& v) { return Residue{hash_of(v, ElementType::kInt64).polynomial}; };
  EXPECT_EQ(h(both), hash_concatenated(h(a), h(b), b.size()));
}

TEST(ElementHashes, DoNotDependOnThePieces) {
  const auto integers = random_values<std::int16_t>(1003, 6);
  const auto reals = random_values<double>(1003, 7);
  for (const std::size_t piece : {1u, 3u, 7u, 64u, 100u}) {
    EXPECT_EQ(hash_of(integers, ElementType::kInt16, piece).polynomial,
              hash_of(integers, ElementType::kInt16).polynomial);
    EXPECT_EQ(hash_of(integers, ElementType::kWords, piece).polynomial,
              hash_of(integers, ElementType::kWords).polynomial);
    EXPECT_EQ(hash_of(reals, ElementType::kDouble, piece).polynomial,
              hash_of(reals, ElementType::kDouble).polynomial);
  }
}

TEST(ElementHashes, OfRealsAreLinearUpToRounding) {
  const auto a = random_values<double>(5000, 8);
  const auto b = random_values<double>(5000, 9);
  std::vector<double> sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] = a[i] * 0.1 + b[i] * 0.3;
  std::vector<double> c(a), d(b);
  for (double& v : c) v *= 0.1;
  for (double& v : d) v *= 0.3;
  const auto sketch = [](const auto& v) {
    return std::bit_cast<double>(hash_of(v, ElementType::kDouble).polynomial);
  };
  float magnitude = 0;
  const Detail whole = hash_of(sum, ElementType::kDouble);
  std::memcpy(&magnitude, whole.reserved, sizeof(magnitude));
  EXPECT_NEAR(sketch(sum), sketch(c) + sketch(d), 1e-14 * static_cast<double>(magnitude));
  std::swap(sum[3], sum[11]);  // the same lane
  EXPECT_GT(std::abs(sketch(sum) - sketch(c) - sketch(d)), 1e-6);
}

// Places by the definition in events/event.hpp, on values that say where they stand.
TEST(ElementHashes, TakeSamplesAtFixedPlaces) {
  for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 100u, 1001u}) {
    std::vector<std::int32_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(i) - 50;
    for (const std::size_t piece : {3u, 64u, 8000u}) {
      const std::size_t size = count * sizeof(values[0]);
      ElementHash hash{ElementType::kInt32, size};
      const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
      for (std::size_t i = 0; i < size; i += piece) hash.add(bytes + i, std::min(piece, size - i));
      ASSERT_TRUE(hash.has_samples()) << count;
      for (std::size_t i = 0; i < kSamples; ++i)
        EXPECT_EQ(hash.samples()[i], static_cast<float>(values[(count - 1) * (i + 1) / 4]))
            << count << ' ' << i;
    }
  }
}

TEST(ElementHashes, TakeNoSamplesOfWhatIsNotMadeOfNumbers) {
  ElementHash words{ElementType::kWords, 64};
  const std::array<std::byte, 64> bytes{};
  words.add(bytes.data(), bytes.size());
  EXPECT_FALSE(words.has_samples());
}

TEST(ElementHashes, KnowTheElementsOfNamedAndOfConstructedTypes) {
  EXPECT_EQ(element_type("MPI_LONG", 8), ElementType::kInt64);
  EXPECT_EQ(element_type("MPI_INTEGER", 4), ElementType::kInt32);
  EXPECT_EQ(element_type("MPI_DOUBLE_COMPLEX", 16), ElementType::kDouble);
  EXPECT_EQ(element_type("MPI_Type_vector(MPI_Type_contiguous(MPI_INT))", 24), ElementType::kInt32);
  EXPECT_EQ(element_type("MPI_Type_create_struct(MPI_INT, MPI_DOUBLE)", 12), ElementType::kWords);
  EXPECT_EQ(element_type("MPI_BYTE", 1), ElementType::kWords);
  EXPECT_EQ(element_type("my type", 8), ElementType::kWords);
}

}  // namespace
}  // namespace nplus1::events::payload
