#include "guidelines/findings_output.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "guidelines/testing/synthetic.hpp"

namespace nplus1::guidelines {
namespace {

/// Reduce is slower than Allreduce from 1K to 4K, and at 4K even slower than Reduce_scatter_block + Gather.
Analysis reduce_analysis(int runs = 10) {
  const auto catalogue =
      parse_catalogue(R"json([{"orig": "Reduce", "mock": "Reduce_with_Allreduce", "bound": "Allreduce(n)"},
                                             {"orig": "Reduce", "mock": "Reduce_with_Reduce_scatter_block_Gather"},
                                             {"orig": "Reduce", "mock": "Reduce_with_Ireduce_Wait"},
                                             {"orig": "Scan"}])json",
                      "test");
  Data data;
  for (const std::uint64_t size : {1U, 1024U, 2048U, 4096U}) {
    data.native[{8, "Reduce", size}] = steady_sample(size == 1 ? 1e-6 : 3e-6, runs);
    data.native[{8, "Reduce_with_Allreduce", size}] = steady_sample(2e-6, runs);
    data.native[{8, "Reduce_with_Reduce_scatter_block_Gather", size}] =
        steady_sample(size == 4096 ? 1e-6 : 4e-6, runs);
    data.native[{8, "Reduce_with_Ireduce_Wait", size}] = steady_sample(0.5e-6, runs);
  }
  data.native[{8, "Redcue", 8}] = steady_sample(1e-6, runs);
  data.settings[kMpiLibrary] = "MPICH 4.0.2";
  return analyse(catalogue.value(), data, {});
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST(FindingsText, HasTheTablesTheStrongestAndTheLimits) {
  const std::string text = analysis_text(reduce_analysis(), {"measurements"});
  EXPECT_TRUE(has(text, "MPICH 4.0.2\n"));
  EXPECT_TRUE(has(text, "12 tests, judged together at 0.05; at least 10 mpiruns each"));
  EXPECT_TRUE(has(text, "  pattern                   3   3 guidelines\n"));
  EXPECT_TRUE(has(text, "  at size (bytes)                                    1    1K    2K    4K\n"));
  EXPECT_TRUE(has(text, "  Reduce <= Allreduce                                .   ***   ***   ***\n"))
      << text;
  EXPECT_TRUE(has(text, "1.5 x  Reduce(1K) on 8: 3.01 us, but Allreduce(n) takes 2.01 us")) << text;
  EXPECT_TRUE(has(text, "no original was measured against itself"));
  EXPECT_TRUE(has(text, "1 entry of the catalogue was not measured"));
  EXPECT_TRUE(has(text, "in none of the chosen guidelines: Redcue\n"));
}

TEST(FindingsText, SaysWhatTooFewMpirunsCannotShow) {
  const std::string text = analysis_text(reduce_analysis(2), {"measurements"});
  EXPECT_TRUE(has(text, "No guideline was found violated."));
  EXPECT_TRUE(has(
      text,
      "12 comparisons could not have shown a violation: 2 mpiruns, and a lone one among 12 tests needs 5"))
      << text;
}

TEST(FindingsText, ManySizesAreCutDownToThoseThatTell) {
  Data data;
  for (std::uint64_t size = 1; size <= 20; ++size)
    data.native[{8, "Scan", size}] = steady_sample(size == 20 ? 1e-6 : 2e-6);
  const auto catalogue = parse_catalogue(R"([{"orig": "Scan"}])", "test");
  const std::string text = analysis_text(analyse(catalogue.value(), data, {}), {"m", nullptr, true});
  EXPECT_TRUE(has(text, "    19\n")) << text;  // Scan(19) is slower than Scan(20)
  EXPECT_TRUE(has(text, "6 more sizes are in the files")) << text;
}

TEST(FindingsText, NothingMeasuredTogetherIsSaid) {
  EXPECT_TRUE(has(analysis_text(Analysis{}, {"x"}), "Nothing can be compared"));
}

TEST(FindingsJson, HasEachViolationOnceAndAllComparisonsWhereAskedFor) {
  const Analysis analysis = reduce_analysis();
  const auto violations = nlohmann::json::parse(analysis_json(analysis, {"m"}, false));
  EXPECT_EQ(violations["schema"], "nplus1-guidelines/1");
  ASSERT_EQ(violations["violations"].size(), 3U + 1U + 4U);
  EXPECT_FALSE(violations.contains("comparisons"));
  const auto& first = violations["violations"][0];
  EXPECT_EQ(first["guideline"], "Reduce(n) <= Allreduce(n)");
  EXPECT_EQ(first["type"], "pattern");
  EXPECT_EQ(first["sizes"], nlohmann::json{1024});
  EXPECT_EQ(first["stars"], "***");
  EXPECT_TRUE(first["confirmed"].is_null());
  const auto all = nlohmann::json::parse(analysis_json(analysis, {"m"}, true));
  ASSERT_EQ(all["comparisons"].size(), 12U);
  EXPECT_EQ(all["comparisons"][0]["left"]["medians_s"].size(), 10U);
}

TEST(FindingsJson, UnboundedIntervalsAreNull) {
  const auto json = nlohmann::json::parse(analysis_json(reduce_analysis(2), {"m"}, true));
  EXPECT_TRUE(json["comparisons"][0]["ratio_high"].is_null());
}

TEST(Profiles, AreWhatPgmpiTuneLibReads) {
  const auto profiles = tuning_profiles(reduce_analysis());
  ASSERT_EQ(profiles.size(), 1U);
  EXPECT_EQ(profiles[0].file, "p_reduce_8.prf");
  // Ireduce is the fastest of all, but PGMPITuneLib has no such mock-up.
  EXPECT_EQ(profiles[0].text,
            "# by nplus1 guidelines check\n"
            "MPI_Reduce\n8\n"
            "2\n1 reduce_as_allreduce\n2 reduce_as_reducescatterblock_gather\n"
            "2\n1024 2048 1\n4096 4096 2\n");
}

TEST(Sizes, AreShortenedWhereNothingIsLost) {
  EXPECT_EQ(size_text(0), "0");
  EXPECT_EQ(size_text(1000), "1000");
  EXPECT_EQ(size_text(102400), "100K");
  EXPECT_EQ(size_text(3 << 20), "3M");
}

}  // namespace
}  // namespace nplus1::guidelines
