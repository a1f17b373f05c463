#include "hypothesis/clock/tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "hypothesis/clock/host_noise.hpp"
#include "hypothesis/clock/kind_model.hpp"

namespace nplus1::hypothesis::clock {
namespace {

/// Tasks of 1 to `longest` ms; `of_work`: of the twin's time, the rest is 1 ms; `host`: what it adds to stretches, on average.
std::vector<Measured> tasks(double longest, std::size_t count, double host, unsigned seed = 1,
                            bool of_work = true) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<> length{1, longest};
  std::exponential_distribution<> longer{1 / host};
  std::vector<Measured> all;
  for (std::size_t i = 0; i < count; ++i) {
    const double work = length(random) * 1e9;
    const double warm = of_work ? work : 1e9;
    all.push_back({{0, 0, static_cast<float>(std::log((of_work ? work : 1e9) * (1 + longer(random))))},
                   std::log(warm) + 0.01 * longer(random),
                   false});
  }
  return all;
}

std::vector<Recorded> of_all(const std::vector<Measured>& stretches) {
  std::vector<Recorded> all;
  for (const Measured& m : stretches) all.push_back(m.recorded);
  return all;
}

constexpr double kSure = 3;

TEST(Tasks, AreToldByTheirSamples) {
  int found = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto samples = tasks(10, 20, 0.1, seed);
    found += log_odds_as_recorded(samples) > kSure ? 1 : 0;
    EXPECT_LT(error_as_recorded(samples), 0.2);  // of a range of log 10
  }
  EXPECT_EQ(found, 50);
}

/// All ranks wait for the longest of 16 tasks, each of which the host made half as long again on average: told as recorded it would
/// be far too long.
TEST(Tasks, HaveTheSumAndTheLongestOfManyThatTheirWorkHas) {
  constexpr int kRanks = 16, kSteps = 200;
  double off_of_sums = 0, off_of_longest = 0;
  constexpr unsigned kSeeds = 20;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Tasks told{tasks(10, 60, 0.5, seed), of_all(tasks(10, 400, 0.5, seed + 500))};
    std::mt19937 random{seed + 1000};
    std::uniform_real_distribution<> length{1, 10}, chance{0, 1};
    std::exponential_distribution<> longer{1 / 0.5};
    double sum = 0, sum_told = 0, longest = 0, longest_told = 0, longest_recorded = 0;
    for (int s = 0; s < kSteps; ++s) {
      double most = 0, most_told = 0, most_recorded = 0;
      for (int r = 0; r < kRanks; ++r) {
        const double work = length(random) * 1e9, recorded = work * (1 + longer(random));
        const double warm = std::exp(told.log_warm(std::log(recorded), chance(random)));
        EXPECT_LE(warm, recorded * 1.0001);
        sum += work;
        sum_told += warm;
        most = std::max(most, work);
        most_told = std::max(most_told, warm);
        most_recorded = std::max(most_recorded, recorded);
      }
      longest += most;
      longest_told += most_told;
      longest_recorded += most_recorded;
    }
    EXPECT_NEAR(sum_told, sum, 0.2 * sum)
        << seed;  // 60 samples of such a range say their mean by a twentieth
    EXPECT_NEAR(longest_told, longest, 0.15 * longest) << seed;
    EXPECT_GT(longest_recorded, 1.6 * longest);
    off_of_sums += (sum_told / sum - 1) / kSeeds;
    off_of_longest += (longest_told / longest - 1) / kSeeds;
  }
  EXPECT_NEAR(off_of_sums, 0, 0.04);
  EXPECT_NEAR(off_of_longest, 0, 0.04);
}

TEST(Tasks, AreNotToldWhereTheHostMakesTheDifference) {
  for (const std::size_t count : {3U, 5U, 20U})
    for (unsigned seed = 0; seed < 200; ++seed)
      EXPECT_LT(log_odds_as_recorded(tasks(10, count, 0.5, seed, false)), kSure) << count << ", " << seed;
}

TEST(Tasks, OfFourSamplesAreMostlyTold) {
  int found = 0;
  for (unsigned seed = 0; seed < 200; ++seed)
    found += log_odds_as_recorded(tasks(2, 4, 0.05, seed)) > kSure ? 1 : 0;
  EXPECT_GE(found, 140);
}

TEST(Tasks, OfTwoSamplesOrAllTheSameAreNotTold) {
  EXPECT_LT(log_odds_as_recorded({}), -1e9);
  EXPECT_LT(log_odds_as_recorded(tasks(10, 2, 0.01)), -1e9);
  const Measured same{{0, 0, 20.0F}, 19, false};
  EXPECT_EQ(log_odds_as_recorded(std::vector<Measured>(10, same)), 0);
}

