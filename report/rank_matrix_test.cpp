#include "report/rank_matrix.hpp"

#include <gtest/gtest.h>

namespace nplus1::report {
namespace {

/// The same laws hold for the dense and for the sparse form.
class RankMatrixTest : public ::testing::TestWithParam<std::int32_t> {};

TEST_P(RankMatrixTest, AmountsAddUpInTheirCellOnly) {
  const std::int32_t n = GetParam();
  RankMatrix matrix{RankId{n}.index()};
  matrix.add(RankId{0}, RankId{n - 1}, 5);
  matrix.add(RankId{0}, RankId{n - 1}, 7);
  EXPECT_EQ(matrix.at(RankId{0}, RankId{n - 1}), 12U);
  EXPECT_EQ(matrix.at(RankId{n - 1}, RankId{0}), n == 1 ? 12U : 0U);
  EXPECT_EQ(matrix.total(), 12U);
}

TEST_P(RankMatrixTest, ARowHasOneNumberPerRank) {
  const std::int32_t n = GetParam();
  RankMatrix matrix{RankId{n}.index()};
  matrix.add(RankId{n - 1}, RankId{0}, 3);
  const auto row = matrix.row(RankId{n - 1});
  ASSERT_EQ(row.size(), RankId{n}.index());
  EXPECT_EQ(row[0], 3U);
}

TEST_P(RankMatrixTest, RanksOutsideThrow) {
  const std::int32_t n = GetParam();
  RankMatrix matrix{RankId{n}.index()};
  EXPECT_THROW(matrix.add(RankId{n}, RankId{0}, 1), std::out_of_range);
  EXPECT_THROW(matrix.add(RankId{0}, RankId{-1}, 1), std::out_of_range);
  EXPECT_EQ(matrix.total(), 0U);
}

INSTANTIATE_TEST_SUITE_P(DenseAndSparse, RankMatrixTest, ::testing::Values(1, 256, 257, 4096));

}  // namespace
}  // namespace nplus1::report
