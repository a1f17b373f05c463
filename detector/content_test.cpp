#include "detector/content.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <string>
#include <vector>

#include "events/payload/payload_hash.hpp"

namespace nplus1::detector {
namespace {

Content content_of_text(const std::string& text) {
  Content c;
  c.bytes = text.size();
  c.crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
  std::memcpy(&c.prefix, text.data(), std::min<std::size_t>(8, text.size()));
  c.known = events::kHasCrc | events::kHasPrefix;
  return c;
}

TEST(ContentOfPayloads, IsConstantWhereOneWordRepeats) {
  EXPECT_TRUE(content_of_text(std::string(1000, '\0')).is_constant());
  EXPECT_TRUE(content_of_text("abcdefghabcdefghabc").is_constant());
  EXPECT_FALSE(content_of_text("abcdefghabcdefghabd").is_constant());
  EXPECT_TRUE(Content{}.is_constant());
}

TEST(ContentOfPayloads, WithOneCrcDifferByTheirPolynomial) {
  std::string a = "sixteen bytes or";
  std::string b = a;
  const std::uint64_t generator = 1U | (std::uint64_t{0xEDB88320U} << 1U);
  for (std::size_t i = 0; i < 8; ++i)
    b[i] = static_cast<char>(b[i] ^ static_cast<char>(generator >> (8 * i)));
  Content first = content_of_text(a);
  Content second = content_of_text(b);
  ASSERT_EQ(first.crc, second.crc);
  first.prefix = second.prefix = 0;  // as if they differed further back
  first.polynomial = 1;
  second.polynomial = 2;
  EXPECT_FALSE(first == second);
  EXPECT_NE(first.key(), second.key());
}

TEST(ContentOfPayloads, AreConstantAtAnyLengthAndNotWithOneByteChanged) {
  for (int again = 0; again < 2; ++again)  // what was worked out before is used
    for (std::size_t bytes = 9; bytes < 1200; ++bytes) {
      std::string text(bytes, ' ');
      for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i % 8);
      EXPECT_TRUE(content_of_text(text).is_constant()) << bytes;
      text[8 + (bytes - 9) / 2] ^= 1;
      EXPECT_FALSE(content_of_text(text).is_constant()) << bytes;
    }
}

TEST(ContentOfPayloads, AreConcatenatedAsZlibWould) {
  for (std::uint64_t bytes = 0; bytes < 3000; ++bytes)
    EXPECT_EQ(crc_concatenated(0x12345678, 0x9abcdef0, bytes),
              crc32_combine(0x12345678, 0x9abcdef0, static_cast<z_off_t>(bytes)));
}

TEST(ContentOfPayloads, OfAnyLengthAreConcatenatedInTheSameTime) {
  // zlib never ends on a negative length, which one of 2^63 and more becomes.
  for (const std::uint64_t bytes : {std::uint64_t{1} << 63U, ~std::uint64_t{0}, std::uint64_t{1} << 62U})
    EXPECT_EQ(crc_concatenated(7, 9, bytes), crc_concatenated(7, 9, bytes % 0xffffffffU)) << bytes;
  EXPECT_EQ(crc_concatenated(7, 9, 0xffffffffU + 5ULL), crc_concatenated(7, 9, 5));
}

TEST(ContentOfPayloads, ProvesExclusiveOrFromTheCrcAlone) {
  const std::string a = "some first operand of 32 bytes..";
  const std::string b = "and the second one of 32 bytes !";
  std::string result = a;
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = static_cast<char>(a[i] ^ b[i]);
  const std::vector<Content> operands{content_of_text(a), content_of_text(b)};
  EXPECT_EQ(combination(content_of_text(result), operands), Operation::kBxor);
  result[31] = '?';
  EXPECT_EQ(combination(content_of_text(result), operands), std::nullopt);
}

template <class T>
Content content_of_numbers(const std::vector<T>& values, events::payload::ElementType type,
                           const events::payload::Choice& choice) {
  const std::size_t bytes = values.size() * sizeof(T);
  events::payload::PayloadHash hash{type, choice, bytes};
  hash.add(values.data(), bytes);
  events::Detail detail;
  hash.store(detail);
  Content content = content_of(bytes, &detail, type);
  content.element = sizeof(T);
  return content;
}

constexpr events::payload::Choice kHashed{events::payload::Choice::kAll, 0};

TEST(ContentOfPayloads, IsTheSameWhetherHashedOrRecordedWhole) {
  const std::vector<std::int32_t> values{-5, 70'000, 3, 9, -1, 1 << 30};
  const auto type = events::payload::ElementType::kInt32;
  const Content hashed = content_of_numbers(values, type, kHashed);
  const Content whole = content_of_numbers(values, type, {});
  EXPECT_EQ(hashed, whole);
  EXPECT_EQ(hashed.known, whole.known);
  EXPECT_EQ(hashed.samples, whole.samples);
  EXPECT_TRUE(whole.hashed());
}

TEST(ContentOfPayloads, IsConstantByItsPolynomialAloneToo) {
  using events::payload::ElementType;
  const auto choice = events::payload::parse_choice("poly61").value();
  EXPECT_TRUE(
      content_of_numbers(std::vector<std::int64_t>(300, -7), ElementType::kInt64, choice).is_constant());
  EXPECT_TRUE(
      content_of_numbers(std::vector<std::int32_t>(300, -7), ElementType::kInt32, choice).is_constant());
  EXPECT_TRUE(content_of_numbers(std::vector<std::uint16_t>(300, 0xfff0), ElementType::kUint16, choice)
                  .is_constant());
  std::vector<std::int64_t> other(300, -7);
  other[299] = 7;
  EXPECT_FALSE(content_of_numbers(other, ElementType::kInt64, choice).is_constant());
}

TEST(ContentOfPayloads, ProvesSumsAndProductsOfRealNumbersUpToRounding) {
  std::vector<double> a, b, c, sum, product;
  for (int i = 0; i < 500; ++i) {
    a.push_back(1.1 + i);
    b.push_back(0.3 / (1 + i));
    c.push_back(-7.7 * i - 1);
    sum.push_back((a.back() + c.back()) + b.back());
    product.push_back(a.back() * (b.back() * c.back()));
  }
  const auto content = [](const std::vector<double>& v) {
    return content_of_numbers(v, events::payload::ElementType::kDouble, kHashed);
  };
  const std::vector<Content> operands{content(a), content(b), content(c)};
  EXPECT_EQ(combination(content(sum), operands), Operation::kSum);
  EXPECT_EQ(combination(content(product), operands), Operation::kProd);
  product[499] *= 1.001;  // the last element is a sample
  EXPECT_EQ(combination(content(product), operands), std::nullopt);
  sum[123] += 1e-6;
  EXPECT_EQ(combination(content(sum), operands), std::nullopt);
}

TEST(ContentOfPayloads, WithZerosProvesNoProduct) {
  std::vector<double> a(100, 0), b(100, 0);
  a[50] = 3;
  b[51] = 4;
  const auto content = [](const std::vector<double>& v) {
    return content_of_numbers(v, events::payload::ElementType::kDouble, kHashed);
  };
  const std::vector<double> result(100, 0);
  EXPECT_NE(combination(content(result), std::vector<Content>{content(a), content(b)}), Operation::kProd);
}

}  // namespace
}  // namespace nplus1::detector
