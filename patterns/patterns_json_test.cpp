#include "patterns/patterns_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "patterns/testing/streams.hpp"

namespace nplus1::patterns {
namespace {

TEST(PatternsJson, WhatIsReadIsWhatWasWritten) {
  Patterns before = sample();
  before.renumbering = Renumbering{"nodes:2", 100, 40, {2, 0, 1}};
  before.io = IoUse{};
  before.io->rank.resize(before.ranks());
  before.io->rank.back() = {1, 2, 3, 4, 5, 6, 7, Duration{8}, Duration{9}};
  before.io->files = {{"a \"file\"", before.io->rank.back()}};
  before.io->files_left_out = 10;
  before.io->system.resize(before.ranks());
  before.io->system[0] = {11, 12, 13, 14};
  before.io->read_sizes.sum = 15;
  const auto after = parse_patterns(patterns_json(before), "x");
  ASSERT_TRUE(after.ok()) << after.error().what;
  EXPECT_TRUE(after.value() == before);
  EXPECT_EQ(patterns_json(after.value()), patterns_json(before));
}

TEST(PatternsJson, HasEveryKeyOfTheDocument) {
  const auto document = nlohmann::json::parse(patterns_json(sample()));
  for (const char* key :
       {"schema", "application", "network", "ranks", "complete", "virtual_time_s", "totals", "rank",
        "imbalance", "layers", "unplaced_messages", "collectives", "communicator_calls", "communicators",
        "communicators_left_out", "call_sites", "call_sites_left_out", "over_time", "unmodelled"})
    EXPECT_TRUE(document.contains(key)) << key;
  EXPECT_FALSE(document.contains("renumbering"));
  EXPECT_EQ(document["collectives"][0]["operations"], 1);
  EXPECT_EQ(document["layers"][0]["rows"][0]["destinations"][0], 1);
}

TEST(PatternsJson, TruncationsAreRefused) {
  const std::string text = patterns_json(sample());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    const auto result = parse_patterns(text.substr(0, length), "cut.json");
    ASSERT_FALSE(result.ok()) << length;
    ASSERT_NE(result.error().what.find("cut.json"), std::string::npos);
  }
}

TEST(PatternsJson, AMissingOrMistypedKeyIsNamed) {
  auto document = nlohmann::json::parse(patterns_json(sample()));
  auto broken = document;
  broken["over_time"].erase("bin_s");
  EXPECT_NE(parse_patterns(broken.dump(), "x").error().what.find("'bin_s'"), std::string::npos);
  broken = document;
  broken["layers"][0]["messages"] = -1;
  EXPECT_NE(parse_patterns(broken.dump(), "x").error().what.find("'messages'"), std::string::npos);
  broken = document;
  broken["layers"][0]["rows"][0]["destinations"][0] = 3;
  EXPECT_NE(parse_patterns(broken.dump(), "x").error().what.find("rank 3 of 3"), std::string::npos);
  broken = document;
  broken["ranks"] = 1000000000000;
  EXPECT_FALSE(parse_patterns(broken.dump(), "x").ok());
}

TEST(PatternsJson, ANewerDocumentIsRefusedAndUnknownKeysAreNot) {
  auto document = nlohmann::json::parse(patterns_json(sample()));
  document["something"] = "new";
  EXPECT_TRUE(parse_patterns(document.dump(), "x").ok());
  document["schema"] = "nplus1-patterns/2";
  EXPECT_NE(parse_patterns(document.dump(), "x").error().what.find("nplus1-patterns/2"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::patterns
