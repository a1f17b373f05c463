#include "report/trust.hpp"

#include <gtest/gtest.h>

namespace nplus1::report {
namespace {

TEST(Trust, OfACleanRunLeavesNothingToSay) {
  Trust clean;
  clean.active_ranks = 4;
  clean.events = 1000;
  clean.cores = 2;
  EXPECT_TRUE(doubts(clean).empty());
  EXPECT_EQ(doubts_text(clean, "the run: "), "");
}

TEST(Trust, HasASentenceForEachThingThatIsNotProved) {
  Trust trust;
  trust.clock_mismatches = 1;
  trust.order_inversions = 2;
  trust.forced_decisions = 1;
  trust.relies_on_buffering = true;
  const auto sentences = doubts(trust);
  ASSERT_EQ(sentences.size(), 4U);
  EXPECT_EQ(sentences[0], "1 clock mismatch between a rank and the simulator");
  EXPECT_EQ(sentences[1], "2 order inversions: matched before an earlier message was known");
  EXPECT_EQ(sentences[2], "1 forced decision: made without proof that nothing earlier could come");
  EXPECT_NE(doubts_text(trust, "the run: ").find("\nthe run: 2 order inversions"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::report