TEST(Tasks, OfWhichOneWasDisturbedAreToldAllTheSame) {
  auto samples = tasks(10, 20, 0.05);
  samples[3].recorded.log_time += 2;
  EXPECT_GT(log_odds_as_recorded(samples), kSure);
}

/// Whoever shares the core makes twin and stretch longer, by about as much as he does loads.
TEST(Tasks, OfSharedCoresAreNotToldByWhatSharingMakes) {
  std::vector<Measured> samples;
  for (const double shared : {0.05, 0.4, 0.1, 0.45, 0.3, 0.2})
    samples.push_back({{0, 0, static_cast<float>(21.3 + shared)}, 21 + shared, true, true, shared});
  EXPECT_LT(log_odds_as_recorded(samples), kSure);
  for (Measured& m : samples) m.log_shared = 0.2;
  EXPECT_GT(log_odds_as_recorded(samples), kSure);
}

TEST(Tasks, WithoutSamplesAreAsRecorded) {
  EXPECT_DOUBLE_EQ(Tasks{0}.log_warm(21, 0.5), 21);
  EXPECT_DOUBLE_EQ(Tasks{-0.1}.log_warm(21, 0.5), 20.9);
}

TEST(Tasks, TheGreaterTheChanceAreTheShorter) {
  const Tasks told{tasks(10, 40, 0.3), {}};
  double last = INFINITY;
  for (double chance = 0; chance < 1; chance += 0.05) {
    const double warm = told.log_warm(std::log(5e9), chance);
    EXPECT_LE(warm, last);
    last = warm;
  }
  EXPECT_LT(last, std::log(3e9));
}

/// Every second stretch takes four times as long; of these hardly any has a twin.
TEST(Tasks, WhoseLongestWereMeasuredRarelyAreNotTakenForShorterOnes) {
  std::vector<Measured> samples;
  std::vector<Recorded> recorded;
  for (std::uint32_t i = 0; i < 11; ++i) {
    const double log_warm = (i == 10 ? 23 : 21.6) + 0.002 * i;
    samples.push_back({{0, i, static_cast<float>(log_warm + 0.003 * (i % 4))}, log_warm, false});
  }
  for (std::uint32_t i = 0; i < 120; ++i)
    recorded.push_back({0, i, static_cast<float>((i % 2 == 0 ? 21.6 : 23) + 0.003 * (i % 9))});
  const Tasks told{samples, recorded};
  for (double chance = 0; chance < 0.99; chance += 0.1) EXPECT_NEAR(told.log_warm(23.01, chance), 23, 0.1);
}

TEST(Tasks, OfTheSameLengthAllAreThatLong) {
  const Measured same{{0, 0, 20.0F}, 19, false};
  EXPECT_NEAR((Tasks{std::vector<Measured>(4, same), {}}.log_warm(20, 0.5)), 19, 0.05);
}

/// In how many of 40 replicates a kind with four samples is taken for tasks; `noise`: of what was recorded, logarithm.
int replicates_with_tasks(double noise) {
  KindModel kind;
  const double works[] = {1, 1.3, 1.6, 2.2}, noises[] = {0, 2, 0.6, 1.7};
  for (std::uint32_t i = 0; i < 40; ++i) {
    const double warm = works[i % 4] * 1e9;
    kind.stretches().take({RankId{0}, i, 1.2 * warm * std::exp(noise * noises[i % 4]), i < 4 ? warm : 0});
  }
  kind.fit(Replicate{0}, 0);
  int found = 0;
  for (std::uint32_t n = 1; n <= 40; ++n) {
    kind.fit(Replicate{n}, 0);
    found += kind.model() == Model::kAlong ? 1 : 0;
  }
  return found;
}

/// So the interval holds what either would say.
TEST(Tasks, AreTakenForSuchInAsManyReplicatesAsTheyAreProbable) {
  EXPECT_GE(replicates_with_tasks(0.001), 36);
  const int doubtful = replicates_with_tasks(0.12);
  EXPECT_GT(doubtful, 5);
  EXPECT_LT(doubtful, 35);
  EXPECT_LE(replicates_with_tasks(0.6), 2);
}

enum class Cores : std::uint8_t { kOwn, kAlwaysShared };

HostNoise host_that_adds(double most, Cores cores = Cores::kOwn) {
  HostNoise noise{cores == Cores::kOwn ? 0.0 : 1.0};
  for (int i = 0; i <= 10; ++i)
    if (cores == Cores::kOwn)
      noise.learn(std::log(1e9), 0.1 * i * most);
    else
      noise.learn_shared(std::log(1e9), 0.1 * i * most, 1);
  return noise;
}

