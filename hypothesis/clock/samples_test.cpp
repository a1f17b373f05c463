#include "hypothesis/clock/samples.hpp"

#include <gtest/gtest.h>

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
}

TEST(Samples, ThatAreNoneAreRefused) {
  for (const char* text : {"0 12", "0 12 3400", "0 12 3400\n", "0 x 3 0\n", "-1 2 3 0\n", "0 1 0 0\n",
                           "0 1 -5 0\n", "\n", "1 2 3 0\n4", "1 2 3 2\n", "1 2 3 -1\n", "1 2 3 0 400 200 0\n",
                           "1 2 3 0 400 -200 0 0\n", "1 2 0 0 400 200 0 0\n", "1 2 3 0 400 200 0 0"})
    EXPECT_FALSE(samples_of({{"warm-times", text}})) << text;
}

}  // namespace
}  // namespace nplus1::hypothesis::clock
