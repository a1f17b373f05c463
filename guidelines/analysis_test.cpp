#include "guidelines/analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "guidelines/testing/synthetic.hpp"

namespace nplus1::guidelines {
namespace {

Catalogue catalogue_of(const std::string& text) {
  return parse_catalogue(text, "test").value();
}

const char* const kGather = R"([{"orig": "Gather", "mock": "Gather_with_Allgather"}])";
const char* const kBcast = R"([{"orig": "Bcast"}])";

Analysis analyse_native(const char* catalogue, Samples samples, const Judging& judging = {}) {
  Data data;
  data.native = std::move(samples);
  return analyse(catalogue_of(catalogue), data, judging);
}

std::vector<Comparison> violations(const Analysis& analysis, Rule rule) {
  std::vector<Comparison> list;
  std::copy_if(analysis.comparisons.begin(), analysis.comparisons.end(), std::back_inserter(list),
               [&](const Comparison& c) { return c.rule == rule && c.verdict == Verdict::kViolated; });
  return list;
}

TEST(PatternRule, FindsTheSizeAtWhichTheOriginalIsSlower) {
  const Analysis analysis =
      analyse_native(kGather, {{{8, "Gather", 1}, steady_sample(1e-6)},
                               {{8, "Gather", 64}, steady_sample(3e-6)},
                               {{8, "Gather_with_Allgather", 1}, steady_sample(2e-6)},
                               {{8, "Gather_with_Allgather", 64}, steady_sample(1e-6)}});
  ASSERT_EQ(analysis.comparisons.size(), 2U);
  const auto found = violations(analysis, Rule::kPattern);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].left.size, 64U);
  EXPECT_NEAR(found[0].ratio.estimate, 3, 1e-9);
  EXPECT_NEAR(*found[0].p, 5.41254411e-6, 1e-13);  // ten against ten, all greater
  EXPECT_NEAR(*found[0].q, 2 * 5.41254411e-6, 1e-13);
  EXPECT_EQ(mark(found[0]), "***");
  EXPECT_EQ(analysis.comparisons[0].verdict, Verdict::kHolds);
  EXPECT_EQ(title(found[0]), "Gather(n) <= Allgather");
}

TEST(PatternRule, ASureButSmallSlowdownIsNoViolation) {
  const Samples samples{{{8, "Gather", 1}, steady_sample(1.04e-6)},
                        {{8, "Gather_with_Allgather", 1}, steady_sample(1e-6)}};
  EXPECT_EQ(analyse_native(kGather, samples).comparisons.at(0).verdict, Verdict::kHolds);
  Judging strict;
  strict.least_ratio = 1;
  EXPECT_EQ(analyse_native(kGather, samples, strict).comparisons.at(0).verdict, Verdict::kViolated);
}

TEST(PatternRule, OtherNumbersOfProcessesAreOtherComparisons) {
  const Analysis analysis = analyse_native(kGather, {{{8, "Gather", 1}, steady_sample(3e-6)},
                                                     {{4, "Gather_with_Allgather", 1}, steady_sample(1e-6)}});
  EXPECT_TRUE(analysis.comparisons.empty());
}

TEST(PatternRule, TimesWithoutCopiesCountWhereAskedFor) {
  Sample mock_up = steady_sample(2e-6);
  mock_up.without_copies = steady_sample(1e-6).medians;
  const Samples samples{{{8, "Gather", 1}, steady_sample(1.5e-6)},
                        {{8, "Gather_with_Allgather", 1}, mock_up}};
  EXPECT_EQ(analyse_native(kGather, samples).comparisons.at(0).verdict, Verdict::kHolds);
  Judging without;
  without.without_copies = true;
  EXPECT_EQ(analyse_native(kGather, samples, without).comparisons.at(0).verdict, Verdict::kViolated);
}

TEST(PowerGuard, ThreeMpirunsDecideAFamilyOfOneButNotOfForty) {
  Samples samples;
  const auto add = [&](std::uint64_t size) {
    samples[{2, "Gather", size}] = steady_sample(2e-6, 3);
    samples[{2, "Gather_with_Allgather", size}] = steady_sample(size == 1 ? 1e-6 : 2e-6, 3);
  };
  add(1);
  EXPECT_EQ(analyse_native(kGather, samples).comparisons[0].verdict, Verdict::kViolated);  // p = 1/20
  for (std::uint64_t size = 2; size <= 40; ++size) add(size);
  const Analysis many = analyse_native(kGather, samples);
  EXPECT_EQ(many.comparisons[0].verdict, Verdict::kUndecided);
  EXPECT_EQ(many.fewest_runs, 3U);
  EXPECT_EQ(many.runs_needed, 6U);  // 1/C(12,6) = 1.08e-3 is at most .05/40 = 1.25e-3, 1/C(10,5) is not
}

