#include "report/results.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "report/heatmap.hpp"

namespace nplus1::report {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

RunSummary two_ranks() {
  RunSummary summary;
  summary.application = "./app";
  summary.ranks = 2;
  summary.virtual_time = milliseconds{20};
  summary.wall_time_s = 0.5;
  summary.network = "lsb:latency=1e-06";
  summary.messages = RankMatrix{2};
  summary.messages.add(RankId{0}, RankId{1}, 3);
  summary.bytes = RankMatrix{2};
  summary.bytes.add(RankId{0}, RankId{1}, 4096);
  summary.one_sided = {{"put", 5, 100}, {"fetch_and_op", 2, 32}};
  summary.collectives = {{"MPI_Bcast", 2, 1, {4, 4}}, {"MPI_Barrier", 2, std::nullopt, {1, 0}}};
  summary.message_sizes = {{bytes(16), 1}, {std::nullopt, 2}};
  summary.rank_end = {kTimeZero + milliseconds{20}, kTimeZero + milliseconds{10}};
  summary.compute_time = {milliseconds{15}, milliseconds{5}};
  summary.trust.active_ranks = 2;
  summary.complete = true;
  summary.notes = {"a \"quoted\" note"};
  return summary;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(SummaryJson, HoldsEveryFieldOfTheSchema) {
  const json read = json::parse(summary_json(two_ranks()));
  EXPECT_EQ(read["schema"], "nplus1-summary/1");
  EXPECT_EQ(read["ranks"], 2);
  EXPECT_EQ(read["complete"], true);
  EXPECT_DOUBLE_EQ(read["virtual_time_s"], 0.02);
  EXPECT_EQ(read["point_to_point"]["messages"], (json{{0, 3}, {0, 0}}));
  EXPECT_EQ(read["point_to_point"]["bytes"][0][1], 4096);
  EXPECT_EQ(read["one_sided"][1], (json{{"operation", "fetch_and_op"}, {"transfers", 2}, {"bytes", 32}}));
  EXPECT_EQ(read["collectives"][0],
            (json{{"name", "MPI_Bcast"}, {"comm_size", 2}, {"root", 1}, {"calls_per_rank", {4, 4}}}));
  EXPECT_TRUE(read["collectives"][1]["root"].is_null());
  EXPECT_EQ(read["message_sizes"][0], (json{{"upper_bytes", 16}, {"count", 1}}));
  EXPECT_TRUE(read["message_sizes"][1]["upper_bytes"].is_null());
  EXPECT_EQ(read["unmodelled"]["calls"], 0);
  EXPECT_EQ(read["rank_end_s"].size(), 2U);
  EXPECT_DOUBLE_EQ(read["compute_s"][1], 0.005);
  EXPECT_EQ(read["trust"]["active_ranks"], 2);
  EXPECT_EQ(read["notes"][0], "a \"quoted\" note");
}

TEST(SummaryJson, TimesAreExactInTheText) {
  RunSummary summary = two_ranks();
  summary.virtual_time = Duration{1'000'000'000'001};
  EXPECT_NE(summary_json(summary).find("\"virtual_time_s\": 1.000000000001,"), std::string::npos);
}

TEST(SummaryJson, SaysWhatAnEstimatedVirtualTimeLiesIn) {
  RunSummary summary = two_ranks();
  EXPECT_FALSE(json::parse(summary_json(summary)).contains("virtual_time_interval"));
  using std::chrono::milliseconds;
  summary.virtual_time_interval =
      TimeInterval{milliseconds{1}, milliseconds{2}, milliseconds{4}, milliseconds{5}, 0.9};
  const json interval = json::parse(summary_json(summary))["virtual_time_interval"];
  EXPECT_EQ(interval, json::parse(R"({"lowest_s": 0.001, "from_s": 0.002, "to_s": 0.004, "highest_s": 0.005,
                                      "share": 0.9})"));
}

TEST(SummaryJson, AnEmptySummaryAndNamesInOtherEncodingsAreStillJson) {
  EXPECT_EQ(json::parse(summary_json({}))["ranks"], 0);
  RunSummary summary = two_ranks();
  summary.application = "caf\xe9";
  summary.unmodelled.share = std::nan("");
  EXPECT_TRUE(json::accept(summary_json(summary)));
}

TEST(MatrixCsv, RowsAreSenders) {
  EXPECT_EQ(matrix_csv(two_ranks().messages), "0,3\n0,0\n");
}

TEST(Heatmap, NothingIsBlankAndTheGreatestCellIsDarkest) {
  RankMatrix matrix{3};
  matrix.add(RankId{0}, RankId{1}, 1);
  matrix.add(RankId{2}, RankId{0}, 1000);
  const auto lines = heatmap(matrix, {.unicode = false});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], "    0  . - .");
  EXPECT_EQ(lines[3], "    2  # . .");
}

TEST(Heatmap, ManyRanksShareCellsAndNothingIsLost) {
  RankMatrix matrix{1000};
  for (std::int32_t r = 0; r < 1000; ++r) matrix.add(RankId{r}, RankId{999 - r}, 2);
  const auto cells = binned(matrix);
  EXPECT_LE(cells.size(), kMostCells);
  std::uint64_t sum = 0;
  for (const auto& row : cells) {
    for (const auto value : row) sum += value;
  }
  EXPECT_EQ(sum, 2000U);
}

TEST(SummaryText, ShowsTimesCountsAndImbalance) {
  const std::string text = summary_text(two_ranks(), "results", {.unicode = false});
  for (const char* wanted :
       {"./app on 2 ranks", "20 ms", "3 messages", "4 KiB", "MPI_Bcast", "0 to 1",
        "One-sided: 7 transfers, 132 B (put 5, fetch_and_op 2)", "imbalance (most / mean - 1) 50.0 %",
        "load balance (mean / most) 66.7 %", "2 of 2 ranks", "results/"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
  }
  EXPECT_EQ(text.find("INCOMPLETE"), std::string::npos);
}

TEST(SummaryText, AProgramThatDiedIsCalledIncomplete) {
  RunSummary summary = two_ranks();
  summary.complete = false;
  EXPECT_NE(summary_text(summary, "", {}).find("INCOMPLETE"), std::string::npos);
}

TEST(SummaryText, StaysShortAndNarrowForManyRanks) {
  RunSummary summary = two_ranks();
  summary.ranks = 4096;
  summary.messages = RankMatrix{4096};
  summary.bytes = RankMatrix{4096};
  for (std::int32_t r = 0; r < 4096; ++r) summary.messages.add(RankId{r}, RankId{(r + 1) % 4096}, 1);
  summary.compute_time.assign(4096, milliseconds{1});
  const std::string text = summary_text(summary, "", {.unicode = false});
  EXPECT_LT(lines_of(text), 120U);
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

/// 46 days each: together more than a Duration holds.
TEST(SummaryText, TheMeanOfManyRanksIsThatOfTheirTimes) {
  RunSummary summary = two_ranks();
  summary.compute_time.assign(4096, std::chrono::seconds{4'000'000});
  const std::string text = summary_text(summary, "", {.unicode = false});
  EXPECT_NE(text.find("mean 4e+06 s, most 4e+06 s"), std::string::npos) << text;
  EXPECT_NE(text.find("imbalance (most / mean - 1) 0.0 %"), std::string::npos) << text;
}

TEST(SummaryText, AsciiStyleIsAscii) {
  for (const char c : summary_text(two_ranks(), "", {.unicode = false}))
    EXPECT_LT(static_cast<unsigned char>(c), 128);
}

}  // namespace
}  // namespace nplus1::report