/// 120 stretches on two ranks, four of which have a twin; `work` in milliseconds, of a number in [0, 1); `most` as of host_that_adds().
template <class Work>
struct FewSamples {
  FewSamples(Work work, double most, Cores cores = Cores::kOwn) {
    std::mt19937 random{3};
    std::uniform_real_distribution<> even{0, 1};
    for (int i = 0; i < 120; ++i) {
      const double warm = work(even(random)) * 1e9;
      const bool measured = i % 30 == 7;
      stretches.push_back({RankId{i % 2}, static_cast<std::uint32_t>(i / 2),
                           warm * std::exp(most * even(random)), measured ? warm : 0});
      stretches.back().shared = stretches.back().rough = measured && cores == Cores::kAlwaysShared;
      kind.stretches().take(stretches.back());
      works.push_back(warm);
    }
    kind.fit(Replicate{0}, 0, host_that_adds(most, cores));
  }
  [[nodiscard]] double mean_error() const {
    double sum = 0;
    for (std::size_t i = 0; i < works.size(); ++i)
      sum += std::abs(std::log(kind.warm(stretches[i], i, Estimate::kBest) / works[i]));
    return sum / static_cast<double>(works.size());
  }
  KindModel kind;
  std::vector<Stretch> stretches;
  std::vector<double> works;
};

/// Four samples tell nothing of 120 tasks; that the host hardly disturbs stretches of such a length does.
TEST(Tasks, OnAHostThatAddsLittleAreAsRecordedButForThat) {
  const FewSamples tasks{[](double chance) { return 2 + chance; }, 0.03};
  EXPECT_EQ(tasks.kind.model(), Model::kAlong);
  EXPECT_LT(tasks.mean_error(), 0.015);
}

/// Twins that shared their core were as long as their stretches, and those differ by a third: it was not sharing that made it.
TEST(Tasks, OnCoresThatAreAlwaysSharedAreAsRecordedButForThat) {
  const FewSamples tasks{[](double chance) { return 2 + chance; }, 0.03, Cores::kAlwaysShared};
  EXPECT_EQ(tasks.kind.model(), Model::kAlong);
  EXPECT_LT(tasks.mean_error(), 0.015);
  const FewSamples equal{[](double) { return 2; }, 0.08, Cores::kAlwaysShared};
  EXPECT_NE(equal.kind.model(), Model::kAlong);
}

TEST(Tasks, ThatTheHostAloneMakesDifferAreNone) {
  const FewSamples equal{[](double) { return 2; }, 0.4};
  EXPECT_EQ(equal.kind.model(), Model::kConstant);
  EXPECT_LT(equal.mean_error(), 0.001);
}

/// What others do to caches and memory hits some stretches, and none of eight that had twins; but these took all the same.
TEST(Tasks, WhoseTwinsAllTookTheSameAreNone) {
  for (const bool work : {false, true}) {
    KindModel kind;
    std::mt19937 random{5};
    std::uniform_real_distribution<> even{0, 1};
    for (std::uint32_t i = 0; i < 240; ++i) {
      const double more = even(random) < 0.3 ? 1.5 : 1;
      const bool measured = i % 30 == 7;
      const double warm = work ? 1e9 * more : 1e9;
      kind.stretches().take({RankId{static_cast<std::int32_t>(i % 4)}, i / 4,
                             (measured && !work ? 1e9 : 1e9 * more) * (1 + 0.02 * even(random)),
                             measured ? warm : 0});
    }
    kind.fit(Replicate{0}, 0, host_that_adds(0.02));
    EXPECT_EQ(kind.differ_by_their_data(), work);
  }
}

/// 240 stretches of 1 ms on four ranks, every second of which ended on a shared core and took 1.5 times as long; twins took what their own
/// ones did, but where their core was shared, which the host noise of a run does not tell. Stretches differ, or not, by a third.
KindModel on_cores_shared_for_a_while(bool readings, bool work) {
  KindModel kind;
  std::mt19937 random{11};
  std::uniform_real_distribution<double> even{0, 1};
  for (std::uint32_t i = 0; i < 240; ++i) {
    const bool shared = i / 8 % 2 == 1, measured = i % 15 == 3;
    const double warm = (1 + (work ? 0.33 : 0.13) * even(random)) * 1e9;
    Stretch stretch{RankId{static_cast<std::int32_t>(i % 4)}, i / 4,
                    warm * (1.02 + 0.06 * even(random)) * (shared ? 1.5 : 1), measured ? warm : 0};
    stretch.shared = shared;
    if (shared) {
      stretch.measured *= 1.45;
      stretch.log_shared = std::log(1.45);
    }
    if (readings) stretch.core = shared ? Core::kShared : Core::kOwn;
    kind.stretches().take(stretch);
  }
  HostNoise noise;
  for (int i = 0; i <= 10; ++i) noise.learn(std::log(1e9), 0.02 + 0.006 * i);
  kind.fit(Replicate{0}, 0, noise);
  return kind;
}

