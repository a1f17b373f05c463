#include "events/payload/choice.hpp"

#include <gtest/gtest.h>

namespace nplus1::events::payload {
namespace {

TEST(ChoiceOfHashes, EveryWordBringsThePrefix) {
  for (const char* word : {"prefix", "crc32", "poly61", "samples", "both", "crc", "all"})
    EXPECT_TRUE(parse_choice(word).value().has(kPrefix)) << word;
}

TEST(ChoiceOfHashes, IsAListWithCommas) {
  EXPECT_EQ(parse_choice("crc32,poly61"), parse_choice("both"));
  EXPECT_EQ(parse_choice("samples,kept,crc32"), parse_choice("all"));
  EXPECT_NE(parse_choice("both"), parse_choice("all"));
  EXPECT_FALSE(parse_choice("crc32").value().has(kElements));
}

TEST(ChoiceOfHashes, OffMeansThatNothingOfTheContentIsRecorded) {
  EXPECT_EQ(parse_choice("off"), (Choice{0, 0}));
}

TEST(ChoiceOfHashes, RefusesWordsThatItDoesNotKnow) {
  for (const char* word : {"", "md5", "crc32,", ",crc32", "crc32,off", "CRC32"})
    EXPECT_FALSE(parse_choice(word)) << word;
}

TEST(WholePayloads, GoUpToTheSlotThatTheyTravelIn) {
  EXPECT_EQ(parse_whole_bytes("0"), 0);
  EXPECT_EQ(parse_whole_bytes("64"), 64);
  for (const char* text : {"65", "-1", "", "8k", "300"}) EXPECT_FALSE(parse_whole_bytes(text)) << text;
}

}  // namespace
}  // namespace nplus1::events::payload
