#include "hypothesis/clock/stretches.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "hypothesis/clock/two_places.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// A program that computes between calls from two places in turn, on a host that makes stretches longer.
class Program {
 public:
  /// `warm` and `recorded`: of a rank's step, in picoseconds. Every `each`-th stretch is measured by a twin.
  template <class Warm, class Recorded>
  Program(Warm warm, Recorded recorded, int each, const std::vector<ToldByRun>& other_runs = {}) {
    for (int r = 0; r < kRanks; ++r)
      for (int s = 0; s < kSteps; ++s)
        if (each > 0 && (s * kRanks + r) % each == 0 && s % 2 == 1)
          samples.push_back({RankId{r}, static_cast<std::uint64_t>(s), Duration{std::llround(warm(r, s))}});
    stretches = std::make_unique<Stretches>(samples);
    for (int r = 0; r < kRanks; ++r)
      for (int s = 0; s < kSteps; ++s)
        stretches->take(RankId{r}, static_cast<std::uint64_t>(s), event_of(s, recorded(r, s)));
    told = stretches->told();
    stretches->join(other_runs);
    stretches->fit();
  }

  [[nodiscard]] double warm(int rank, int step, double recorded, Estimate estimate = Estimate::kBest) const {
    return stretches->warm({{kHere, kThere, 0}, static_cast<std::uint32_t>(step / 2)}, RankId{rank},
                           static_cast<std::uint64_t>(step), recorded, estimate);
  }
  [[nodiscard]] Model model() const {
    for (const KindReport& k : stretches->report())
      if (k.kind.before == kThere) return k.model;
    return Model::kNone;
  }

  std::vector<Sample> samples;
  std::unique_ptr<Stretches> stretches;
  ToldByRun told;  // by this run alone
};

/// What a crowded host makes of a stretch: two to four times as long.
struct Crowded {
  double operator()(double warm) { return warm * (2 + 2 * std::uniform_real_distribution<>{}(random)); }
  std::minstd_rand random{1};
};

TEST(Stretches, OfEqualWorkAreConstant) {
  Crowded crowded;
  const Program program{[](int, int) { return 20 * kMicrosecond; },
                        [&](int, int) { return crowded(20 * kMicrosecond); }, 15};
  EXPECT_EQ(program.model(), Model::kConstant);
  EXPECT_NEAR(program.warm(3, 7, 63 * kMicrosecond), 20 * kMicrosecond, 1);
}

TEST(Stretches, NeverBecomeLonger) {
  Crowded crowded;
  const Program program{[](int, int) { return 20 * kMicrosecond; },
                        [&](int, int) { return crowded(20 * kMicrosecond); }, 15};
  EXPECT_EQ(program.warm(3, 7, 19 * kMicrosecond), 19 * kMicrosecond);
}

TEST(Stretches, NeverBecomeLongerThanAnyMeasured) {
  std::minstd_rand random{1};
  const auto work = [](int, int step) { return (20 + step * 37 % 41) * kMicrosecond; };
  const auto recorded = [&](int r, int s) {
    return work(r, s) * (1.1 + 0.1 * std::uniform_real_distribution<>{}(random));
  };
  const Program program{work, recorded, 9};
  EXPECT_LE(program.warm(3, 5, 5000 * kMicrosecond), 60.01 * kMicrosecond);
}

TEST(Stretches, KeepTheDifferenceBetweenRanks) {
  Crowded crowded;
  const auto work = [](int rank, int) { return (rank % 2 == 0 ? 20 : 30) * kMicrosecond; };
  const Program program{work, [&](int r, int s) { return crowded(work(r, s)); }, 9};
  EXPECT_EQ(program.model(), Model::kByRank);
  EXPECT_NEAR(program.warm(2, 7, 80 * kMicrosecond) / kMicrosecond, 20, 1.5);
  EXPECT_NEAR(program.warm(3, 7, 80 * kMicrosecond) / kMicrosecond, 30, 1.5);
}

