#include "hypothesis/transform/compute.hpp"

#include <cmath>
#include <stdexcept>

#include "hypothesis/testing/program.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using Ends = std::vector<double>;

/// Rank 0 computes 10 us in region solve (line 1 before its barrier), rank 1 computes 30 us; then a barrier.
/// Twice.
TestProgram uneven() {
  TestProgram program{2};
  for (std::uint32_t round = 0; round < 2; ++round) {
    for (std::int32_t r = 0; r < 2; ++r) {
      program.line(r, 10 + round);
      program.begin_region(r, 1);
      program.compute(r, r == 0 ? 10 : 30);
      program.end_region(r, 1);
      program.compute(r, 5);
      program.collective(r, CollectiveKind::kBarrier);
    }
  }
  program.record();
  return program;
}

/// Who enters a barrier last leaves at once, the other one after 1 us.
TEST(Compute, WithoutAHypothesisNothingChanges) {
  EXPECT_EQ(uneven().replayed({}), (Ends{71, 70}));
}

TEST(Compute, ScalingARegionLeavesTheRestAlone) {
  EXPECT_EQ(uneven().replayed({{"scale", "region=solve,factor=0.5"}}), (Ends{41, 40}));
}

TEST(Compute, ScalingOneRankOnly) {
  EXPECT_EQ(uneven().replayed({{"scale", "region=solve,factor=0,ranks=1"}}), (Ends{30, 31}));
}

TEST(Compute, ComputingIsNamedByTheCallBehindIt) {
  // Before the barrier of line 11 there are 5 us outside the region.
  EXPECT_EQ(uneven().replayed({{"scale", "before=program.c:11,after=f10,factor=2"}}), (Ends{76, 75}));
}

TEST(Compute, BalancedRanksComputeTheMean) {
  EXPECT_EQ(uneven().replayed({{"balance", "region=solve"}}), (Ends{52, 52}));
}

TEST(Compute, WeightsShareOutTheSum) {
  EXPECT_EQ(uneven().replayed({{"balance", "region=solve,weights=3:1"}}), (Ends{70, 71}));
  EXPECT_EQ(uneven().replayed({{"balance", "region=solve,weights=0:1"}}), (Ends{91, 90}));
}

/// The ranks take turns at being slow: the sums over the run are even already, each turn is not.
TEST(Compute, IntervalsCanBeBalancedOneByOne) {
  TestProgram program{2};
  for (std::int32_t round = 0; round < 2; ++round) {
    for (std::int32_t r = 0; r < 2; ++r) {
      program.compute(r, r == round ? 30 : 10);
      program.collective(r, CollectiveKind::kBarrier);
    }
  }
  program.record();
  EXPECT_EQ(program.replayed({{"balance", "all"}}), (Ends{62, 61}));
  EXPECT_EQ(program.replayed({{"balance", "per=interval"}}), (Ends{42, 42}));
}

/// Where a rank's clock says that it computed nothing now and then, which call its intervals end with tells which belong together.
TEST(Compute, IntervalsInWhichARankComputesNothingAreBalancedWithThoseOfTheOthers) {
  TestProgram program{2};
  for (std::int32_t round = 0; round < 4; ++round) {
    for (std::int32_t r = 0; r < 2; ++r) {
      if (round == 0 || (r == 0) == (round < 3)) program.compute(r, 20);
      program.collective(r, CollectiveKind::kBarrier);
    }
  }
  program.record();
  const Ends before = program.replayed({});
  const Ends after = program.replayed({{"balance", "per=interval"}});
  EXPECT_NEAR(before[0] - after[0], 30,
              1);  // rounds 1 to 3, 10 each; the last barrier is entered by both at once
}

/// The first rank of a wavefront receives nothing, the last one sends nothing, and the one between computes a little in passing.
/// In turn one of the three computes 60 us, the others 30: balanced, each computes 40 in each step.
TEST(Compute, RanksThatMakeUnequalCallsAreBalancedByThePlacesWhereTheyCompute) {
  constexpr std::uint32_t kReceives = 1, kSends = 2;
  const auto wavefront = [](bool even) {
    TestProgram program{3};
    for (std::int32_t step = 0; step < 60; ++step)
      for (std::int32_t r = 0; r < 3; ++r) {
        if (r == 1 && step % 20 == 10) program.compute(r, 1);
        program.line(r, kReceives);
        if (r > 0) program.receive(r, r - 1);
        program.compute(r, even ? 40 : step % 3 == r ? 60 : 30);
        program.line(r, kSends);
        if (r < 2) program.send(r, r + 1, 100);
      }
    program.record();
    return program;
  };
  const Ends balanced = wavefront(false).replayed({{"balance", "per=interval"}});
  const Ends even = wavefront(true).replayed({});
  ASSERT_EQ(balanced.size(), even.size());
  for (std::size_t r = 0; r < even.size(); ++r) EXPECT_NEAR(balanced[r], even[r], 0.01) << r;
  EXPECT_GT(std::abs(wavefront(false).replayed({})[2] - even[2]), 10);
}