TEST(PowerGuard, ASpreadThatHidesFivePerCentLeavesTheQuestionOpen) {
  Sample noisy;
  for (int run = 0; run < 10; ++run) {
    noisy.mpiruns.push_back(run);
    noisy.medians.push_back(1e-6 * (0.7 + 0.06 * run));
  }
  const Analysis analysis =
      analyse_native(kGather, {{{2, "Gather", 1}, noisy}, {{2, "Gather_with_Allgather", 1}, noisy}});
  EXPECT_EQ(analysis.comparisons.at(0).verdict, Verdict::kOpen);
  EXPECT_NE(analysis.comparisons[0].reason.find("reaches beyond 1.05"), std::string::npos);
}

TEST(MonotonyRule, ComparesNeighboursAmongTheSizes) {
  const Analysis analysis = analyse_native(kBcast, {{{2, "Bcast", 8}, steady_sample(5e-6)},
                                                    {{2, "Bcast", 64}, steady_sample(2e-6)},
                                                    {{2, "Bcast", 512}, steady_sample(3e-6)}});
  const auto found = violations(analysis, Rule::kMonotony);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].left.size, 8U);
  EXPECT_EQ(found[0].right.size, 64U);
  EXPECT_NEAR(found[0].ratio.estimate, 2.5, 1e-9);
}

TEST(SplitRule, FivePerCentAndTheLegacyFactorDiffer) {
  // 2 calls of 1024 take 2 us, one of 2000 takes 3 us: 1.5 times, above 1.05 and below 2.05.
  const Samples samples{{{2, "Bcast", 1024}, steady_sample(1e-6)}, {{2, "Bcast", 2000}, steady_sample(3e-6)}};
  const auto found = violations(analyse_native(kBcast, samples), Rule::kSplit);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].right.calls, 2U);
  EXPECT_NEAR(found[0].ratio.estimate, 1.5, 1e-9);
  EXPECT_FALSE(found[0].p);
  Judging legacy;
  legacy.split_factor = kLegacySplitFactor;
  EXPECT_TRUE(violations(analyse_native(kBcast, samples, legacy), Rule::kSplit).empty());
}

TEST(SplitRule, ReportsTheLargestSizeOnly) {
  const Analysis analysis = analyse_native(kBcast, {{{2, "Bcast", 10}, exactly(1)},
                                                    {{2, "Bcast", 20}, exactly(1)},
                                                    {{2, "Bcast", 40}, exactly(3.9)},
                                                    {{2, "Bcast", 80}, exactly(4.3)}});
  const auto found = violations(analysis, Rule::kSplit);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].left.size, 40U);   // 3.9 > 1.05 * 2 * 1
  EXPECT_EQ(found[0].right.size, 20U);  // though 4 calls of 10 (4 s) are no faster
  EXPECT_EQ(found[1].left.size, 80U);   // 40 twice: 7.8; 20 four times: 4 < 4.3 / 1.05
  EXPECT_EQ(found[1].right.size, 20U);
}

TEST(SplitRule, SizeZeroCannotBeRepeated) {
  const Analysis analysis =
      analyse_native(kBcast, {{{2, "Bcast", 0}, exactly(1)}, {{2, "Bcast", 8}, exactly(9)}});
  EXPECT_EQ(analysis.comparisons.size(), 1U);  // monotony
}

TEST(Confirmation, FreshMeasurementsDecideWhetherAFindingStands) {
  Data data;
  data.native = {{{8, "Gather", 1}, steady_sample(2e-6)},
                 {{8, "Gather", 64}, steady_sample(3e-6)},
                 {{8, "Gather_with_Allgather", 1}, steady_sample(1e-6)},
                 {{8, "Gather_with_Allgather", 64}, steady_sample(1e-6)}};
  data.confirmation = {{{8, "Gather", 1}, steady_sample(1e-6)},
                       {{8, "Gather_with_Allgather", 1}, steady_sample(1e-6)}};
  const Analysis analysis = analyse(catalogue_of(kGather), data, {});
  ASSERT_EQ(violations(analysis, Rule::kPattern).size(), 2U);
  EXPECT_EQ(analysis.comparisons[0].confirmed, false);
  EXPECT_EQ(analysis.comparisons[1].confirmed, std::nullopt);
}

TEST(Confirmation, OfTooFewMpirunsRefutesNothing) {
  Data data;
  data.native = {{{8, "Gather", 1}, steady_sample(2e-6)},
                 {{8, "Gather_with_Allgather", 1}, steady_sample(1e-6)}};
  data.confirmation = data.native;
  for (auto& [place, sample] : data.confirmation) {
    sample.medians.resize(2);
    sample.mpiruns.resize(2);
  }
  const Analysis analysis = analyse(catalogue_of(kGather), data, {});
  ASSERT_EQ(violations(analysis, Rule::kPattern).size(), 1U);
  EXPECT_EQ(analysis.comparisons[0].confirmed, std::nullopt);
}

TEST(Confirmation, ASplitViolationIsConfirmedByRealCalls) {
  Data data;
  data.native = {{{2, "Bcast", 1024}, steady_sample(1e-6)}, {{2, "Bcast", 2000}, steady_sample(3e-6)}};
  data.confirmation = {{{2, "Bcast", 2000}, steady_sample(3e-6)},
                       {{2, "Bcast_split_2x1024", 2000}, steady_sample(2e-6)}};
  EXPECT_EQ(violations(analyse(catalogue_of(kBcast), data, {}), Rule::kSplit).at(0).confirmed, true);
  data.confirmation[{2, "Bcast_split_2x1024", 2000}] = steady_sample(2.95e-6);
  EXPECT_EQ(violations(analyse(catalogue_of(kBcast), data, {}), Rule::kSplit).at(0).confirmed, false);
}