TEST(Stretches, KeepTheDifferenceBetweenStepsWhereTheHostLeavesIt) {
  std::minstd_rand random{1};
  const auto work = [](int, int step) { return (20 + step * 37 % 41) * kMicrosecond; };
  const auto recorded = [&](int r, int s) {
    return work(r, s) * (1.1 + 0.1 * std::uniform_real_distribution<>{}(random));
  };
  const Program program{work, recorded, 9};
  EXPECT_EQ(program.model(), Model::kByStep);
  EXPECT_NEAR(program.warm(3, 41, 23 * kMicrosecond) / kMicrosecond, 20, 1);
  EXPECT_NEAR(program.warm(3, 31, 69 * kMicrosecond) / kMicrosecond, 60, 3);
}

TEST(Stretches, OfFewKindsOfWorkAreTold) {
  std::minstd_rand random{1};
  const auto work = [](int rank, int step) {
    return (rank * 7 + step / 2 * 3) % 5 < 2 ? 20 * kMicrosecond : 60 * kMicrosecond;
  };
  const auto recorded = [&](int r, int s) {
    return work(r, s) * (1.1 + 1.4 * std::uniform_real_distribution<>{}(random));
  };
  const Program program{work, recorded, 9};
  EXPECT_EQ(program.model(), Model::kAtRandom);
  EXPECT_NEAR(program.warm(3, 5, 50 * kMicrosecond), 20 * kMicrosecond, 1);
  EXPECT_NEAR(program.warm(3, 5, 150 * kMicrosecond), 60 * kMicrosecond, 1);
}

TEST(Stretches, OfARangeThatWereMeasuredHaveTheirOwnTime) {
  Crowded crowded;
  const auto work = [](int rank, int step) { return (10 + (rank * 7 + step * 13) % 50) * kMicrosecond; };
  const Program program{work, [&](int r, int s) { return crowded(work(r, s)); }, 5};
  for (const Sample& sample : program.samples)
    EXPECT_NEAR(program.warm(sample.rank.value, static_cast<int>(sample.ordinal), 1000 * kMicrosecond),
                static_cast<double>(sample.warm.count()), 1);
}

/// A single twin that was disturbed must not become what all ranks wait for.
TEST(Stretches, AreNotWhatTheHostDidToTheirOwnTwin) {
  std::minstd_rand random{1};
  Crowded crowded;
  const auto measured = [&](int, int) {
    return 20 * kMicrosecond * (1 + 0.02 * std::exponential_distribution<>{}(random));
  };
  const Program program{measured, [&](int, int) { return crowded(20 * kMicrosecond); }, 15};
  EXPECT_EQ(program.model(), Model::kConstant);
  for (const Sample& sample : program.samples)
    EXPECT_NEAR(program.warm(sample.rank.value, static_cast<int>(sample.ordinal), 1000 * kMicrosecond),
                20 * kMicrosecond, 0.01 * 20 * kMicrosecond);
}

TEST(Stretches, InWhichNothingIsComputedTakeNoTime) {
  // Stretches that end at kHere take what measuring costs, the others 20 us and that.
  const double cost = 60e3;
  std::minstd_rand random{1};
  const auto disturbed = [&](int, int step) {
    return (step % 2 == 0 ? 0 : 20 * kMicrosecond) + cost * (1 + std::exponential_distribution<>{}(random));
  };
  const Program program{[&](int, int step) { return (step % 2 == 0 ? 0 : 20 * kMicrosecond) + cost; },
                        disturbed, 15};
  EXPECT_LT(program.stretches->warm({{kThere, kHere, 0}, 5}, RankId{1}, 10, 3 * cost), 0.2 * cost);
  EXPECT_NEAR(program.warm(3, 7, 63 * kMicrosecond), 20 * kMicrosecond, 0.2 * cost);
}

/// Done once in a while, and found by one twin: that is the program's.
TEST(Stretches, ThatTookFarLongerThanAllOthersKeepTheirTime) {
  const auto work = [](int rank, int step) { return (rank == 1 && step == 53 ? 60 : 20) * kMicrosecond; };
  const Program program{work, [&](int r, int s) { return 3 * work(r, s); }, 1};
  EXPECT_NEAR(program.warm(1, 53, 180 * kMicrosecond), 60 * kMicrosecond, 0.1 * kMicrosecond);
  EXPECT_NEAR(program.warm(1, 51, 60 * kMicrosecond), 20 * kMicrosecond, 0.1 * kMicrosecond);
}

