#include "detector/content.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <string>

namespace nplus1::detector {
namespace {

Content content_of_text(const std::string& text) {
  Content c;
  c.bytes = text.size();
  c.crc = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
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
  for (std::size_t i = 0; i < 8; ++i) b[i] = static_cast<char>(b[i] ^ static_cast<char>(generator >> (8 * i)));
  Content first = content_of_text(a);
  Content second = content_of_text(b);
  ASSERT_EQ(first.crc, second.crc);
  first.prefix = second.prefix = 0;  // as if they differed further back
  first.polynomial = 1;
  second.polynomial = 2;
  EXPECT_FALSE(first == second);
  EXPECT_NE(first.key(), second.key());
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

}  // namespace
}  // namespace nplus1::detector
