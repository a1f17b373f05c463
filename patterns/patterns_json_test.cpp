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

/// Each was read behind its end, or added to what no clock can hold.
TEST(PatternsJson, ListsThatDoNotFitAndTimesBeyondAllClocksAreRefused) {
  const auto document = nlohmann::json::parse(patterns_json(sample()));
  const auto trouble = [](const nlohmann::json& broken) {
    const auto read = parse_patterns(broken.dump(), "x");
    return read ? std::string{} : read.error().what;
  };
  ASSERT_FALSE(document["over_time"]["messages"].empty());
  for (const char* key : {"bytes", "collective_calls", "compute_s", "mpi_s", "waiting_s"}) {
    auto broken = document;
    broken["over_time"][key].erase(0);
    EXPECT_NE(trouble(broken).find("'" + std::string{key} + "'"), std::string::npos) << key;
  }
  for (const double time : {1e300, -1e300, 4.1e6}) {
    auto broken = document;
    broken["rank"]["end_s"][0] = time;
    EXPECT_NE(trouble(broken).find("'end_s' is no time"), std::string::npos) << time;
  }
  auto broken = document;
  broken["over_time"]["bin_s"] = 3.9e6;
  broken["over_time"]["messages"] = {1, 2, 3};
  for (const char* key : {"bytes", "collective_calls", "compute_s", "mpi_s", "waiting_s"})
    broken["over_time"][key] = {1, 2, 3};
  EXPECT_NE(trouble(broken).find("'bin_s'"), std::string::npos);
}

/// Each was another number.
TEST(PatternsJson, NumbersThatAreNotWholeOrDoNotFitAreRefused) {
  using nlohmann::json;
  const auto document = json::parse(patterns_json(sample()));
  const json::json_pointer row{"/layers/0/rows/0"}, sizes{"/layers/0/sizes"};
  for (const auto& place : {row / "source", row / "destinations" / 0, row / "messages" / 0,
                            sizes / "exact" / 0 / 1, json::json_pointer{"/over_time/messages/0"}})
    for (const json& number : {json(1e300), json(0.5), json(-4'294'967'296), json::parse("1e19")}) {
      auto broken = document;
      ASSERT_TRUE(broken.contains(place)) << place.to_string();
      broken[place] = number;
      const auto read = parse_patterns(broken.dump(), "x");
      ASSERT_FALSE(read.ok()) << place.to_string() << " " << number;
    }
  for (const auto& place : {row / "source", row / "destinations" / 0}) {
    auto broken = document;
    broken[place] = std::int64_t{1} << 32U;
    EXPECT_FALSE(parse_patterns(broken.dump(), "x").ok()) << place.to_string();
  }
}

TEST(PatternsJson, TheSumOfManyRanksTimesIsAtMostWhatADurationHolds) {
  Patterns many;
  many.rank.resize(3);
  for (RankTotals& rank : many.rank) rank.compute = Duration{4'000'000'000'000'000'000};
  EXPECT_EQ(many.totals().compute, Duration::max());
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