/// Its twin was disturbed in all of its passes; the stretch itself was not.
TEST(Stretches, WhoseTwinTookFarLongerButThatWereRecordedAsAllOthersAreTakeTheirLevel) {
  const auto twins = [](int rank, int step) { return (rank == 1 && step == 53 ? 60 : 20) * kMicrosecond; };
  const Program program{twins, [](int, int) { return 70 * kMicrosecond; }, 1};
  EXPECT_NEAR(program.warm(1, 53, 70 * kMicrosecond), 20 * kMicrosecond, 0.1 * kMicrosecond);
}

TEST(Stretches, WithoutSamplesKeepTheRanksLowQuantile) {
  const Program program{[](int, int) { return 1; },
                        [](int rank, int step) { return (rank + 1) * (100 + step) * kMicrosecond; }, 0};
  EXPECT_EQ(program.model(), Model::kQuantile);
  const double low = program.warm(1, 7, 1e12);
  EXPECT_GT(low, 2 * 100 * kMicrosecond);
  EXPECT_LT(low, 2 * 160 * kMicrosecond);
}

/// What a float's logarithm is off by in these tests.
constexpr double kFloat = 1e-3 * kMicrosecond;

/// A stretch that ends at a call from `site`.
struct StretchAt {
  std::uint32_t site;
  double recorded;
  std::uint16_t call = 0;  // that it ends at
};

/// Each rank's stretches in turn.
class Calls {
 public:
  Calls(const std::vector<std::vector<StretchAt>>& ranks, std::vector<Sample> samples,
        const std::vector<ToldByRun>& other_runs = {})
      : stretches_{std::move(samples)} {
    for (std::size_t r = 0; r < ranks.size(); ++r)
      for (std::size_t i = 0; i < ranks[r].size(); ++i) stretches_.take(id(r), i, event(ranks[r][i]));
    told = stretches_.told();
    stretches_.join(other_runs);
    stretches_.fit();
    Follower follower;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      warm.emplace_back();
      for (std::size_t i = 0; i < ranks[r].size(); ++i)
        warm[r].push_back(
            stretches_.warm(follower.before(id(r), event(ranks[r][i])), id(r), i, ranks[r][i].recorded));
    }
  }
  static RankId id(std::size_t rank) { return RankId{static_cast<std::int32_t>(rank)}; }

  std::vector<std::vector<double>> warm;
  ToldByRun told;  // by this run alone

 private:
  static events::Event event(const StretchAt& stretch) {
    events::Event e = event_of(0, stretch.recorded);
    e.site = CallSiteId{stretch.site};
    e.call = stretch.call;
    return e;
  }
  Stretches stretches_;
};

/// All ranks wait for the largest of many, and a host hits one in a thousand with a tenth of a millisecond.
TEST(Stretches, ThatHappenOnceAreNotWhatTheHostDidToOneRank) {
  std::vector<std::vector<StretchAt>> ranks(8, {{1, 10 * kMicrosecond}});
  ranks[5][0].recorded = 250 * kMicrosecond;
  const Calls calls{ranks, {}};
  EXPECT_NEAR(calls.warm[5][0], 12.5 * kMicrosecond, kFloat);  // a quarter more than others is left to it
  EXPECT_NEAR(calls.warm[4][0], 10 * kMicrosecond, kFloat);
}

TEST(Stretches, ThatHappenOnceKeepWhatIsMoreThanAHostDoes) {
  std::vector<std::vector<StretchAt>> ranks(8, {{1, 10e3 * kMicrosecond}});
  ranks[5][0].recorded = 60e3 * kMicrosecond;
  ranks[6][0].recorded = 12.4e3 * kMicrosecond;
  const Calls calls{ranks, {}};
  EXPECT_NEAR(calls.warm[5][0], 59e3 * kMicrosecond, kMicrosecond);  // all but a millisecond
  EXPECT_NEAR(calls.warm[6][0], 12.4e3 * kMicrosecond, kMicrosecond);
}

/// All ranks would wait for the one that a shared host has made slowest.
TEST(Stretches, ThatHappenOnceAndDifferLittleAreTheSame) {
  std::vector<std::vector<StretchAt>> ranks;
  for (int r = 0; r < 16; ++r) ranks.push_back({{1, (40e3 + 150 * (r * 7 % 16)) * kMicrosecond}});
  const Calls calls{ranks, {}};
  for (std::size_t r = 0; r < 16; ++r)
    EXPECT_NEAR(calls.warm[r][0], std::min(ranks[r][0].recorded, 40.3e3 * kMicrosecond), kMicrosecond) << r;
}

