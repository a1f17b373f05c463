#include "stubs/transport/proof.hpp"

#include <gtest/gtest.h>

#include "stubs/transport/meeting.hpp"

namespace nplus1::transport {
namespace {

/// 00 01 02 ... as in the reference code's table of answers.
template <std::size_t N>
std::array<std::uint8_t, N> counting() {
  std::array<std::uint8_t, N> bytes;
  for (std::size_t i = 0; i < N; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  return bytes;
}

std::string hashed(std::size_t length) {
  const auto message = counting<64>();
  return to_hex(keyed_hash(counting<16>(), {reinterpret_cast<const char*>(message.data()), length}));
}

TEST(KeyedHash, GivesTheReferenceCodesAnswers) {  // also: openssl mac -macopt hexkey:0001..0f SIPHASH
  EXPECT_EQ(hashed(0), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(hashed(1), "da87c1d86b99af44347659119b22fc45");
  EXPECT_EQ(hashed(2), "8177228da4a45dc7fca38bdef60affe4");
  EXPECT_EQ(hashed(15), "5493e99933b0a8117e08ec0f97cfc3d9");
}

TEST(Proof, IsOfTheKeyBothNoncesTheSideAndWhatWasSaid) {
  const Key key = counting<16>();
  Key other = key;
  other[7] ^= 1;
  const Nonce a = *random_bytes(), b = *random_bytes();
  const Proof proof = prove(key, Side::kRank, a, b, "rank 2");
  EXPECT_TRUE(same(proof, prove(key, Side::kRank, a, b, "rank 2")));
  EXPECT_FALSE(same(proof, prove(other, Side::kRank, a, b, "rank 2")));
  EXPECT_FALSE(same(proof, prove(key, Side::kSimulator, a, b, "rank 2")))
      << "sent back, it would prove itself";
  EXPECT_FALSE(same(proof, prove(key, Side::kRank, b, a, "rank 2")));
  EXPECT_FALSE(same(proof, prove(key, Side::kRank, a, *random_bytes(), "rank 2"))) << "a replay would do";
  EXPECT_FALSE(same(proof, prove(key, Side::kRank, a, b, "rank 3")));
}

TEST(Meeting, GoesThroughOneWord) {
  const Meeting meeting{"nplus1-0123", "host:4711", *random_bytes()};
  const auto read = Meeting::parse(meeting.word());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, meeting.name);
  EXPECT_EQ(read->address, meeting.address);
  EXPECT_EQ(read->key, meeting.key);
  EXPECT_EQ(meeting.word().find_first_of(" =\n"), std::string::npos) << "no PMI value";
  for (const char* word : {"", "unknown", "host:4711", "a3817f04ba25a8e66df67214c7550293,", "zz,a,b"})
    EXPECT_FALSE(Meeting::parse(word)) << word;
}

}  // namespace
}  // namespace nplus1::transport
