#include "stubs/runtime/payload_hash.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace nplus1::stubs {
namespace {

events::Detail hash_of(const std::string& text, std::size_t piece) {
  PayloadHash hash;
  for (std::size_t i = 0; i < text.size(); i += piece)
    hash.add(text.data() + i, std::min(piece, text.size() - i));
  events::Detail detail;
  hash.store(detail);
  return detail;
}

class PayloadHashes : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) choose_crc();  // stays chosen: the instances with zlib's come first
  }
};

// The check value that catalogues of CRCs give for CRC-32/ISO-HDLC, zlib's.
TEST_P(PayloadHashes, GiveTheCheckValueOfZlibsCrc) {
  EXPECT_EQ(hash_of("123456789", 100).crc, 0xcbf43926u);
}

TEST_P(PayloadHashes, DoNotDependOnThePieces) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += static_cast<char>(i * i % 251);
  const events::Detail whole = hash_of(text, text.size());
  for (const std::size_t piece : {1u, 3u, 7u, 64u, 4096u}) {
    EXPECT_EQ(hash_of(text, piece).crc, whole.crc) << piece;
    EXPECT_EQ(hash_of(text, piece).prefix, whole.prefix) << piece;
  }
}

TEST_P(PayloadHashes, HoldTheFirstEightBytesZeroPadded) {
  std::uint64_t expected = 0;
  std::memcpy(&expected, "abc", 3);
  EXPECT_EQ(hash_of("abc", 2).prefix, expected);
  std::memcpy(&expected, "abcdefgh", 8);
  EXPECT_EQ(hash_of("abcdefghijk", 5).prefix, expected);
}

TEST_P(PayloadHashes, OfNothingAreZeroAndSaySo) {
  const events::Detail nothing = hash_of("", 1);
  EXPECT_EQ(nothing.crc, 0u);
  EXPECT_EQ(nothing.prefix, 0u);
  EXPECT_EQ(nothing.polynomial, 0u);
  EXPECT_EQ(nothing.content, events::kHasCrc | events::kHasPrefix | events::kHasPolynomial);
}

INSTANTIATE_TEST_SUITE_P(Zlib, PayloadHashes, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(WithIsaLIfInstalled, PayloadHashes, ::testing::Values(true));

}  // namespace
}  // namespace nplus1::stubs
