#include "patterns/difference.hpp"

#include <gtest/gtest.h>

#include "patterns/testing/streams.hpp"

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

CallSiteUse site(std::uint32_t line, std::uint64_t calls, std::int64_t time) {
  CallSiteUse s;
  s.call = "MPI_Send";
  s.frames = {{"exchange", "/src/halo.c", line, "/bin/halo", 16 * line},
              {"main", "/src/halo.c", line + 40, "", 0}};
  s.calls = calls;
  s.time = Duration{time};
  return s;
}

/// A comment above them moves all lines: the sites are the same.
TEST(Difference, CallSitesWhoseLinesHaveMovedAreTheSame) {
  Patterns before = sample();
  Patterns after = sample();
  before.call_sites = {site(58, 4, 100), site(60, 8, 10)};
  after.call_sites = {site(61, 4, 130), site(63, 8, 10)};
  const Difference d = compare(before, after);
  EXPECT_TRUE(d.sites_calls.empty());
  ASSERT_EQ(d.sites_time.size(), 1U);
  EXPECT_EQ(d.sites_time[0].what, "MPI_Send at exchange (halo.c:58, called from line 98), then line 61");
  EXPECT_EQ(d.sites_time[0].difference(), 30);
}

TEST(Difference, ACallSiteThatIsNewAmongMovedOnesIsNewAlone) {
  Patterns before = sample();
  Patterns after = sample();
  before.call_sites = {site(58, 4, 100), site(60, 8, 10)};
  after.call_sites = {site(57, 2, 1), site(61, 4, 100), site(63, 8, 10)};
  const Difference d = compare(before, after);
  ASSERT_EQ(d.sites_calls.size(), 1U);
  EXPECT_EQ(d.sites_calls[0].what, "MPI_Send at exchange (halo.c:57, called from line 97)");
  EXPECT_EQ(d.sites_calls[0].before, 0);
}

/// Two copies of the source tree, as before and after a change: the folders say nothing.
TEST(Difference, CallSitesOfTwoCopiesOfATreeAreTheSame) {
  Patterns before = sample();
  Patterns after = sample();
  before.call_sites = {site(58, 4, 100), site(60, 8, 10)};
  after.call_sites = {site(61, 6, 130), site(63, 8, 10)};
  for (CallSiteUse& s : after.call_sites)
    for (SiteFrame& f : s.frames) f.file = "/other/tree/halo.c";
  const Difference d = compare(before, after);
  ASSERT_EQ(d.sites_calls.size(), 1U);
  EXPECT_EQ(d.sites_calls[0].what, "MPI_Send at exchange (halo.c:58, called from line 98), then line 61");
  EXPECT_EQ(d.sites_calls[0].after, 6);
}

/// Where a file is in both runs, one of its name elsewhere is another.
TEST(Difference, FilesOfOneNameInOneTreeAreTwo) {
  Patterns before = sample();
  Patterns after = sample();
  CallSiteUse elsewhere = site(58, 3, 100);
  for (SiteFrame& f : elsewhere.frames) f.file = "/src/boundary/halo.c";
  before.call_sites = {site(58, 4, 100)};
  after.call_sites = {site(61, 4, 100), elsewhere};
  const Difference d = compare(before, after);
  ASSERT_EQ(d.sites_calls.size(), 1U);
  EXPECT_EQ(d.sites_calls[0].before, 0);
  EXPECT_EQ(d.sites_calls[0].after, 3);
}

TEST(Difference, ManyTimesAsMuchIsAFactor) {
  Patterns before = sample();
  Patterns after = sample();
  before.call_sites = {site(58, 4, 100)};
  after.call_sites = {site(58, 4, 13433)};
  EXPECT_NE(difference_text(compare(before, after), "A", "B").find("x 134"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::patterns
