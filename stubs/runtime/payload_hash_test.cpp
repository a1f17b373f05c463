#include "stubs/runtime/payload_hash.hpp"

#include <gtest/gtest.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

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

#if defined(__x86_64__)
/// XGETBV with 1 tells which parts of the registers are in use; bit 2: the upper halves of YMM (Intel
/// SDM 13.1).
bool tells_registers_in_use() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx") != 0 && __get_cpuid_count(0xd, 1, &a, &b, &c, &d) != 0 &&
         (a & 4U) != 0;
}

__attribute__((target("xsave"))) bool upper_halves_in_use() {
  return (_xgetbv(1) & 4U) != 0;
}

/// In assembly: the compiler clears the upper halves at the end of a function that it has use them.
void use_upper_halves() {
  asm volatile("vpcmpeqb %%xmm7, %%xmm7, %%xmm7; vinsertf128 $1, %%xmm7, %%ymm7, %%ymm7" ::: "xmm7");
}

void clear_upper_halves() {
  asm volatile("vzeroupper" ::: "memory");
}

// Left in use, they make all SSE code of the application slower until it happens to call something that
// clears them.
TEST_P(PayloadHashes, LeaveNoUpperHalvesOfVectorRegistersInUse) {
  if (!tells_registers_in_use()) GTEST_SKIP() << "this processor does not say what is in use";
  use_upper_halves();
  ASSERT_TRUE(upper_halves_in_use()) << "the test cannot see it";
  clear_upper_halves();
  const std::vector<unsigned char> payload(65536, 'x');
  for (const std::size_t size : {8u, 100u, 4096u, 65536u}) {
    PayloadHash hash;
    hash.add(payload.data(), size);
    EXPECT_FALSE(upper_halves_in_use()) << size;
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Zlib, PayloadHashes, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(WithIsaLIfInstalled, PayloadHashes, ::testing::Values(true));

}  // namespace
}  // namespace nplus1::stubs
