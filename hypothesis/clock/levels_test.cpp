#include "hypothesis/clock/levels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::uint32_t kManyRanks = 64, kFewSteps = 20;

double log_warm(const Levels& levels, const Recorded& stretch, double chance) {
  return std::log(levels.warm(stretch, chance));
}

/// Stretches of work that differs, on a host that makes them longer by half on average, and every n-th with a twin.
struct Host {
  template <class Work>
  Host(Work work, unsigned each, double twin_error = 0.001, bool rough = false) : random{7} {
    std::exponential_distribution<> longer{2.5};
    std::exponential_distribution<> error{1 / twin_error};
    unsigned n = 0;
    for (std::uint32_t s = 0; s < kFewSteps; ++s)
      for (std::uint32_t r = 0; r < kManyRanks; ++r) {
        const double warm = std::log(1e7 * work(r, s));
        const Recorded recorded{r, s, static_cast<float>(warm + longer(random))};
        if (n++ % each == 0)
          samples.push_back({recorded, warm + error(random), rough});
        else
          stretches.push_back(recorded);
      }
  }
  /// Of the estimates against the truth, in logarithms.
  template <class Work>
  [[nodiscard]] double slope(Work work) {
    const Levels levels{samples, stretches};
    std::uniform_real_distribution<> chance;
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const Recorded& stretch : stretches) {
      const double truth = std::log(work(stretch.rank, stretch.step));
      const double told = log_warm(levels, stretch, chance(random));
      n += 1, x += truth, y += told, xx += truth * truth, xy += truth * told;
    }
    return (xy - x * y / n) / (xx - x * x / n);
  }

  std::mt19937 random;
  std::vector<Measured> samples;
  std::vector<Recorded> stretches;
};

TEST(Levels, OfEqualWorkAreOne) {
  const Host host{[](auto, auto) { return 1.0; }, 11};
  const Levels levels{host.samples, host.stretches};
  EXPECT_TRUE(levels.constant());
  EXPECT_NEAR(log_warm(levels, host.stretches[3], 0.99), std::log(1e7), 2e-3);
}

TEST(Levels, OfEqualWorkThatWasMeasuredRoughlyAreOne) {
  const Host host{[](auto, auto) { return 1.0; }, 11, 0.08, true};
  const Levels levels{host.samples, host.stretches};
  for (const Recorded& stretch : host.stretches)
    EXPECT_EQ(log_warm(levels, stretch, 0.99), log_warm(levels, host.stretches[0], 0.01));
  EXPECT_NEAR(log_warm(levels, host.stretches[3], 0.5), std::log(1e7), 0.05);
}

TEST(Levels, ByRankAreFoundWhateverTheHostAdds) {
  for (const double more : {0.05, 0.2, 1.0, 3.0}) {
    const auto work = [more](std::uint32_t rank, auto) { return rank % 2 == 0 ? 1.0 : 1 + more; };
    Host host{work, 11};
    EXPECT_EQ((Levels{host.samples, host.stretches}).told_by(), ToldBy::kRank) << more;
    EXPECT_NEAR(host.slope(work), 1, 0.03) << more;
  }
}

TEST(Levels, ByStepAreFoundWhateverTheHostAdds) {
  for (const double more : {0.05, 0.2, 1.0, 3.0}) {
    const auto work = [more](auto, std::uint32_t step) { return step % 2 == 0 ? 1.0 : 1 + more; };
    Host host{work, 11};
    EXPECT_EQ((Levels{host.samples, host.stretches}).told_by(), ToldBy::kStep) << more;
    EXPECT_NEAR(host.slope(work), 1, 0.03) << more;
  }
}

