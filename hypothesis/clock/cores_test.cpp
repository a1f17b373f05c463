// Stretches whose cores ran at other frequencies, or were shared with others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "hypothesis/clock/stretches.hpp"
#include "hypothesis/clock/two_places.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// Stretches of 20 us on cores whose frequency comes and goes, and of which now and then somebody else has a part.
std::vector<Sample> on_cores_of_others(double share_of_others) {
  constexpr double kCyclesPs = 400e3, kLoads = 0.53;
  std::mt19937 random{7};
  std::uniform_real_distribution<double> even{0, 1};
  std::vector<Sample> samples;
  for (int i = 0; i < 400; ++i) {
    const double slower = i % 3 == 0 ? 1 : 1 + 0.3 * even(random);
    const bool shared = even(random) < share_of_others;
    const double warm = 20 * kMicrosecond * slower * (shared ? 1.35 + 0.2 * even(random) : 1);
    Sample sample{RankId{i % kRanks}, static_cast<std::uint64_t>(i / kRanks * 2 + 1),
                  Duration{std::llround(warm)}};
    sample.twins_core.cycles = Duration{std::llround(kCyclesPs * slower)};
    sample.twins_core.loads = Duration{std::llround(kCyclesPs * slower * kLoads * (shared ? 1.3 : 1))};
    samples.push_back(sample);
  }
  return samples;
}

/// `by_sharing`: how much longer the stretches of odd ranks were recorded.
double warm_by(const std::vector<Sample>& samples, double by_sharing = 1) {
  Stretches stretches{samples};
  for (int r = 0; r < kRanks; ++r)
    for (int s = 0; s < kSteps; ++s)
      stretches.take(RankId{r}, static_cast<std::uint64_t>(s),
                     event_of(s, (r % 2 == 0 ? 1 : by_sharing) * (60 + 0.7 * ((3 * r + 2 * (s / 2)) % 7)) *
                                     kMicrosecond));
  stretches.fit();
  Follower follower;
  (void)follower.before(RankId{3}, event_of(0, 0));
  return stretches.warm(follower.before(RankId{3}, event_of(1, 0)), RankId{3}, 1000, 60 * kMicrosecond);
}

double warm_on_cores_of_others(double share_of_others) {
  return warm_by(on_cores_of_others(share_of_others));
}

TEST(StretchesOnCores, TakeTheirCyclesAtTheHighestFrequency) {
  EXPECT_NEAR(warm_on_cores_of_others(0), 20 * kMicrosecond, 0.1 * kMicrosecond);
}

TEST(StretchesOnCores, AreToldBySamplesThatHadTheirCoreForThemselves) {
  EXPECT_NEAR(warm_on_cores_of_others(0.8), 20 * kMicrosecond, 0.1 * kMicrosecond);
}

