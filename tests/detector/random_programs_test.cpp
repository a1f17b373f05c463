// A sample of the random programs; detector_score judges as many as one likes. These seeds were
// looked at while the detector was tuned; those of the published tables were not.
#include <gtest/gtest.h>

#include <map>

#include "tests/detector/score.hpp"

namespace nplus1::tests {
namespace {

constexpr std::uint64_t kFirst = 5'000'000;

TEST(Bounds, AreThoseOfTheBinomialDistribution) {
  // Of none among n: 1 - 0.05^(1/n).
  EXPECT_NEAR(upper_bound(0, 100), 0.02951, 1e-5);
  EXPECT_NEAR(lower_bound(100, 100), 0.97049, 1e-5);
  EXPECT_NEAR(upper_bound(1, 100), 0.04656, 1e-5);
}

// One program in a thousand may have a false finding: with 600 programs more than 3 of them come up by chance in less
// than one of 200 such samples.
TEST(RandomPrograms, WithoutACollectiveHaveHardlyEverAFalseFinding) {
  constexpr std::uint64_t kPrograms = 600;
  std::uint64_t wrong = 0;
  std::string which;
  for (std::uint64_t s = kFirst; s < kFirst + kPrograms; ++s) {
    const RandomProgram program = program_without_collective(s);
    const Judgement j = judgement(program);
    if (j.wrong.empty()) continue;
    ++wrong;
    which += program.family + " " + std::to_string(s) + "\n" + collectives_text(j.wrong);
  }
  EXPECT_LE(wrong, 3U) << which;
  EXPECT_LT(lower_bound(wrong, kPrograms), 0.0015);
}

// Where there is a proof, at least 95 of 100 are found: not contradicted by the sample at a level of 95 %.
TEST(RandomPrograms, ThatHoldAProofAreFound) {
  constexpr std::uint64_t kPrograms = 60;
  for (const std::string& kind : planted_kinds()) {
    std::uint64_t provable = 0;
    std::uint64_t found = 0;
    std::string missed;
    for (std::uint64_t s = kFirst; s < kFirst + kPrograms; ++s) {
      const RandomProgram program = program_with(kind, s);
      if (!program.truth.front().provable) continue;
      ++provable;
      if (judgement(program).found)
        ++found;
      else
        missed += program.family + " " + std::to_string(s) + "\n";
    }
    EXPECT_GE(upper_bound(found, provable), 0.95) << kind << ": " << found << " of " << provable << "\n"
                                                  << missed;
  }
}

}  // namespace
}  // namespace nplus1::tests
