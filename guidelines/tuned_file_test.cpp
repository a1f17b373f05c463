#include "guidelines/tuned_file.hpp"

#include <gtest/gtest.h>

#include "guidelines/tuning.hpp"

namespace nplus1::guidelines {
namespace {

TEST(TunedFile, KeepsItsProfileBehindTheLibrary) {
  const std::string library{
      "\x7f"
      "ELF and more",
      13};
  const std::string profile = "Reduce 8 1 64 Reduce_with_Allreduce\n";
  EXPECT_EQ(with_profile(library, profile).compare(0, library.size(), library), 0);
  EXPECT_EQ(appended_profile(with_profile(library, profile)), profile);
  EXPECT_EQ(appended_profile(with_profile(library, "")), "");
}

TEST(TunedFile, WithoutAProfileHasNone) {
  EXPECT_EQ(appended_profile("a library"), "");
  EXPECT_EQ(appended_profile(""), "");
  const std::string cut = with_profile("library", "Reduce 8 1 64 Reduce_with_Allreduce\n").substr(20);
  EXPECT_EQ(appended_profile(cut), "");
}

TEST(TunedFile, ThatIsDamagedHasNoProfile) {
  const std::string whole = with_profile("library", "Reduce 8 1 64 Reduce_with_Allreduce\n");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'x', '9', '-', ' '}) {
      std::string damaged = whole;
      damaged[i] = c;
      EXPECT_LE(appended_profile(damaged).size(), whole.size()) << i;
    }
  }
  std::string no_number = whole;
  no_number[whole.size() - std::string{kTunedMark}.size() - 5] = 'x';
  EXPECT_EQ(appended_profile(no_number), "");
}

Comparison pattern(std::uint64_t size, const std::string& mock_up, double seconds, Verdict verdict) {
  Comparison c;
  c.rule = Rule::kPattern;
  c.original = "Reduce";
  c.processes = 4;
  c.left.size = c.right.size = size;
  c.right.test = mock_up;
  c.right.seconds = seconds;
  c.verdict = verdict;
  return c;
}

TEST(Tuning, TakesTheFastestMockUpAndJoinsNeighbours) {
  Analysis analysis;
  analysis.comparisons = {
      pattern(8, "A", 2, Verdict::kViolated),    pattern(8, "B", 1, Verdict::kViolated),
      pattern(64, "B", 1, Verdict::kViolated),   pattern(512, "B", 1, Verdict::kHolds),
      pattern(1024, "B", 1, Verdict::kViolated), pattern(2000, "A", 1, Verdict::kViolated)};
  analysis.comparisons.push_back(pattern(4096, "A", 1, Verdict::kViolated));
  analysis.comparisons.back().confirmed = false;
  const auto ranges = tuned_ranges(analysis, [](const std::string&) { return true; });
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[0].mock_up, "B");
  EXPECT_EQ(ranges[0].from, 8U);
  EXPECT_EQ(ranges[0].to, 64U);
  EXPECT_EQ(ranges[1].from, 1024U);
  EXPECT_EQ(ranges[1].to, 1024U);
  EXPECT_EQ(ranges[2].mock_up, "A");
  EXPECT_EQ(ranges[2].processes, 4);
  EXPECT_EQ(tuned_ranges(analysis, [](const std::string& name) { return name == "A"; }).front().to, 8U);
}

TEST(Tuning, LeavesCallsOfNoBytesAlone) {
  Analysis analysis;
  analysis.comparisons = {pattern(0, "A", 1, Verdict::kViolated), pattern(8, "A", 1, Verdict::kViolated)};
  const auto ranges = tuned_ranges(analysis, [](const std::string&) { return true; });
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].from, 8U);
}

}  // namespace
}  // namespace nplus1::guidelines
