#include "hypothesis/transform/insert.hpp"

#include "hypothesis/testing/program.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using Ends = std::vector<double>;

/// Both ranks compute and meet in a barrier at line 5, twice.
TestProgram barriers() {
  TestProgram program{2};
  for (int i = 0; i < 2; ++i) {
    for (std::int32_t r = 0; r < 2; ++r) {
      program.compute(r, r == 0 ? 20 : 10);
      program.line(r, 5);
      program.collective(r, CollectiveKind::kBarrier);
    }
  }
  program.record();
  return program;
}

/// 20 us of computing, 5 us of message (1 us and 4000 bytes), twice; rank 0 leaves the barrier 1 us after
/// rank 1, which enters it last.
TEST(Insert, AMessageMoreAtEachCall) {
  EXPECT_EQ(barriers().replayed({}), (Ends{40, 41}));
  EXPECT_EQ(barriers().replayed({{"insert", "from=0,to=1,at=program.c:5,bytes=4000"}}), (Ends{52, 51}));
}

TEST(Insert, RanksMaySendAndReceive) {
  EXPECT_EQ(barriers().replayed({{"insert", "from=0-1,to=0-1,at=f5,bytes=20000"}}).size(), 2U);
}

TEST(Insert, InsertedMessagesCanBeDeleted) {
  const Ends ends =
      barriers().replayed({{"insert", "from=0,to=1,at=f5,bytes=4000,tag=77"}, {"delete", "tag=77"}});
  EXPECT_EQ(ends, (Ends{40, 41}));
}

TEST(Insert, WhereNobodyComesNothingIsInserted) {
  EXPECT_NE(barriers().refused({{"insert", "from=0,to=1,at=f6,bytes=1"}}).find("no call at that place"),
            std::string::npos);
  EXPECT_NE(barriers().refused({{"insert", "from=0,to=1,bytes=1"}}).find("at is missing"), std::string::npos);
  EXPECT_NE(barriers().refused({{"insert", "from=0,to=7,at=f5,bytes=1"}}).find("inserts nothing"),
            std::string::npos);
}

TEST(Insert, RanksMustComeToThePlaceEquallyOften) {
  TestProgram program{2};
  program.line(0, 3);
  program.send(0, 1, 8);
  program.line(1, 4);
  program.receive(1, 0);
  program.record();
  EXPECT_NE(program.refused({{"insert", "from=0,to=1,at=f3,bytes=1"}}).find("equally often"),
            std::string::npos);
}

}  // namespace
}  // namespace nplus1::hypothesis::transform
