#include "hypothesis/clock/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nplus1::hypothesis::clock {
namespace {

TEST(Samples, AreReadFromTheRecordingsProperties) {
  const auto read = samples_of({{"warm-times", "0 12 3400 0\n7 99 1 1\n"}});
  ASSERT_TRUE(read);
  ASSERT_EQ(read.value().size(), 2U);
  EXPECT_EQ(read.value()[1].rank, RankId{7});
  EXPECT_EQ(read.value()[0].ordinal, 12U);
  EXPECT_EQ(read.value()[0].warm, Duration{3400});
  EXPECT_FALSE(read.value()[0].rough);
  EXPECT_TRUE(read.value()[1].rough);
  EXPECT_TRUE(samples_of({}).value().empty());
  const auto with_cores = samples_of({{"warm-times", "0 12 3400 0 400 200 0 0\n7 99 0 0 0 0 500 300\n"}});
  ASSERT_TRUE(with_cores);
  EXPECT_EQ(with_cores.value()[0].twins_core.cycles, Duration{400});
  EXPECT_EQ(with_cores.value()[0].twins_core.loads, Duration{200});
  EXPECT_EQ(with_cores.value()[0].core.cycles, Duration{});
  EXPECT_EQ(with_cores.value()[1].warm, Duration{});
  EXPECT_EQ(with_cores.value()[1].core.loads, Duration{300});
  EXPECT_EQ(with_cores.value()[1].faults, 0);
  const auto with_faults = samples_of({{"warm-times", "0 12 3400 0 0 0 500 300 4400 1900000\n7 99 1 1\n"}});
  ASSERT_TRUE(with_faults);
  ASSERT_EQ(with_faults.value().size(), 2U);
  EXPECT_EQ(with_faults.value()[0].faults, 4400);
  EXPECT_EQ(with_faults.value()[0].fault, Duration{1'900'000});
}

TEST(Samples, OfPagesThatAreTouchedFirstLeaveWhatTheseTakeOnAHostOfOnesOwn) {
  Sample stretch;
  EXPECT_EQ(Samples::without_faults(7e9, stretch), 7e9);
  stretch.faults = 1000;
  stretch.fault = Duration{2'500'000};
  EXPECT_EQ(Samples::without_faults(7e9, stretch), 5e9);
  EXPECT_EQ(Samples::without_faults(2e9, stretch), 2e8);  // more than it took: what is left is not nothing
  stretch.fault = Duration{400'000};
  EXPECT_EQ(Samples::without_faults(7e9, stretch), 7e9);
}

TEST(Samples, ThatAreNoneAreRefused) {
  for (const char* text : {"0 12",
                           "0 12 3400",
                           "0 12 3400\n",
                           "0 x 3 0\n",
                           "-1 2 3 0\n",
                           "0 1 0 0\n",
                           "0 1 -5 0\n",
                           "\n",
                           "1 2 3 0\n4",
                           "1 2 3 2\n",
                           "1 2 3 -1\n",
                           "1 2 3 0 400 200 0\n",
                           "1 2 3 0 400 -200 0 0\n",
                           "1 2 0 0 400 200 0 0\n",
                           "1 2 3 0 400 200 0 0",
                           "1 2 3 0 400 200 0 0 5\n",
                           "1 2 3 0 400 200 0 0 -5 3\n",
                           "1 2 3 0 400 200 0 0 5 -3\n",
                           "1 2 3 0 400 200 0 0 5 3 1\n",
                           "1 2 3 0 400 200 0 0 5 9223372036854775807\n",
                           "1 2 3 0 400 200 0 0 5 3"})
    EXPECT_FALSE(samples_of({{"warm-times", text}})) << text;
}

/// Somebody had the cores' other threads nearly always; now and then nobody had, which reads nearly the same each time; two readings were
/// disturbed.
TEST(Samples, AreSharedAgainstTheFewReadingsOfCoresForOneself) {
  std::vector<Sample> samples;
  const auto add = [&](std::int64_t loads) {
    Sample sample;
    sample.ordinal = samples.size();
    sample.warm = Duration{1000};
    sample.twins_core = {Duration{1000}, Duration{loads}};
    samples.push_back(sample);
  };
  for (int i = 0; i < 600; ++i) add(1080 + i % 500);
  for (int i = 0; i < 6; ++i) add(1000 + i);
  for (const int disturbed : {400, 900}) add(disturbed);
  const Samples all{samples};
  std::size_t shared = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) shared += all.of(RankId{}, i)->shared ? 1U : 0U;
  EXPECT_EQ(shared, 600U);
  EXPECT_NEAR(all.log_shared(samples[0].twins_core), std::log(1.08), 1e-3);
}

TEST(Samples, TellWhatTheCoreOfARankNearlyAlwaysWas) {
  std::vector<Sample> samples;
  const auto add = [&](int rank, int own, int shared) {
    for (int i = 0; i < own + shared; ++i)
      samples.push_back({RankId{rank},
                         samples.size(),
                         Duration{1},
                         false,
                         {Duration{400'000}, Duration{i < own ? 200'000 : 280'000}}});
  };
  add(0, 20, 3);
  add(1, 2, 20);
  add(2, 10, 10);
  add(3, 7, 0);
  const Samples all{samples};
  EXPECT_EQ(all.of_rank(RankId{0}), Core::kOwn);
  EXPECT_EQ(all.of_rank(RankId{1}), Core::kShared);
  EXPECT_EQ(all.of_rank(RankId{2}), Core::kUnknown);
  EXPECT_EQ(all.of_rank(RankId{3}), Core::kUnknown);  // too few
  EXPECT_EQ(all.of_rank(RankId{4}), Core::kUnknown);
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