/// What such a host adds is known of stretches on cores of their own: these differ by no more, however long the others are.
TEST(Tasks, ThatDifferByWhoSharedTheirCoresAreNone) {
  EXPECT_FALSE(on_cores_shared_for_a_while(true, false).differ_by_their_data());
  EXPECT_TRUE(on_cores_shared_for_a_while(false, false).differ_by_their_data());  // nothing says what made it
  EXPECT_TRUE(on_cores_shared_for_a_while(true, true).differ_by_their_data());
}

/// Ranks that are bound to a core which somebody keeps have no more work; and all is told again as it was told first.
TEST(Tasks, OfRanksOnACoreThatSomebodyKeepsAreTheSameWork) {
  KindModel kind;
  std::vector<Stretch> stretches;
  std::mt19937 random{13};
  std::uniform_real_distribution<double> even{0, 1};
  for (std::uint32_t i = 0; i < 320; ++i) {
    const bool shared = i % 2 == 1, measured = i % 13 == 3;
    const double warm = (1 + 0.03 * even(random)) * 1e9 * (shared ? 1.5 : 1);
    Stretch stretch{RankId{static_cast<std::int32_t>(i % 16)}, i / 16, warm * (1.02 + 0.35 * even(random)),
                    measured ? warm : 0};
    stretch.shared = shared;
    stretch.log_shared = shared ? std::log(1.4) : 0;
    stretch.core = shared ? Core::kShared : Core::kOwn;
    kind.stretches().take(stretch);
    stretches.push_back(stretch);
  }
  std::vector<double> first;
  for (int round = 0; round < 3; ++round) {
    kind.stretches().put_back();
    kind.fit(Replicate{0}, 0, host_that_adds(0.3));
    std::vector<double> warm;
    for (std::size_t i = 0; i < stretches.size(); ++i)
      warm.push_back(kind.warm(stretches[i], i, Estimate::kBest));
    EXPECT_NEAR(*std::max_element(warm.begin(), warm.end()), 1.015e9, 0.03e9);
    EXPECT_EQ(kind.model(), Model::kConstant);
    if (first.empty()) first = warm;
    EXPECT_EQ(warm, first);
  }
}

/// Two amounts of work that come and go: a host that adds less than they differ by has not made them.
TEST(Tasks, OrAmountsOfWorkThatComeAndGoAreOfTheirDataWhereTheHostAddsLess) {
  for (const double most : {0.03, 0.6}) {
    KindModel kind;
    std::mt19937 random{5};
    std::uniform_real_distribution<> even{0, 1};
    for (std::uint32_t i = 0; i < 400; ++i) {
      const double warm = even(random) < 0.5 ? 2e9 : 3e9;
      kind.stretches().take({RankId{static_cast<std::int32_t>(i % 4)}, i / 4,
                             warm * std::exp(most * even(random)), i % 11 == 3 ? warm : 0});
    }
    kind.fit(Replicate{0}, 0, host_that_adds(most));
    EXPECT_EQ(kind.model(), Model::kAtRandom) << most;
    EXPECT_EQ(kind.differ_by_their_data(), most < 0.1) << most;
  }
}

/// Nine stretches of one rank, such as those in which it prints.
Model nine_without_samples(const HostNoise& noise) {
  KindModel kind;
  const double recorded[] = {176, 240, 316, 342, 357, 419, 457, 566, 696};  // microseconds
  for (std::uint32_t i = 0; i < 9; ++i) kind.stretches().take({RankId{0}, i, recorded[i] * 1e6});
  kind.fit(Replicate{0}, 0, noise);
  return kind.model();
}

TEST(Tasks, ThatDifferByNoMoreThanThisHostMakesAreNone) {
  EXPECT_EQ(nine_without_samples({}), Model::kAlong);
  EXPECT_EQ(nine_without_samples(host_that_adds(1)), Model::kQuantile);
}

/// Levels that are too few for the samples' range tell them worse.
TEST(Tasks, AreToldWorseByLevelsWhereFewSamplesWereBelieved) {
  const auto samples = tasks(10, 30, 0.1);
  const std::vector<Measured> few{samples.begin(), samples.begin() + 3};
  EXPECT_LT(error_as_recorded(samples), error_of(Levels{few, {}}, samples) / 2);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
