// How often the analysis is wrong, on data with a known truth and fixed seeds. bench/guidelines_study has
// larger numbers.
#include "guidelines/testing/synthetic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "guidelines/analysis.hpp"

namespace nplus1::guidelines {
namespace {

/// 8 patterns of 4 functions at 6 sizes: 48 tests a run.
Catalogue patterns() {
  const char* const text = R"([
    {"orig": "Gather", "mock": "Gather_with_Allgather", "msizes": [1, 64, 1024, 4096, 16384, 65536]},
    {"orig": "Gather", "mock": "Gather_with_Reduce", "msizes": [1, 64, 1024, 4096, 16384, 65536]},
    {"orig": "Reduce", "mock": "Reduce_with_Allreduce", "msizes": [1, 64, 1024, 4096, 16384, 65536]},
    {"orig": "Reduce", "mock": "Reduce_with_Reduce_scatter", "msizes": [1, 64, 1024, 4096, 16384, 65536]},
    {"orig": "Bcast", "mock": "Bcast_with_Allgatherv", "msizes": [1, 64, 1024, 4096, 16384, 65536]},
    {"orig": "Bcast", "mock": "Bcast_with_Scatter_Allgather", "msizes": [1, 64, 1024, 4096, 16384, 65536]},
    {"orig": "Scan", "mock": "Scan_with_Exscan_Reduce_local", "msizes": [1, 64, 1024, 4096, 16384, 65536]},
    {"orig": "Scan", "mock": "Scan_with_Allgather", "msizes": [1, 64, 1024, 4096, 16384, 65536]}])";
  return parse_catalogue(text, "test").value();
}

Judging by_p_alone(Correction correction, Method method = Method::kRankSum) {
  Judging judging;
  judging.least_ratio = 1;
  judging.correction = correction;
  judging.method = method;
  return judging;
}

struct Counted {
  std::size_t tests = 0, hits = 0, runs_with_hits = 0;
};

/// Measurements in which every original is as fast as its mock-ups; made once.
const std::vector<Data>& null_data() {
  static const std::vector<Data> data = [] {
    Experiment experiment;
    experiment.repetitions = 9;
    std::vector<Data> runs;
    for (std::uint64_t seed = 0; seed < 60; ++seed) runs.push_back(measured(patterns(), experiment, seed));
    return runs;
  }();
  return data;
}

Counted null_runs(const Judging& judging) {
  Counted counted;
  for (const Data& data : null_data()) {
    std::size_t hits = 0;
    for (const Comparison& c : analyse(patterns(), data, judging).comparisons) {
      ++counted.tests;
      hits += c.verdict == Verdict::kViolated ? 1 : 0;
    }
    counted.hits += hits;
    counted.runs_with_hits += hits > 0 ? 1 : 0;
  }
  return counted;
}

TEST(NullData, UncorrectedTestsAreWrongAsOftenAsAlphaSays) {
  for (const Method method : {Method::kRankSum, Method::kSignedRank, Method::kKolmogorovSmirnov}) {
    const Counted counted = null_runs(by_p_alone(Correction::kNone, method));
    const double share = static_cast<double>(counted.hits) / static_cast<double>(counted.tests);
    EXPECT_LE(share, 0.06) << static_cast<int>(
        method);  // at most .05; the hits of one original are not independent
    EXPECT_GE(share, 0.01) << static_cast<int>(method);  // and the tests do find something
  }
}

/// The exact binomial bound: the least k for which more than k of `trials` succeed with a probability of at most
/// `level`, if each does so with `chance`.
std::size_t most_by_chance(std::size_t trials, double chance, double level) {
  double this_many = std::pow(1 - chance, static_cast<double>(trials));
  double more = 1 - this_many;
  std::size_t k = 0;
  for (; more > level && k < trials; ++k) {
    this_many *= static_cast<double>(trials - k) / static_cast<double>(k + 1) * chance / (1 - chance);
    more -= this_many;
  }
  return k;
}

TEST(NullData, CorrectedFindingsAppearInAtMostAlphaOfTheRuns) {
  // With no true violation, a false discovery rate of 5 % means: any finding at all in at most 5 % of the
  // runs, which are independent. This test is wrong about that in at most 1 of 100 choices of the seeds.
  const std::size_t most = most_by_chance(null_data().size(), 0.05, 0.01);
  EXPECT_EQ(most_by_chance(60, 0.05, 0.01), 7U);  // 0.98 %
  for (const Correction correction : {Correction::kBenjaminiHochberg, Correction::kHolm})
    EXPECT_LE(null_runs(by_p_alone(correction)).runs_with_hits, most);
}

TEST(NullData, TheAaRunsReportTheRateOfTheMachine) {
  std::size_t hits = 0, all = 0;
  for (const Data& data : null_data()) {
    const Rate rate = analyse(patterns(), data, Judging{}).null_hits;
    hits += rate.hits;
    all += rate.of;
  }
  EXPECT_EQ(all, null_data().size() * 2 * 4 * 6);
  EXPECT_NEAR(static_cast<double>(hits) / static_cast<double>(all), 0.05, 0.02);
}

TEST(PlantedEffect, AReduceThatIsAThirdSlowerAbove16KiBIsFoundThereAndNowhereElse) {
  const Catalogue catalogue = patterns();
  Experiment experiment;
  experiment.repetitions = 9;
  experiment.planted = 1.33;
  experiment.planted_in = "Reduce";
  experiment.planted_above = 16384;
  std::size_t found = 0, elsewhere = 0;
  constexpr std::uint64_t kRuns = 20;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    for (const Comparison& c :
         analyse(catalogue, measured(catalogue, experiment, seed), Judging{}).comparisons) {
      if (c.verdict != Verdict::kViolated) continue;
      (c.original == "Reduce" && c.left.size >= 16384 ? found : elsewhere) += 1;
    }
  }
  EXPECT_GE(found,
            kRuns * 4 * 95 / 100);  // 2 guidelines at 2 sizes; power at least 95 % (spread 10 %, 10 mpiruns)
  EXPECT_LE(elsewhere, found * 5 / 100);  // the false discovery rate
}

TEST(PlantedEffect, ThreeMpirunsAreTooFewAndTheAnalysisSaysSo) {
  const Catalogue catalogue = patterns();
  Experiment experiment;
  experiment.runs = 3;
  experiment.planted = 2;
  experiment.planted_in = "Reduce";
  const Analysis analysis = analyse(catalogue, measured(catalogue, experiment, 1), Judging{});
  for (const Comparison& c : analysis.comparisons) EXPECT_EQ(c.verdict, Verdict::kUndecided);
  EXPECT_EQ(analysis.runs_needed, 7U);  // of 48 tests
}

}  // namespace
}  // namespace nplus1::guidelines
