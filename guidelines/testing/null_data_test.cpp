#include "guidelines/testing/null_data.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "guidelines/analysis.hpp"

namespace nplus1::guidelines {
namespace {

constexpr NullScheme kAll[] = {NullScheme::kAsMeasured, NullScheme::kRelabelled, NullScheme::kSplit,
                               NullScheme::kFirstHalf};

Catalogue scan() {
  return parse_catalogue(R"([{"orig": "Scan", "mock": "Scan_with_A", "msizes": [8, 64]},
                             {"orig": "Scan", "mock": "Scan_with_B", "msizes": [8, 64]}, {"orig": "Scan"}])",
                         "test")
      .value();
}

void add(std::vector<Measurement>& rows, const std::string& test, int mpirun, int repetition,
         double seconds) {
  for (const std::uint64_t size : {8U, 64U}) {
    Measurement m;
    m.mpirun = mpirun, m.test = test, m.processes = 2, m.size = size, m.seconds = seconds;
    m.repetition = static_cast<std::uint32_t>(repetition);
    rows.push_back(m);
  }
}

/// Scan takes 1 us and more, once more 2 us and more, its mock-up a tenth; and `drift` more each repetition.
std::vector<Measurement> real(double drift) {
  std::vector<Measurement> rows;
  for (int mpirun = 0; mpirun < 10; ++mpirun) {
    for (int i = 0; i < 20; ++i) {
      const double seconds = 1e-6 + 1e-9 * mpirun + 1e-10 * i + drift * i;
      add(rows, "Scan", mpirun, i, seconds);
      add(rows, "Scan_again", mpirun, i, 1e-6 + seconds);
      add(rows, "Scan_with_A", mpirun, i, seconds / 10);
    }
  }
  return rows;
}

std::size_t violations(const NullData& data) {
  SampleCollector collector{data.catalogue};
  for (const Measurement& m : data.measurements) collector.add(m, {});
  std::size_t found = 0;
  for (const Comparison& c : analyse(data.catalogue, collector.take(), Judging{}).comparisons)
    found += c.verdict == Verdict::kViolated ? 1 : 0;
  return found;
}

TEST(NullData, HasAGuidelineForEachPatternAndNothingOfTheMockUps) {
  for (const NullScheme scheme : kAll) {
    const NullData data = null_data(real(0), scan(), scheme, 1);
    EXPECT_EQ(data.catalogue.guidelines.size(), 2U);
    std::set<std::string> tests;
    for (const Measurement& m : data.measurements) {
      tests.insert(m.test);
      EXPECT_GE(m.seconds, 1e-6);
    }
    EXPECT_EQ(tests.size(), 4U);
  }
}

TEST(NullData, KeepsEachMpirunsTimesTogetherAndUsesEachOnce) {
  std::map<int, std::multiset<double>> before, after;
  for (const Measurement& m : real(0))
    if (m.test == "Scan" && m.size == 8) before[m.mpirun].insert(m.seconds);
  for (const Measurement& m : null_data(real(0), scan(), NullScheme::kSplit, 1).measurements)
    if (m.test.rfind("Null0", 0) == 0 && m.size == 8) after[m.mpirun].insert(m.seconds);
  EXPECT_EQ(before, after);
}

// The second measurement takes twice as long as the first: that is found in half of the comparisons as they
// were measured, and in none once it is by chance which is which.
TEST(NullData, RelabellingTakesAwayWhatIsNotByChance) {
  std::size_t as_measured = 0, relabelled = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    as_measured += violations(null_data(real(0), scan(), NullScheme::kAsMeasured, seed));
    relabelled += violations(null_data(real(0), scan(), NullScheme::kRelabelled, seed));
  }
  EXPECT_NEAR(static_cast<double>(as_measured), 100, 35);  // of 200; 5 standard deviations
  EXPECT_LE(relabelled, 10U);
}

TEST(NullData, ADriftIsSeenBetweenHalvesOnly) {
  std::size_t split = 0, halves = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    split += violations(null_data(real(1e-7), scan(), NullScheme::kSplit, seed));
    halves += violations(null_data(real(1e-7), scan(), NullScheme::kFirstHalf, seed));
  }
  EXPECT_LE(split, 10U);
  EXPECT_NEAR(static_cast<double>(halves), 100, 35);
}

}  // namespace
}  // namespace nplus1::guidelines