TEST(Levels, ThatComeAndGoKeepTheirShare) {
  const auto work = [](std::uint32_t rank, std::uint32_t step) {
    return (rank * 2654435761U ^ step * 40503U) >> 7U & 1U ? 2.0 : 1.0;
  };
  Host host{work, 11};
  const Levels levels{host.samples, host.stretches};
  EXPECT_EQ(levels.told_by(), ToldBy::kChance);
  std::uniform_real_distribution<> chance;
  double told = 0, truth = 0;
  for (const Recorded& stretch : host.stretches) {
    told += std::exp(log_warm(levels, stretch, chance(host.random))) / 1e7;
    truth += work(stretch.rank, stretch.step);
  }
  EXPECT_NEAR(told / truth, 1, 0.05);
}

TEST(Levels, OneSampleFarAboveAllIsTheHosts) {
  Host host{[](auto, auto) { return 1.0; }, 11};
  host.samples[5].log_warm += 3;
  const Levels levels{host.samples, host.stretches};
  EXPECT_NEAR(log_warm(levels, host.stretches[3], 0.999), std::log(1e7), 2e-3);
}

/// One sample in a hundred takes half as much again; whether its stretch did, too, says whose doing that is.
TEST(Levels, AFewSamplesFarAboveAllAreTheProgramsWhereTheirStretchesWereRecordedSo) {
  for (const bool recorded : {false, true}) {
    Host host{[](auto, auto) { return 1.0; }, 11};
    for (std::size_t i = 0; i < host.samples.size(); i += 40) {
      host.samples[i].recorded.log_time = std::log(1.5F * 1e7F) + (recorded ? 0.4F : 0.0F);
      host.samples[i].log_warm = std::log(1.5 * 1e7);
    }
    const Levels levels{host.samples, host.stretches};
    EXPECT_EQ(levels.constant(), !recorded);
  }
}

TEST(Levels, OneTwinInEightThatWasSlowIsTheHosts) {
  Host host{[](auto, auto) { return 1.0; }, 31};
  for (std::size_t i = 3; i < host.samples.size(); i += 8) host.samples[i].log_warm += 0.13;
  const Levels levels{host.samples, host.stretches};
  for (const Recorded& stretch : host.stretches)
    EXPECT_NEAR(log_warm(levels, stretch, 0.999), std::log(1e7), 5e-3);
}

TEST(Levels, OfFewSamplesAreOne) {
  const Levels levels{{{{0, 0, 17.0F}, 16.0}, {{1, 0, 17.0F}, 16.4}}, {{2, 0, 18.0F}}};
  EXPECT_TRUE(levels.constant());
}

/// Twins of long stretches that came back only from ranks with little to do: their samples are alike.
TEST(Levels, OfAFewSamplesOfEqualRanksLeaveTheOthersTheirDifference) {
  const auto work = [](std::uint32_t rank, std::uint32_t) { return rank % 2 == 1 ? 1.5 : 1.0; };
  Host host{work, 101};
  std::erase_if(host.samples, [](const Measured& m) { return m.recorded.rank % 2 == 1; });
  const Levels levels{host.samples, host.stretches};
  EXPECT_TRUE(levels.constant());
  EXPECT_TRUE(levels.as_recorded());
  EXPECT_EQ(levels.told_by(), ToldBy::kRank);
  EXPECT_NEAR(host.slope(work), 1.0, 0.1);
}

TEST(Levels, SamplesThatContradictWhatWasRecordedAreBelieved) {
  // Every second rank is slow for the host's sake: its twins take what the others' take.
  Host host{[](auto, auto) { return 1.0; }, 101};
  for (Recorded& s : host.stretches)
    if (s.rank % 2 == 1) s.log_time += 0.4F;
  ASSERT_GT(host.samples.size(), 8U);
  const Levels levels{host.samples, host.stretches};
  EXPECT_FALSE(levels.as_recorded());
  EXPECT_NEAR(log_warm(levels, host.stretches[1], 0), std::log(1e7), 2e-3);
}

