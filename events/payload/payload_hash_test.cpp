#include "events/payload/payload_hash.hpp"

#include <gtest/gtest.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace nplus1::events::payload {
namespace {

constexpr Choice kHashes{kPrefix | kCrc32 | kElements, 0};

Detail hash_of(const std::string& text, std::size_t piece, const Choice& choice = kHashes,
               ElementType type = ElementType::kWords) {
  PayloadHash hash{type, choice, text.size()};
  for (std::size_t i = 0; i < text.size(); i += piece)
    hash.add(text.data() + i, std::min(piece, text.size() - i));
  Detail detail;
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
  for (int i = 0; i < 100'000; ++i) text += static_cast<char>(i % 251 * (i % 251) % 251);
  const Detail whole = hash_of(text, text.size());
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
  const Detail nothing = hash_of("", 1);
  EXPECT_EQ(nothing.crc, 0u);
  EXPECT_EQ(nothing.prefix, 0u);
  EXPECT_EQ(nothing.polynomial, 0u);
  EXPECT_EQ(nothing.content, kHasCrc | kHasPrefix | kHasPolynomial);
}

TEST_P(PayloadHashes, AreLeftOutWhereThePayloadIsRecordedWhole) {
  const std::string text = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  for (const std::size_t size : {1u, 8u, 9u, 63u, 64u}) {
    const Detail whole = hash_of(text.substr(0, size), 7, Choice{});
    EXPECT_EQ(whole.content, kHasPrefix | kHasPayload) << size;
    EXPECT_EQ(std::memcmp(whole.excerpt.data(), text.data(), size), 0) << size;
    EXPECT_EQ(whole.crc, 0u);
    EXPECT_EQ(hash_of(text.substr(0, size), 7, {Choice::kAll, 0}).content & kHasPayload, 0) << size;
  }
  EXPECT_EQ(hash_of(text + "x", 7, Choice{}).content & kHasPayload, 0);
}

TEST_P(PayloadHashes, FollowFromAPayloadThatIsThere) {
  const std::string text = "twelve bytes and some more";
  for (const ElementType type : {ElementType::kWords, ElementType::kInt16, ElementType::kDouble}) {
    const Detail taken = hash_of(text, 5, {Choice::kAll, 0}, type);
    const Detail whole = hash_of(text, 5, Choice{}, type);
    const Detail found = with_hashes(whole, text.size(), type);
    EXPECT_EQ(found.crc, taken.crc);
    EXPECT_EQ(found.polynomial, taken.polynomial);
    EXPECT_EQ(found.prefix, taken.prefix);
    EXPECT_EQ(found.content & ~kHasPayload, taken.content & ~kHasSamples);
    EXPECT_EQ(samples_of(whole, text.size(), type).known, type != ElementType::kWords);
    EXPECT_EQ(samples_of(whole, text.size(), type).values, samples_of(taken, text.size(), type).values);
  }
}

TEST_P(PayloadHashes, AreThoseThatWereChosen) {
  const std::string text(800, 'x');
  const auto content = [&](std::string_view choice, ElementType type) {
    return unsigned{hash_of(text, 100, parse_choice(choice).value(), type).content};
  };
  EXPECT_EQ(content("off", ElementType::kDouble), 0u);
  EXPECT_EQ(content("prefix", ElementType::kDouble), kHasPrefix);
  EXPECT_EQ(content("crc32", ElementType::kDouble), kHasPrefix | kHasCrc);
  EXPECT_EQ(content("poly61", ElementType::kInt32), kHasPrefix | kHasPolynomial | kHasElements);
  EXPECT_EQ(content("poly61", ElementType::kDouble), kHasPrefix | kHasPolynomial);
  EXPECT_EQ(content("both", ElementType::kDouble), kHasPrefix | kHasCrc | kHasSketch);
  EXPECT_EQ(content("all", ElementType::kDouble), kHasPrefix | kHasCrc | kHasSketch | kHasSamples);
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
    PayloadHash hash{ElementType::kDouble, {Choice::kAll, 0}, size};
    hash.add(payload.data(), size);
    EXPECT_FALSE(upper_halves_in_use()) << size;
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Zlib, PayloadHashes, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(WithIsaLIfInstalled, PayloadHashes, ::testing::Values(true));

}  // namespace
}  // namespace nplus1::events::payload