TEST(Stretches, ThatHappenOnceAndDifferMoreAreTheRanksOwn) {
  std::vector<std::vector<StretchAt>> ranks;
  for (int r = 0; r < 16; ++r) ranks.push_back({{1, (100e3 + 3e3 * r) * kMicrosecond}});
  const Calls calls{ranks, {}};
  for (std::size_t r = 0; r < 16; ++r)  // but for a millisecond
    EXPECT_NEAR(calls.warm[r][0], ranks[r][0].recorded, 1001 * kMicrosecond) << r;
}

TEST(Stretches, ThatHappenOnceTouchMemoryForTheFirstTimeWhichNoTwinSees) {
  const std::vector<std::vector<StretchAt>> ranks(4, {{1, 400 * kMicrosecond}});
  const Calls calls{ranks, {{RankId{2}, 0, Duration{200'000'000}, false}}};
  for (const auto& rank : calls.warm) EXPECT_NEAR(rank[0], 400 * kMicrosecond, kFloat);
}

/// 4 ms of work and 4,000 pages each, which took 1.5 us a page in one run, and 3.5 where the host had to find them; a few were measured
/// while others had a part of the core.
TEST(Stretches, ThatTouchMemoryFirstTakeForItWhatAHostOfOnesOwnDoes) {
  constexpr double kWork = 4e3 * kMicrosecond, kPages = 4000, kEach = 0.5 * kMicrosecond;
  for (const double fault : {1.5 * kMicrosecond, 3.5 * kMicrosecond}) {
    std::vector<std::vector<StretchAt>> ranks;
    std::vector<Sample> samples;
    for (int r = 0; r < 16; ++r) {
      ranks.push_back({{1, kWork + kPages * fault}, {2, 2 * kWork}});
      for (const std::uint64_t ordinal : {0U, 1U}) {
        Sample sample{RankId{r}, ordinal};
        sample.core = {Duration{1'600'000}, Duration{1'600'000}};
        sample.faults = ordinal == 0 ? static_cast<std::int64_t>(kPages) : 0;
        sample.fault = Duration{std::llround((r % 5 == 0 ? 1.6 : 1) * fault)};
        samples.push_back(sample);
      }
    }
    const Calls calls{ranks, samples};
    for (const auto& rank : calls.warm) {
      EXPECT_NEAR(rank[0], kWork + kPages * kEach, kMicrosecond);
      EXPECT_NEAR(rank[1], 2 * kWork, kMicrosecond);
    }
  }
}

/// Two kinds in turn, of 20 us, which twins have measured as 12, and of `others`, which they have not.
Calls two_kinds(double others) {
  std::vector<std::vector<StretchAt>> ranks(4);
  std::vector<Sample> samples;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (std::size_t i = 0; i < 40; ++i) {
      const bool measured = i % 2 == 0;
      ranks[r].push_back({measured ? kHere : kThere, measured ? 20 * kMicrosecond : others});
      if (i > 0 && i % 8 == 0)
        samples.push_back({Calls::id(r), i, Duration{std::llround(12 * kMicrosecond)}, false});
    }
  return {ranks, samples};
}

TEST(Stretches, WithoutSamplesAreAsWarmAsOthersOfTheirLength) {
  const Calls calls = two_kinds(30 * kMicrosecond);
  EXPECT_NEAR(calls.warm[1][2], 12 * kMicrosecond, kFloat);
  // One kind says log 0.6, half as much weight says nothing.
  const double off = std::log(30.0 / 20) / 0.7, weight = std::exp(-off * off / 2);
  EXPECT_NEAR(calls.warm[1][3], 30 * std::pow(0.6, weight / (weight + 0.5)) * kMicrosecond, kFloat);
}

