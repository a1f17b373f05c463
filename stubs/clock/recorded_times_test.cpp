#include "stubs/clock/recorded_times.hpp"

#include <gtest/gtest.h>

namespace nplus1::stubs {
namespace {

using events::MpiCall;
constexpr auto kSendCall = static_cast<std::uint16_t>(MpiCall::MPI_Send);
constexpr auto kRecvCall = static_cast<std::uint16_t>(MpiCall::MPI_Recv);

Time at(std::int64_t ps) {
  return Time{Duration{ps}};
}

RecordedTimes thread_with(std::initializer_list<events::recording::ComputeInterval> intervals) {
  RecordedTimes times;
  times.begin(intervals, 0, kTimeZero);
  return times;
}

TEST(RecordedTimes, ACallThatEndsAnIntervalComesAfterTheRecordedTimeWhateverWasMeasured) {
  RecordedTimes times = thread_with({{100, 0, kSendCall, 0}});
  EXPECT_EQ(times.passed(at(0), Duration{7}, MpiCall::MPI_Send), Duration{100});
  EXPECT_EQ(times.passed(at(0), Duration{7000}, MpiCall::MPI_Send), Duration{100});
  EXPECT_EQ(times.tell(kSendCall, at(100)), Duration{});
  EXPECT_FALSE(times.follows());
  EXPECT_FALSE(times.differs());
}

TEST(RecordedTimes, ACallThatTellsNothingLetsWhatWasMeasuredPassButNotMoreThanThereIs) {
  RecordedTimes times = thread_with({{100, 0, kSendCall, 0}});
  EXPECT_EQ(times.passed(at(0), Duration{30}, MpiCall::MPI_Pack), Duration{30});
  EXPECT_EQ(times.passed(at(30), Duration{300}, MpiCall::MPI_Pack), Duration{70});
  EXPECT_EQ(times.passed(at(100), Duration{9}, MpiCall::MPI_Send), Duration{});
  EXPECT_EQ(times.tell(kSendCall, at(100)), Duration{});
}

TEST(RecordedTimes, TheNextIntervalBeginsWhereTheCallEnds) {
  RecordedTimes times = thread_with({{100, 0, kSendCall, 0}, {50, 0, kRecvCall, 0}});
  static_cast<void>(times.tell(kSendCall, at(100)));
  times.out(at(400));
  EXPECT_EQ(times.left(at(400)), Duration{50});
  EXPECT_EQ(times.left(at(420)), Duration{30});
}

TEST(RecordedTimes, AnotherCallThanTheRecordedOneLeavesTheThreadOnItsOwnAndSaysWhere) {
  RecordedTimes times = thread_with({{100, 0, kSendCall, 0}, {50, 0, kRecvCall, 0}, {50, 0, kRecvCall, 0}});
  static_cast<void>(times.tell(kSendCall, at(100)));
  EXPECT_EQ(times.tell(kSendCall, at(120)), Duration{});
  EXPECT_TRUE(times.differs());
  EXPECT_FALSE(times.follows());
  EXPECT_EQ(times.followed(), 1U);
  EXPECT_EQ(times.found(), kSendCall);
  EXPECT_EQ(times.expected(), kRecvCall);
}

TEST(RecordedTimes, ACallMoreThanWereRecordedDiffersToo) {
  RecordedTimes times = thread_with({});
  times.expect(kSendCall);
  EXPECT_TRUE(times.differs());
  EXPECT_EQ(times.expected(), 0);
}

TEST(RecordedTimes, AThreadTakesItsOwn) {
  RecordedTimes times;
  times.begin({{100, 0, kSendCall, 0}, {7, 1, kRecvCall, 0}}, 1, at(20));
  EXPECT_EQ(times.left(at(20)), Duration{7});
}

}  // namespace
}  // namespace nplus1::stubs
