#include "guidelines/runner_lines.hpp"

#include <gtest/gtest.h>

namespace nplus1::guidelines {
namespace {

TEST(RunnerLines, MakeACellOnceItIsDone) {
  RunnerLines lines{3, 8};
  EXPECT_TRUE(lines.take("@library MPICH Version: 4.0.2"));
  EXPECT_TRUE(lines.take("@network 100 2e-06 1100 3e-06"));
  EXPECT_NEAR(lines.network()->latency, 1.9e-6, 1e-15);
  EXPECT_TRUE(lines.take("@verify Scan 64"));
  EXPECT_EQ(lines.verifying(), "Scan");
  EXPECT_TRUE(lines.take("@time Scan 64 0 1.5e-06"));
  EXPECT_TRUE(lines.take("@late Scan 64 1"));
  EXPECT_TRUE(lines.take("@time Scan_with_Exscan_Reduce_local 64 0 1e-06 9e-07"));
  EXPECT_TRUE(lines.take("@skipped Scan_with_Prayer 64 this runner has no such function"));
  EXPECT_EQ(lines.verifying(), "");
  EXPECT_FALSE(lines.take_finished());
  EXPECT_TRUE(lines.take("@done Scan 64"));
  const auto cell = lines.take_finished();
  ASSERT_TRUE(cell);
  EXPECT_FALSE(lines.take_finished());
  EXPECT_EQ(cell->original, "Scan");
  EXPECT_EQ(cell->size, 64U);
  EXPECT_EQ(cell->late, 1U);
  ASSERT_EQ(cell->times.size(), 2U);
  EXPECT_EQ(cell->times[0].mpirun, 3);
  EXPECT_EQ(cell->times[0].processes, 8);
  EXPECT_EQ(cell->times[0].seconds, 1.5e-6);
  EXPECT_FALSE(cell->times[0].without_copies);
  EXPECT_EQ(cell->times[1].without_copies, 9e-7);
  EXPECT_EQ(cell->notes, std::vector<std::string>{
                             "Scan_with_Prayer of 64 B was not measured: this runner has no such function"});
  EXPECT_EQ(lines.library(), "MPICH Version: 4.0.2");
}

TEST(RunnerLines, TellWhichTestsWereWrong) {
  RunnerLines lines{0, 2};
  EXPECT_TRUE(lines.take("@differs Scan 64 rank 1 has another result"));
  EXPECT_TRUE(lines.take("@done Scan 64"));
  const auto cell = lines.take_finished();
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->wrong, std::vector<std::string>{"Scan"});
  EXPECT_EQ(cell->notes,
            std::vector<std::string>{
                "Scan of 64 B gave a wrong result and was not measured: rank 1 has another result"});
}

TEST(RunnerLines, TellLooksThatWereNotEvaluable) {
  RunnerLines lines{0, 2};
  EXPECT_TRUE(lines.take("@nrep Scan 64 1 25 0.015 -1 -1 2e-06 0"));
  EXPECT_TRUE(lines.take("@done Scan 64"));
  const auto cell = lines.take_finished();
  ASSERT_EQ(cell->looks.size(), 1U);
  EXPECT_EQ(cell->looks[0].repetitions, 25);
  EXPECT_EQ(cell->looks[0].metrics.rse, 0.015);
  EXPECT_FALSE(cell->looks[0].metrics.cov_mean);
  EXPECT_FALSE(cell->looks[0].enough);
}

TEST(RunnerLines, LeaveForeignLinesAlone) {
  RunnerLines lines{0, 2};
  EXPECT_FALSE(lines.take("a warning of the MPI library's"));
  EXPECT_FALSE(lines.take("@somebody else's"));
  EXPECT_FALSE(lines.take(""));
  EXPECT_FALSE(lines.ended());
  EXPECT_TRUE(lines.take("@end"));
  EXPECT_TRUE(lines.ended());
}

}  // namespace
}  // namespace nplus1::guidelines