/// Three ranks of four take half as long again; most samples are of the fourth. That says nothing of how warm others are.
TEST(Stretches, WithoutSamplesAreNotShorterForOthersThatDifferByRank) {
  std::vector<std::vector<StretchAt>> ranks(4);
  std::vector<Sample> samples;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (std::size_t i = 0; i < 80; ++i) {
      const double work = (i % 2 == 0 && r == 0 ? 20 : 30) * kMicrosecond;
      ranks[r].push_back({i % 2 == 0 ? kHere : kThere, 1.01 * work});
      if (i > 0 && i % (r == 0 ? 4 : 40) == 0)
        samples.push_back({Calls::id(r), i, Duration{std::llround(work)}, false});
    }
  const Calls calls{ranks, samples};
  EXPECT_GT(calls.warm[1][3], 29.5 * kMicrosecond);
}

TEST(Stretches, OfAnotherOrderOfLengthSayNothingOfThoseWithoutSamples) {
  EXPECT_NEAR(two_kinds(300 * kMicrosecond).warm[1][3], 300 * kMicrosecond, 0.01 * 300 * kMicrosecond);
}

/// One call may be several events, between which no time is measured at all.
TEST(Stretches, InsideOfACallDoNotSayWhatMeasuringCosts) {
  constexpr double kCost = 50e3;
  std::vector<std::vector<StretchAt>> ranks(4);
  for (auto& rank : ranks)
    for (int i = 0; i < 20; ++i)
      rank.insert(rank.end(), {{1, 20 * kMicrosecond + kCost}, {2, kCost}, {2, 0}});
  const Calls calls{ranks, {}};
  EXPECT_NEAR(calls.warm[1][3], 20 * kMicrosecond, kFloat);
  EXPECT_NEAR(calls.warm[1][4], 0, 10);
  EXPECT_EQ(calls.warm[1][5], 0);
}

TEST(Stretches, MeasuringCostsMoreBehindSomeFunctionsThanBehindOthers) {
  constexpr std::uint16_t kSend = 1, kReceive = 2, kOther = 3;
  constexpr double kBehindSends = 90e3, kBehindReceives = 40e3, kWork = 20 * kMicrosecond;
  std::vector<std::vector<StretchAt>> ranks(4);
  for (auto& rank : ranks)
    for (int i = 0; i < 20; ++i)
      rank.insert(rank.end(), {{1, kWork, kSend},
                               {2, kBehindSends, kSend},
                               {3, kWork + kBehindSends, kReceive},
                               {4, kBehindReceives, kReceive},
                               {5, kWork + kBehindReceives, kOther},
                               {6, kWork + kBehindReceives, kOther}});
  const Calls calls{ranks, {}};
  EXPECT_NEAR(calls.warm[1][7], 0, 10);
  EXPECT_NEAR(calls.warm[1][8], kWork, kFloat);
  EXPECT_NEAR(calls.warm[1][9], 0, 10);
  EXPECT_NEAR(calls.warm[1][10], kWork, kFloat);
  EXPECT_NEAR(calls.warm[1][11], kWork, kFloat);  // no two of them come in a row: as the shortest of all
}

TEST(Stretches, AtLeastAreTheShortestMeasured) {
  Crowded crowded;
  const auto work = [](int rank, int) { return (20 + rank) * kMicrosecond; };
  const Program program{work, [&](int r, int s) { return crowded(work(r, s)); }, 3};
  EXPECT_NEAR(program.warm(5, 1, 1e12, Estimate::kLowest), 20 * kMicrosecond, kFloat);
}

TEST(Stretches, WithoutSamplesAtLeastAreTheShortestRecorded) {
  const Program program{[](int, int) { return 1; },
                        [](int rank, int step) { return (rank + 1) * (100 + step) * kMicrosecond; }, 0};
  const double lowest = program.warm(5, 7, 1e12, Estimate::kLowest);
  EXPECT_GE(lowest, 100.9 * kMicrosecond);
  EXPECT_LE(lowest, 110 * kMicrosecond);  // of those of 100 that are kept
}

