#include "patterns/difference.hpp"

#include <gtest/gtest.h>

#include "patterns/test_streams.hpp"

namespace nplus1::patterns {
namespace {

TEST(Difference, ARunHasTheSamePatternAsItself) {
  const Difference d = compare(sample(), sample());
  EXPECT_TRUE(d.same_pattern);
  for (const Change& change : d.totals) EXPECT_EQ(change.difference(), 0) << change.what;
  EXPECT_TRUE(d.sites_calls.empty() && d.sites_time.empty() && d.sizes.empty());
}

TEST(Difference, OtherTimesAreTheSamePatternButShown) {
  Patterns slower = sample();
  slower.rank[0].waiting += Duration{5};
  slower.call_sites[0].time += Duration{9};
  const Difference d = compare(sample(), slower);
  EXPECT_TRUE(d.same_pattern);
  ASSERT_EQ(d.sites_time.size(), 1U);
  EXPECT_EQ(d.sites_time[0].difference(), 9);
}

TEST(Difference, ASingleMessageMoreIsAnotherPattern) {
  MessageStatistics one{3};
  MessageStatistics two{3};
  for (auto* s : {&one, &two}) {
    feed(*s, 0, send_event(1, 8));
    for (int i = 0; i < 10; ++i) feed(*s, 1, send_event(2, 8));
  }
  feed(two, 0, send_event(1, 8));
  for (int i = 0; i < 3; ++i) feed(two, 2, send_event(0, 8));
  const Difference d = compare(one.patterns(), two.patterns());
  EXPECT_FALSE(d.same_pattern);
  EXPECT_EQ(d.pairs, (std::vector<Change>{{"point_to_point 2 -> 0", Unit::kCount, 0, 3},
                                          {"point_to_point 0 -> 1", Unit::kCount, 1, 2}}));
}

TEST(Difference, EquallyManyBytesInOtherSizesAreAnotherPattern) {
  MessageStatistics one{2};
  MessageStatistics two{2};
  for (const std::int64_t size : {10, 10}) feed(one, 0, send_event(1, size));
  for (const std::int64_t size : {5, 15}) feed(two, 0, send_event(1, size));
  const Difference d = compare(one.patterns(), two.patterns());
  EXPECT_TRUE(d.pairs.empty());
  EXPECT_EQ(d.sizes.size(), 3U);
  EXPECT_FALSE(d.same_pattern);
}

TEST(Difference, AnotherRootOrCallerIsAnotherPattern) {
  MessageStatistics one{2};
  MessageStatistics two{2};
  feed(one, 0, collective_event(CollectiveKind::kSynchronize, -1, 0));
  feed(two, 1, collective_event(CollectiveKind::kSynchronize, -1, 0));
  EXPECT_FALSE(compare(one.patterns(), two.patterns()).same_pattern);
}

TEST(Difference, TextSaysWhichWayAndHowMuch) {
  MessageStatistics one{2};
  MessageStatistics two{2};
  for (int i = 0; i < 2; ++i) feed(one, 0, send_event(1, 8));
  for (int i = 0; i < 3; ++i) feed(two, 0, send_event(1, 8));
  const std::string text = difference_text(compare(one.patterns(), two.patterns()), "A", "B");
  EXPECT_EQ(text.rfind("Different communication patterns: A and B\n", 0), 0U) << text;
  EXPECT_NE(text.find("+50.0 %"), std::string::npos) << text;
}

}  // namespace
}  // namespace nplus1::patterns