/// Every second rank was recorded as 5 % slower; its samples, which are rough, as much slower as said. How much slower the estimate is.
double borne_out(double of_samples, unsigned seed, unsigned each = 25) {
  std::mt19937 random{seed};
  std::exponential_distribution<> longer{10}, error{20};
  std::vector<Recorded> stretches;
  std::vector<Measured> measured;
  for (std::uint32_t step = 0; step < 60; ++step)
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      const bool slow = rank % 2 == 1;
      stretches.push_back({rank, step, static_cast<float>((slow ? 20.05 : 20.0) + longer(random))});
      if (measured.empty() || random() % each == 0)
        measured.push_back({stretches.back(), 19.8 + (slow ? of_samples : 0) + error(random), true});
    }
  const Levels levels{measured, stretches};
  double odd = 0, even = 0;
  for (std::uint32_t rank = 0; rank < 16; rank += 2) {
    even += log_warm(levels, {rank, 3, 20.1F}, 0) / 8;
    odd += log_warm(levels, {rank + 1, 3, 20.1F}, 0) / 8;
  }
  return odd - even;
}

TEST(Levels, OfRanksThatDifferByLittleAreWhatTheSamplesBearOut) {
  int found = 0, invented = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const double more = borne_out(0.05, seed);
    EXPECT_LT(more, 0.08) << seed;
    found += static_cast<int>(more > 0.02);
    invented += static_cast<int>(borne_out(0, seed) > 0.01);
    EXPECT_LT(borne_out(0.05, seed, 1000), 0.01) << seed;  // of a sample or two
  }
  EXPECT_GE(found, 30);  // 33: samples that scatter by as much as ranks differ do not always say so
  EXPECT_LE(invented, 4);
}

/// The first step touches its memory for the first time, and no twin can foresee it: however many samples there are of later
/// ones, they don't say what it takes.
TEST(Levels, StepsBeforeAnySampleKeepTheirDifference) {
  std::vector<Recorded> stretches;
  std::vector<Measured> measured;
  for (std::uint32_t step = 0; step < 6; ++step)
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      stretches.push_back({rank, step, (step == 0 ? 17.2F : 16.5F) + 0.002F * static_cast<float>(rank)});
      if (step > 0 && rank % 2 == step % 2)
        measured.push_back({stretches.back(), 16.1 + 0.0005 * rank, false});
    }
  const Levels levels{measured, stretches};
  EXPECT_NEAR(log_warm(levels, stretches[3], 0), 16.8, 0.02);
  EXPECT_NEAR(log_warm(levels, stretches[50], 0), 16.1, 0.02);
}

/// Two ranks that leave a collective together have their twins in the same steps, which are recorded as longer for that alone.
TEST(Levels, OfStepsInWhichAllRanksHaveTwinsAreNoLongerForWhatTheseLeaveBehind) {
  std::vector<Recorded> stretches;
  std::vector<Measured> samples;
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    for (std::uint32_t step = 0; step < 60; ++step) {
      const bool measured = step == 2 || step == 37;
      const double us = step == 0 ? 16 : measured ? 17.0 + rank : 13.2 + 0.01 * ((step + rank) % 7);
      const Recorded recorded{rank, step, static_cast<float>(std::log(us * 1e6))};
      if (measured)
        samples.push_back({recorded, std::log(13.1e6), false});
      else
        stretches.push_back(recorded);
    }
  const Levels levels{samples, stretches};
  for (const Recorded& stretch : stretches) EXPECT_GT(levels.warm(stretch, 0.5), 13e6) << stretch.step;
}

TEST(Levels, OneSampleOfARankThatWasRecordedAsSlowSaysWhetherItIs) {
  Host host{[](auto, auto) { return 1.0; }, 31};
  for (Recorded& s : host.stretches)
    if (s.rank == 1) s.log_time += 0.7F;
  bool kept = false;  // one sample of that rank
  std::erase_if(host.samples,
                [&](const Measured& m) { return m.recorded.rank == 1 && std::exchange(kept, true); });
  ASSERT_TRUE(kept);
  const Levels levels{host.samples, host.stretches};
  EXPECT_FALSE(levels.as_recorded());
  EXPECT_NEAR(log_warm(levels, {1, 5, 18}, 0), std::log(1e7), 5e-3);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