/// The host was two fifths slower in one run, and twins as well: no run tells that by itself.
TEST(Stretches, AreAsFastAsInOtherRunsThatTheHostWasFasterIn) {
  const auto work = [](int rank, int) { return (rank == 0 ? 15 : 10) * kMicrosecond; };
  const auto slower = [&](int rank, int step) { return 1.4 * work(rank, step); };
  for (const int each : {10, 0}) {  // with twins, and without
    const Program fast{work, [&](int r, int s) { return 2 * work(r, s); }, each};
    const Program alone{slower, [&](int r, int s) { return 2 * slower(r, s); }, each};
    const Program together{slower, [&](int r, int s) { return 2 * slower(r, s); }, each, {fast.told}};
    const Program fast_again{
        work, [&](int r, int s) { return 2 * work(r, s); }, each, {alone.told, alone.told}};
    for (int rank = 0; rank < kRanks; ++rank) {
      const double expected = fast.warm(rank, 51, 2 * work(rank, 51));
      EXPECT_NEAR(alone.warm(rank, 51, 2 * slower(rank, 51)), 1.4 * expected, 0.02 * expected);
      EXPECT_NEAR(together.warm(rank, 51, 2 * slower(rank, 51)), expected, 0.01 * expected) << rank;
      EXPECT_NEAR(fast_again.warm(rank, 51, 2 * work(rank, 51)), expected, 0.01 * expected) << rank;
    }
    EXPECT_NEAR(together.warm(0, 51, 2 * slower(0, 51)), 1.5 * together.warm(1, 51, 2 * slower(1, 51)),
                0.02 * kMicrosecond);
  }
}

/// What differs from run to run is what the host did, and not tasks as long as their data says.
TEST(Stretches, ThatHappenOnceAreNotLongerForOneRunOfFive) {
  const std::vector<std::vector<StretchAt>> fast(16, {{1, 5e3 * kMicrosecond}});
  auto hit = fast;
  for (std::size_t r = 0; r < hit.size(); ++r) hit[r][0].recorded *= 1 + 2 * static_cast<double>(r % 4);
  const ToldByRun told = Calls{fast, {}}.told, told_by_hit = Calls{hit, {}}.told;
  for (std::size_t r = 0; r < hit.size(); ++r) {
    EXPECT_NEAR((Calls{hit, {}, {told, told, told, told}}.warm[r][0]), 5e3 * kMicrosecond, kMicrosecond) << r;
    EXPECT_NEAR((Calls{fast, {}, {told, told_by_hit, told, told}}.warm[r][0]), 5e3 * kMicrosecond,
                kMicrosecond);
  }
}

/// However many runs tell of them, memory is touched for the first time in each.
TEST(Stretches, ThatHappenOnceInEachRunAreNoWarmer) {
  std::vector<std::vector<StretchAt>> ranks(4, {{3, 20 * kMicrosecond}});
  std::vector<Sample> samples;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (std::size_t i = 1; i < 40; ++i) {
      ranks[r].push_back({1, 20 * kMicrosecond});
      if (i % 8 == 0) samples.push_back({Calls::id(r), i, Duration{std::llround(12 * kMicrosecond)}, false});
    }
  const ToldByRun told = Calls{ranks, samples}.told;
  const Calls together{ranks, samples, {told, told, told, told}};
  EXPECT_NEAR(together.warm[1][0], 20 * kMicrosecond, kFloat);
  EXPECT_NEAR(together.warm[1][10], 12 * kMicrosecond, kFloat);
}

TEST(Stretches, OfRanksThatDoNotHaveThemHereAreLeftOut) {
  std::vector<Sample> samples{{RankId{7}, 1, Duration{5'000'000}}};
  Stretches other{samples}, run{{}};
  for (const int rank : {0, 7})
    for (std::uint64_t i = 0; i < 2; ++i) other.take(RankId{rank}, i, event_of(static_cast<int>(i), 6e6));
  for (std::uint64_t i = 0; i < 2; ++i) run.take(RankId{0}, i, event_of(static_cast<int>(i), 6e6));
  run.join({other.told()});
  run.fit();
  Follower follower;
  EXPECT_LE(run.warm(follower.before(RankId{0}, event_of(0, 0)), RankId{0}, 0, 6e6), 6e6);
}

TEST(Stretches, AreNoLongerThanRecordedWhateverOtherRunsTook) {
  const auto work = [](int, int) { return 10 * kMicrosecond; };
  const Program slow{[&](int r, int s) { return 3 * work(r, s); },
                     [&](int r, int s) { return 3 * work(r, s); }, 10};
  const Program run{work, work, 10, {slow.told, slow.told, slow.told, slow.told}};
  EXPECT_LE(run.warm(3, 51, work(3, 51)), work(3, 51));
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