/// Two pairs, each at lines of its own and another number of times: nobody is there to compute what the first pair does.
TEST(Compute, WeightsThatLeaveNobodyAtAPlaceAreRefused) {
  TestProgram program{4};
  for (std::int32_t step = 0; step < 60; ++step)
    for (std::int32_t r = 0; r < 4; ++r) {
      const bool first = r < 2;
      if (!first && step >= 50) continue;
      program.line(r, first ? 1 : 2);
      program.compute(r, r % 2 == 0 ? 20 : 40);
      if (r % 2 == 0)
        program.send(r, r + 1, 100);
      else
        program.receive(r, r - 1);
    }
  program.record();
  EXPECT_EQ(program.replayed({{"balance", "per=interval,weights=1:1:1:1"}}).size(), 4U);
  EXPECT_EQ(program.replayed({{"balance", "per=interval,weights=0:1:0:1"}}).size(), 4U);
  EXPECT_NE(
      program.refused({{"balance", "per=interval,weights=0:0:1:1"}}).find("ranks 0, 1 a weight above 0"),
      std::string::npos);
}

TEST(Compute, TransformationsAddUpInTheirOrder) {
  // Rank 1 computes as long as rank 0 after the first; balancing then changes nothing.
  EXPECT_EQ(
      uneven().replayed({{"scale", "region=solve,factor=0.3333333333,ranks=1"}, {"balance", "region=solve"}}),
      (Ends{32, 32}));
  // Doubled, 20 and 60, then balanced.
  EXPECT_EQ(uneven().replayed({{"scale", "region=solve,factor=2"}, {"balance", "region=solve"}}),
            (Ends{92, 92}));
}

TEST(Compute, NoiseIsTheSameForTheSameSeed) {
  const TestProgram program = uneven();
  const auto with_seed = [&](const char* seed) {
    return program.replayed({{"noise", std::string{"amount=0.1,seed="} + seed}});
  };
  EXPECT_EQ(with_seed("1"), with_seed("1"));
  EXPECT_NE(with_seed("1"), with_seed("2"));
  EXPECT_NE(with_seed("1"), program.replayed({}));
  EXPECT_EQ(program.replayed({{"noise", "amount=0"}}), program.replayed({}));
}

/// Mean 1 and the standard deviation asked for, over 10000 intervals.
TEST(Compute, NoiseHasTheSpreadAskedFor) {
  TestProgram program{1};
  for (int i = 0; i < 10000; ++i) {
    program.compute(0, 1);
    program.begin_region(0, 1);
    program.end_region(0, 1);
  }
  program.record();
  class Sums final : public events::EventSink {
   public:
    void on_event(const events::TimedEvent& t) override {
      const double us = static_cast<double>(t.event.compute_ps) / kUs;
      if (us <= 0) return;
      sum += us;
      squares += us * us;
    }
    double sum = 0, squares = 0;
  };
  for (const char* distribution : {"normal", "uniform"}) {
    auto chain = program.chain({{"noise", std::string{"amount=0.2,distribution="} + distribution}});
    ASSERT_TRUE(chain.ok());
    Sums sums;
    ASSERT_TRUE(program.play()(chain.value().begin(sums), false).ok());
    const double mean = sums.sum / 10000;
    EXPECT_NEAR(mean, 1, 0.01) << distribution;
    EXPECT_NEAR(std::sqrt(sums.squares / 10000 - mean * mean), 0.2, 0.01) << distribution;
  }
}

/// Twice 10 us, or 30, of 10^300 times: what came out was before the beginning.
TEST(Compute, BeyondVirtualTimeIsRefused) {
  EXPECT_THROW((void)uneven().replayed({{"scale", "factor=1e300"}}), std::invalid_argument);
  EXPECT_THROW((void)uneven().replayed({{"scale", "factor=3e11"}}), std::invalid_argument);  // the sum alone
  EXPECT_EQ(uneven().replayed({{"scale", "ranks=0-16777214:0-16777214:1,factor=1"}}), (Ends{71, 70}));
}

TEST(Compute, AHypothesisAboutNothingSaysWhatThereIs) {
  const std::string told = uneven().refused({{"scale", "region=sovle,factor=2"}});
  EXPECT_NE(told.find("is about no computing"), std::string::npos) << told;
  EXPECT_NE(told.find("regions: solve"), std::string::npos) << told;
  EXPECT_NE(told.find("program.c:10"), std::string::npos) << told;
}

TEST(Compute, SlipsOfThePenAreRefused) {
  const TestProgram program = uneven();
  EXPECT_NE(program.refused({{"scale", "region=solve,factr=2"}}).find("the keys are: region"),
            std::string::npos);
  EXPECT_NE(program.refused({{"scale", "region=solve"}}).find("factor is missing"), std::string::npos);
  EXPECT_NE(program.refused({{"scale", "factor=-1"}}).find("factor=-1"), std::string::npos);
  EXPECT_NE(program.refused({{"scale", "factor=2,factor=3"}}).find("twice"), std::string::npos);
  EXPECT_NE(program.refused({{"balance", "weights=1"}}).find("1 of 2 ranks"), std::string::npos);
  EXPECT_NE(program.refused({{"balance", "ranks=5-1"}}).find("ranks=5-1"), std::string::npos);
  EXPECT_NE(program.refused({{"scale", "solve"}}).find("KEY=VALUE"), std::string::npos);
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
