#include "stubs/access/cells.hpp"

#include <gtest/gtest.h>

namespace nplus1::stubs::access {
namespace {

TEST(Cells, OfOnePieceAreHitFromTheirFirstByteToTheirLast) {
  const Cells cells{1000, 100};
  EXPECT_FALSE(cells.first_in({990, 1000}));
  EXPECT_EQ(cells.first_in({992, 1001}), 1000U);
  EXPECT_EQ(cells.first_in({1099, 1107}), 1099U);
  EXPECT_FALSE(cells.first_in({1100, 1108}));
  EXPECT_TRUE(Cells{}.empty());
}

TEST(Cells, OfAColumnAreHitInTheColumnAlone) {
  const Segment element{0, 8};
  const Cells column{800, 100, 800, &element, 1};
  EXPECT_EQ(column.low(), 800U);
  EXPECT_EQ(column.high(), 800U + 99 * 800 + 8);
  EXPECT_FALSE(column.first_in({808, 1600}));
  EXPECT_EQ(column.first_in({1596, 1604}), 1600U);
  EXPECT_EQ(column.first_in({0, 1 << 20}), 800U);
  EXPECT_FALSE(column.first_in({column.high(), column.high() + 8}));
  // The next column has none of its cells, and none of its neighbour's first row.
  const Cells next{808, 100, 800, &element, 1};
  EXPECT_FALSE(column.overlaps(next));
  EXPECT_TRUE(column.overlaps(Cells{1604, 2}));
  EXPECT_TRUE((Cells{1604, 2}.overlaps(column)));
}

TEST(Cells, OfElementsThatReachIntoEachOthersSpanAreFound) {
  const Segment pieces[] = {{0, 4}, {20, 4}};  // extent 8: 0 8 16 | 20 28 36
  const Cells cells{100, 3, 8, pieces, 2};
  for (const std::uint64_t at : {100U, 108U, 116U, 120U, 128U, 136U})
    EXPECT_EQ(cells.first_in({at, at + 1}), at);
  for (const std::uint64_t at : {104U, 112U, 124U, 132U, 140U})
    EXPECT_FALSE(cells.first_in({at, at + 4})) << at;
}

TEST(Cells, SideBySideAreOnePiece) {
  const Segment element{0, 8};
  EXPECT_TRUE((Cells{64, 10, 8, &element, 1}.in_one_piece()));
  EXPECT_TRUE((Cells{64, 10, 8, &element, 1}.same_as(Cells{64, 80})));
}

}  // namespace
}  // namespace nplus1::stubs::access