TEST(Simulated, TimesWithoutNoiseAreComparedExactly) {
  Data data;
  data.simulated = {{{8, "Gather", 1}, exactly(1.06)}, {{8, "Gather_with_Allgather", 1}, exactly(1)}};
  const Analysis analysis = analyse(catalogue_of(kGather), data, {});
  EXPECT_TRUE(analysis.simulated_only);
  EXPECT_EQ(analysis.comparisons.at(0).verdict, Verdict::kViolated);
  EXPECT_FALSE(analysis.comparisons[0].p);
  EXPECT_EQ(mark(analysis.comparisons[0]), "*");
}

TEST(Simulated, AgreementIsCountedOncePerGuideline) {
  Data data;
  data.native = {{{8, "Gather", 1}, steady_sample(2e-6)},
                 {{8, "Gather", 64}, steady_sample(3e-6)},
                 {{8, "Gather_with_Allgather", 1}, steady_sample(1e-6)},
                 {{8, "Gather_with_Allgather", 64}, steady_sample(5e-6)}};
  data.simulated = {{{8, "Gather", 1}, exactly(1)},
                    {{8, "Gather", 64}, exactly(2)},
                    {{8, "Gather_with_Allgather", 1}, exactly(1)},
                    {{8, "Gather_with_Allgather", 64}, exactly(1)}};
  const Analysis analysis = analyse(catalogue_of(kGather), data, {});
  EXPECT_EQ(analysis.comparisons[0].simulated, Verdict::kHolds);
  EXPECT_EQ(analysis.comparisons[1].simulated_ratio, 2);
  EXPECT_EQ(analysis.compared, 1U);
  EXPECT_EQ(analysis.agreeing, 1U);  // both are violated somewhere
}

TEST(NullRuns, AnOriginalAgainstItselfGivesTheMachinesOwnRate) {
  const Analysis analysis = analyse_native(kGather, {{{2, "Gather", 1}, steady_sample(2e-6)},
                                                     {{2, "Gather", 64}, steady_sample(2e-6)},
                                                     {{2, "Gather_again", 1}, steady_sample(2e-6)},
                                                     {{2, "Gather_again", 64}, steady_sample(1e-6)}});
  EXPECT_EQ(analysis.null_hits.of, 4U);
  EXPECT_EQ(analysis.null_hits.hits, 1U);
  EXPECT_TRUE(analysis.comparisons.empty());
}

TEST(Collector, FiltersAndTakesTheMedianOfEachMpirun) {
  SampleCollector collector{catalogue_of(kGather)};
  for (const double t : {1., 2., 3., 4., 100.})
    collector.add({0, "GL_Gather_as_Allgather", 2, 0, 8, t, t / 2, false}, {});
  for (const double t : {7., 9.}) collector.add({3, "GL_Gather_as_Allgather", 2, 0, 8, t, t / 2, false}, {});
  const Data data = collector.take();
  const Sample& s = data.native.at({2, "Gather_with_Allgather", 8});
  EXPECT_EQ(s.mpiruns, (std::vector<int>{0, 3}));
  EXPECT_EQ(s.medians, (Values{2.5, 8}));
  EXPECT_EQ(s.without_copies, (Values{1.25, 4}));
}

TEST(Collector, ATimeOutNeverMakesAViolation) {
  SampleCollector collector{catalogue_of(kGather)};
  for (int run = 0; run < 10; ++run) {
    collector.add({run, "Gather", 2, 0, 8, 2e-3, {}, false}, {});
    collector.add({run, "Gather_with_Allgather", 2, 0, 8, 1e-3, {}, true}, {});
  }
  const Data data = collector.take();
  EXPECT_EQ(data.notes.size(), 1U);
  const Analysis analysis = analyse(catalogue_of(kGather), data, {});
  EXPECT_EQ(analysis.comparisons.at(0).verdict, Verdict::kHolds);
}

TEST(Collector, FreshAndSimulatedTimesAreKeptApart) {
  SampleCollector collector{catalogue_of(kGather)};
  collector.add({0, "Gather", 2, 0, 8, 1, {}, false}, {{kPurpose, kConfirmation}});
  collector.add({0, "Gather", 2, 0, 8, 2, {}, false}, {{kClock, kVirtualClock}});
  collector.add({0, "Gather", 2, 0, 8, 3, {}, false}, {{kClock, "MPI_Wtime"}});
  const Data data = collector.take();
  EXPECT_EQ(data.confirmation.at({2, "Gather", 8}).medians, Values{1});
  EXPECT_EQ(data.simulated.at({2, "Gather", 8}).medians, Values{2});
  EXPECT_EQ(data.native.at({2, "Gather", 8}).medians, Values{3});
}

}  // namespace
}  // namespace nplus1::guidelines
