#include "guidelines/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace nplus1::guidelines {
namespace {

Catalogue shipped() {
  auto catalogue = read_catalogue(NPLUS1_SOURCE_DIR "/guidelines/catalogue.json");
  EXPECT_TRUE(catalogue.ok()) << (catalogue ? "" : catalogue.error().what);
  return std::move(catalogue).value();
}

std::string error_of(const std::string& text) {
  const auto catalogue = parse_catalogue(text, "own.json");
  return catalogue ? "" : catalogue.error().what;
}

TEST(Catalogue, HasTheFifteenPatternsOfThePaperAndMonotonyAndSplitOfTheirOriginals) {
  const Catalogue pgmpi = selected(shipped(), {"pgmpi"}, {});
  const auto patterns = std::count_if(pgmpi.guidelines.begin(), pgmpi.guidelines.end(),
                                      [](const Guideline& g) { return g.is_pattern(); });
  EXPECT_EQ(patterns, 15);
  EXPECT_EQ(pgmpi.guidelines.size(), 15U + 10U);
  EXPECT_EQ(selected(shipped(), {"tunelib"}, {}).guidelines.size(), 10U);
}

TEST(Catalogue, EveryShippedMockUpIsNamedAfterItsPartsAndSaysWhatItDoes) {
  for (const Guideline& g : shipped().guidelines) {
    EXPECT_EQ(g.sizes, default_sizes());
    if (!g.is_pattern()) continue;
    EXPECT_EQ(original_of(g.mock_up), g.original);
    for (const std::string& part : parts_of(g.mock_up))
      EXPECT_NE(g.bound.find(part), std::string::npos) << g.mock_up << ": " << g.bound;
  }
}

TEST(Catalogue, ReadsTheCatalogueOfPgmpi) {
  const auto catalogue = parse_catalogue(
      R"([{"orig": "MPI_Bcast", "msizes": [100, 8, 100]},
          {"orig": "MPI_Bcast", "mock": "MPI_Bcast_with_MPI_Scatter_MPI_Allgather", "msizes": [512]}])",
      "pgmpi.json");
  ASSERT_TRUE(catalogue.ok()) << catalogue.error().what;
  const auto& [mono, pattern] = std::tie(catalogue.value().guidelines[0], catalogue.value().guidelines[1]);
  EXPECT_FALSE(mono.is_pattern());
  EXPECT_EQ(mono.sizes, (std::vector<std::uint64_t>{8, 100}));
  EXPECT_EQ(pattern.mock_up, "Bcast_with_Scatter_Allgather");
  EXPECT_EQ(pattern.bound, "Scatter + Allgather");
}

TEST(Catalogue, WhatIsWrittenIsReadBack) {
  const auto again = parse_catalogue(catalogue_text(shipped()), "written.json");
  ASSERT_TRUE(again.ok()) << again.error().what;
  EXPECT_EQ(catalogue_text(again.value()), catalogue_text(shipped()));
  EXPECT_EQ(again.value().guidelines.back().mock_up, shipped().guidelines.back().mock_up);
}

TEST(Catalogue, ErrorsNameFileLineAndEntry) {
  EXPECT_NE(error_of("[\n{\"orig\": 1,}]").find("own.json is no JSON: line 2"), std::string::npos);
  EXPECT_NE(error_of("{}").find("no list"), std::string::npos);
  EXPECT_NE(error_of("[{\"orig\": \"Bcast\"},\n\n {\"orig\": \"a\", \"mokc\": \"]{\"}]")
                .find("line 3: entry 2: has a member 'mokc'"),
            std::string::npos);
  EXPECT_NE(error_of("[{\"mock\": \"\\\"{[\"},\n{}]").find("line 1: entry 1: has no 'orig'"),
            std::string::npos);
  EXPECT_NE(error_of("[{\"orig\": \"Bcast\", \"msizes\": [-1]}]").find("'msizes'"), std::string::npos);
  EXPECT_NE(error_of("[{\"orig\": \"Bcast\", \"mock\": \"Gather_with_Bcast\"}]").find("Bcast_with_..."),
            std::string::npos);
  EXPECT_NE(error_of("[{\"orig\": \"Bcast\"}, [7]]").find("is no object"), std::string::npos);
}

TEST(Catalogue, AUsersEntriesReplaceTheirLikeAndJoinTheRest) {
  const auto own = parse_catalogue(R"([{"orig": "Gather", "mock": "Gather_with_Allgather", "msizes": [7]},
                                       {"orig": "Bcast", "mock": "Bcast_with_Mine"}])",
                                   "own.json");
  const std::size_t before = shipped().guidelines.size();
  const Catalogue both = merged(shipped(), own.value());
  ASSERT_EQ(both.guidelines.size(), before + 1);
  EXPECT_EQ(both.guidelines.front().sizes, std::vector<std::uint64_t>{7});
}

TEST(Catalogue, EachTestIsTimedOnceWithAllSizesThatAnybodyNeeds) {
  const auto catalogue =
      parse_catalogue(R"([{"orig": "Gather", "mock": "Gather_with_Allgather", "msizes": [7, 9]},
                                             {"orig": "Gather", "msizes": [8, 9]}])",
                      "own.json");
  const std::vector<SizedTest> tests = tests_of(catalogue.value());
  ASSERT_EQ(tests.size(), 2U);
  EXPECT_EQ(tests[0].name, "Gather");
  EXPECT_EQ(tests[0].sizes, (std::vector<std::uint64_t>{7, 8, 9}));
  EXPECT_EQ(tests[1].sizes, (std::vector<std::uint64_t>{7, 9}));
}

TEST(Catalogue, PartsBeginWithACapital) {
  EXPECT_EQ(parts_of("Reduce_with_Reduce_scatter_block_Gather"),
            (std::vector<std::string>{"Reduce_scatter_block", "Gather"}));
  EXPECT_EQ(parts_of("Scan_with_Exscan_Reduce_local"), (std::vector<std::string>{"Exscan", "Reduce_local"}));
  EXPECT_TRUE(parts_of("Reduce_scatter_block").empty());
}

TEST(Catalogue, AllSpellingsOfATestHaveOneKey) {
  const std::string key = spelling_key("Allgather_with_Gather_Bcast");
  EXPECT_EQ(spelling_key("MPI_Allgather_with_MPI_Gather_MPI_Bcast"), key);
  EXPECT_EQ(spelling_key("GL_Allgather_as_GatherBcast"), key);
  EXPECT_EQ(spelling_key("allgather_as_gather_bcast"), key);
  EXPECT_NE(spelling_key("Allgather"), key);
}

TEST(Catalogue, NoTwoShippedTestsShareAKey) {
  std::vector<std::string> keys;
  for (const SizedTest& test : tests_of(shipped())) keys.push_back(spelling_key(test.name));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(Catalogue, VolumesOfBlocksGrowWithTheProcesses) {
  EXPECT_EQ(bytes_of_all("Gather", 100, 8), 800U);
  EXPECT_EQ(bytes_of_all("Bcast", 100, 8), 100U);
}

}  // namespace
}  // namespace nplus1::guidelines