/// A sample of rank 3's or another's `ordinal`-th stretch, whose twin's core was shared or not.
Sample on_a_core(int rank, std::uint64_t ordinal, double warm, bool shared) {
  return {RankId{rank},
          ordinal,
          Duration{std::llround(warm)},
          false,
          {Duration{400'000}, Duration{shared ? 280'000 : 200'000}}};
}

/// Of what twins take that share their core, where nothing tells what that makes.
const double kUntold = std::exp(-Sharing::kOfOthers / 2);

/// What is told of stretches whose twins took 30, 36 and 42 us on shared cores. `of_others`: how much longer sharing made the samples of
/// the kind between; 0: nothing is known of that.
double warm_where_all_shared(double of_others) {
  std::vector<Sample> samples;
  for (const double longer : {1.0, 1.2, 1.4})
    samples.push_back(on_a_core(3, 19 + 2 * samples.size(), longer * 30 * kMicrosecond, true));
  for (int r = 0; r < kRanks; ++r) {
    samples.push_back({RankId{r}, 1, {}, false, {}, {Duration{400'000}, Duration{200'000}}});
    for (std::uint64_t s = 2; of_others > 0 && s < 40; s += 6)
      samples.push_back(on_a_core(r, s, (r % 2 == 0 ? 1 : of_others) * 25 * kMicrosecond, r % 2 != 0));
  }
  return warm_by(samples, std::max(of_others, 1.0));
}

TEST(StretchesOnCores, WhoseTwinsAllSharedTheirCoreTakeWhatTheseTookWithoutWhatSharingMakes) {
  EXPECT_NEAR(warm_where_all_shared(0), 30 * kMicrosecond, 0.1 * kMicrosecond);  // the best of them
  EXPECT_NEAR(warm_where_all_shared(1.5), 36 / 1.36 * kMicrosecond, 0.3 * kMicrosecond);
  EXPECT_NEAR(warm_where_all_shared(1.001), 36 / 1.05 * kMicrosecond, 0.3 * kMicrosecond);
}

/// Stretches of a millisecond whose core a stranger has for ten in a row, and then not, which makes them 1.4 times as long; twins are all on
/// shared cores.
TEST(StretchesOnCores, AreToldByRecordedOnesThatBeganAndEndedOnSharedCores) {
  constexpr int kMany = 40;
  constexpr double kWork = 1000 * kMicrosecond;
  const auto shared = [](int rank, int step) { return (step / 10 + rank) % 2 == 1; };
  std::vector<Sample> samples;
  for (int r = 0; r < kRanks; ++r)
    for (int s = 0; s < kMany; ++s) {
      Sample sample{RankId{r}, static_cast<std::uint64_t>(s)};
      sample.core = {Duration{400'000}, Duration{shared(r, s) ? 280'000 : 200'000}};
      if (shared(r, s) && s % 10 == 5) {
        sample.warm = Duration{std::llround(1.4 * kWork)};
        sample.twins_core = sample.core;
      }
      samples.push_back(sample);
    }
  Stretches stretches{samples};
  const auto recorded = [&](int r, int s) {
    return (shared(r, s) ? 1.4 : 1) * kWork * (1 + 0.01 * ((r + 3 * s) % 5));
  };
  for (int r = 0; r < kRanks; ++r)
    for (int s = 0; s < kMany; ++s)
      stretches.take(RankId{r}, static_cast<std::uint64_t>(s), event_of(5, recorded(r, s)));
  stretches.fit();
  double longest = 0;
  for (int r = 0; r < kRanks; ++r) {
    Follower follower;
    for (int s = 0; s < kMany; ++s) {
      const double warm = stretches.warm(follower.before(RankId{r}, event_of(5, 0)), RankId{r},
                                         static_cast<std::uint64_t>(s), recorded(r, s));
      if (s > 0) longest = std::max(longest, warm);  // the first begins behind nothing: another kind
    }
  }
  EXPECT_NEAR(longest, 1.01 * kWork, 0.02 * kWork);
}

/// Ranks bound to two cores, of which a stranger keeps one: stretches too short to have a reading of their core, recorded as half as long again
/// on every second rank, as its twins took.
TEST(StretchesOnCores, OfRanksOnACoreThatSomebodyKeepsAreNoMoreWorkHoweverShortTheyAre) {
  std::vector<Sample> samples;
  for (int r = 0; r < kRanks; ++r)
    for (std::uint64_t s = 1; s < kSteps; s += 4)
      samples.push_back(on_a_core(r, s, (r % 2 == 0 ? 20 : 30) * kMicrosecond, r % 2 != 0));
  EXPECT_NEAR(warm_by(samples, 1.5), 20 * kMicrosecond, 0.3 * kMicrosecond);
}

TEST(StretchesOnCores, OfWhichOneThatDidNotShareTookLongerThanAllThatDidAreAsTheseSay) {
  for (const double own : {37, 19}) {
    std::vector<Sample> samples{on_a_core(2, 19, own * kMicrosecond, false)};
    for (const double us : {25.9, 26.0, 26.1})
      samples.push_back(on_a_core(3, 19 + 2 * samples.size(), us * kMicrosecond, true));
    for (int r = 0; r < kRanks; ++r)
      samples.push_back({RankId{r}, 1, {}, false, {}, {Duration{400'000}, Duration{200'000}}});
    EXPECT_NEAR(warm_by(samples), std::min(own, 26.0 * kUntold) * kMicrosecond, 0.2 * kMicrosecond) << own;
  }
}

int mixed_bits(int rank, int step) {
  return static_cast<int>(
      (static_cast<unsigned>(rank) * 2654435761U ^ static_cast<unsigned>(step) * 40503U) >> 7U & 1U);
}

/// `shared`: how much longer loads took where the twin ran.
Sample sample_of(int rank, int step, double warm, double shared) {
  return {RankId{rank},
          static_cast<std::uint64_t>(step),
          Duration{std::llround(warm)},
          false,
          {Duration{400'000}, Duration{std::llround(200'000 * (1 + shared))}}};
}

/// Of the first ranks' first stretches.
template <class Recorded>
double longest_told(const Stretches& stretches, int ranks, Recorded recorded) {
  double longest = 0;
  for (int r = 0; r < ranks; ++r) {
    Follower follower;
    for (int s = 0; s < 10; ++s) {
      const double warm = stretches.warm(follower.before(RankId{r}, event_of(5, 0)), RankId{r},
                                         static_cast<std::uint64_t>(s), recorded(r, s));
      if (s > 1) longest = std::max(longest, warm);
    }
  }
  return longest;
}

/// Of 16 ranks, half of whose stretches at random take 1.5 times as long, and with hardly a twin that had its core for itself:
/// the longest of ranks 0 to 7 is one of those. `sharing`: how much longer that made the twins' passes.
double longest_where_all_shared(double sharing) {
  constexpr int kFew = 16, kTasks = 60;
  const auto more = [](int rank, int step) { return mixed_bits(rank, step) % 2 == 1; };
  std::vector<Sample> samples;
  for (int r = 0; r < kFew; ++r)
    for (int s = 1; s < kTasks; s += 20) {
      const int n = static_cast<int>(samples.size());
      const bool own = n % 16 == 3;
      const double shared = own ? 0 : 0.2 + 0.03 * (n % 5);
      const double work = sharing > 0 || !more(r, s) ? 1 : 1.5;
      const double warm = 20 * kMicrosecond * work * (1 + sharing * shared);
      samples.push_back(sample_of(r, s, warm, shared));
    }
  Stretches stretches{samples};
  for (int r = 0; r < kFew; ++r)
    for (int s = 0; s < kTasks; ++s)
      stretches.take(RankId{r}, static_cast<std::uint64_t>(s),
                     event_of(5, (sharing == 0 && more(r, s) ? 35 : 25) * kMicrosecond));
  stretches.fit();
  return longest_told(stretches, 8,
                      [&](int r, int s) { return (sharing == 0 && more(r, s) ? 35 : 25) * kMicrosecond; });
}

/// Three that did not share do not tell what sharing made of the others, if work differs.
TEST(StretchesOnCores, WhoseTwinsNearlyAllSharedTheirCoreKeepTheirDifferencesWhereSharingMadeNone) {
  EXPECT_NEAR(longest_where_all_shared(0), 30 * kMicrosecond, 1.5 * kMicrosecond);
  EXPECT_NEAR(longest_where_all_shared(2), 20 * kMicrosecond, 0.5 * kMicrosecond);
}

/// The longest of 16 ranks' stretches, half of which at random take 1.4 times as long; of these each `alone`-th twin at most had its
/// core for itself. `as_work`: they were also recorded as longer. `by_sharing`: they shared theirs with
/// somebody who takes as much of it.
double longest_where_the_long_ones_shared(bool as_work, int alone, bool by_sharing = false) {
  constexpr int kMany = 16, kTasks = 60;
  const auto more = [](int rank, int step) { return mixed_bits(rank, step) == 1; };
  const auto recorded = [&](int rank, int step) {
    return (more(as_work ? rank : rank + 1, step) ? 35 : 25) * kMicrosecond *
           (1 + 0.01 * ((rank + step) % 5));
  };
  std::vector<Sample> samples;
  for (int r = 0; r < kMany; ++r)
    for (int s = 1; s < kTasks; s += 15) {
      const auto n = static_cast<int>(samples.size());
      const bool own = n % (more(r, s) ? alone : 2) == 0;
      const double little_or_all = more(r, s) ? 0.34 : 0.04;
      const double shared = own ? 0 : by_sharing ? little_or_all : 0.2 + 0.03 * (n % 5);
      const double warm = (more(r, s) ? 28 : 20) * kMicrosecond * (own ? 1 : 1.01);
      samples.push_back(sample_of(r, s, warm, shared));
    }
  Stretches stretches{samples};
  for (int r = 0; r < kMany; ++r)
    for (int s = 0; s < kTasks; ++s)
      stretches.take(RankId{r}, static_cast<std::uint64_t>(s), event_of(5, recorded(r, s)));
  stretches.fit();
  return longest_told(stretches, kMany, recorded);
}

TEST(StretchesOnCores, OfWhichLongOnesWereLeftAloneRarelyKeepTheirDifferencesWhereTheyWereRecordedSo) {
  EXPECT_NEAR(longest_where_the_long_ones_shared(true, 8), 28 * kMicrosecond, 0.5 * kMicrosecond);
  EXPECT_NEAR(longest_where_the_long_ones_shared(false, 8), 20 * kMicrosecond, 0.5 * kMicrosecond);
}

/// Who shares a core for a while makes a twin longer, and its stretch.
TEST(StretchesOnCores, OfWhichLongOnesAreAsLongAsSharingMakesThemAreNoMoreWork) {
  EXPECT_NEAR(longest_where_the_long_ones_shared(true, 1000, true), 20 * kMicrosecond, 0.5 * kMicrosecond);
}

TEST(StretchesOnCores, ThatWereLongPassedAtTheFrequencyThatTheirCoreHad) {
  std::vector<Sample> samples;
  for (int r = 0; r < kRanks; ++r)
    samples.push_back({RankId{r}, 0, {}, false, {}, {Duration{400'000}, Duration{200'000}}});
  samples.push_back({RankId{3}, 1, {}, false, {}, {Duration{600'000}, Duration{300'000}}});
  Stretches stretches{samples};
  for (int r = 0; r < kRanks; ++r)
    for (int s = 0; s < 2; ++s)
      stretches.take(RankId{r}, static_cast<std::uint64_t>(s),
                     event_of(s, (r == 3 && s == 1 ? 9e3 : 6e3) * kMicrosecond));
  stretches.fit();
  EXPECT_EQ(stretches.samples().measured(), 0U);
  EXPECT_NEAR(stretches.samples().slower_than_fastest(), 0.5 / (kRanks + 1), 1e-9);
  Follower follower;
  (void)follower.before(RankId{3}, event_of(0, 0));
  EXPECT_NEAR(stretches.warm(follower.before(RankId{3}, event_of(1, 0)), RankId{3}, 1, 9e3 * kMicrosecond),
              6e3 * kMicrosecond, 1 * kMicrosecond);
}

TEST(StretchesOnCores, PassedAtAFrequencyThatACoreMayHave) {
  std::vector<Sample> samples;
  for (int r = 0; r < kRanks; ++r)
    samples.push_back(
        {RankId{r}, 1, {}, false, {}, {Duration{r == 3 ? 2'800'000 : 400'000}, Duration{200'000}}});
  Stretches stretches{samples};
  for (int r = 0; r < kRanks; ++r)
    for (int s = 0; s < 3; ++s)
      stretches.take(RankId{r}, static_cast<std::uint64_t>(s), event_of(s % 2, 6e3 * kMicrosecond));
  stretches.fit();
  EXPECT_EQ(stretches.samples().slower_than_fastest(), 0);
  Follower follower;
  (void)follower.before(RankId{3}, event_of(0, 0));
  EXPECT_NEAR(stretches.warm(follower.before(RankId{3}, event_of(1, 0)), RankId{3}, 1, 6e3 * kMicrosecond),
              6e3 * kMicrosecond, 1 * kMicrosecond);
}

/// Stretches of 9 ms that each rank does once; on some cores others have a part of the units, which makes them 1.5 times as long.
TEST(StretchesOnCores, ThatHappenOnceAreNotLongerForWhoSharedTheirCore) {
  constexpr double kOnce = 9e3 * kMicrosecond;
  const auto shared = [](int rank) { return rank % 3 == 2; };
  const auto recorded = [&](int rank) { return (rank == 0 ? 2 : 1) * (shared(rank) ? 1.5 : 1.0) * kOnce; };
  std::vector<Sample> samples;
  for (int r = 0; r < kRanks; ++r)
    samples.push_back(
        {RankId{r}, 0, {}, false, {}, {Duration{400'000}, Duration{shared(r) ? 300'000 : 200'000}}});
  Stretches stretches{samples};
  for (int r = 0; r < kRanks; ++r) stretches.take(RankId{r}, 0, event_of(0, recorded(r)));
  stretches.fit();
  for (int r = 1; r < kRanks; ++r) {
    Follower follower;
    EXPECT_NEAR(stretches.warm(follower.before(RankId{r}, event_of(0, 0)), RankId{r}, 0, recorded(r)), kOnce,
                0.01 * kOnce)
        << r;
  }
  Follower follower;  // what one really has more stays, but for the millisecond that may be the host's
  EXPECT_GT(stretches.warm(follower.before(RankId{0}, event_of(0, 0)), RankId{0}, 0, recorded(0)),
            1.8 * kOnce);
}

/// The host may have made all of them longer, where others used its cores; how much of that is the stretches' nobody knows.
TEST(StretchesOnCores, ThatHappenOnceMayBeShorterOnASharedHost) {
  constexpr double kOnce = 9e3 * kMicrosecond;
  for (const bool shared_host : {false, true}) {
    std::vector<Sample> samples;
    for (int r = 0; r < kRanks; ++r)
      samples.push_back({RankId{r},
                         0,
                         {},
                         false,
                         {},
                         {Duration{400'000}, Duration{shared_host && r % 3 == 2 ? 300'000 : 200'000}}});
    Stretches stretches{samples};
    for (int r = 0; r < kRanks; ++r) stretches.take(RankId{r}, 0, event_of(0, kOnce));
    stretches.fit();
    Follower follower;
    const Place place = follower.before(RankId{0}, event_of(0, 0));
    const auto warm = [&](Estimate estimate) { return stretches.warm(place, RankId{0}, 0, kOnce, estimate); };
    EXPECT_NEAR(warm(Estimate::kBest), kOnce, 1e-3 * kOnce);
    EXPECT_NEAR(warm(Estimate::kLowest), shared_host ? kOnce / 1.5 : kOnce, 1e-3 * kOnce);
    double shortest = kOnce;
    for (std::uint32_t i = 1; i <= 16; ++i) {
      stretches.replicate(i);
      shortest = std::min(shortest, warm(Estimate::kBest));
    }
    EXPECT_GT(shortest, kOnce / 1.501);
    if (shared_host)
      EXPECT_LT(shortest, kOnce / 1.3);
    else
      EXPECT_NEAR(shortest, kOnce, 1e-3 * kOnce);
  }
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
