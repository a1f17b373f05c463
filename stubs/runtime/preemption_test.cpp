#include "stubs/runtime/preemption.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace nplus1::stubs {
namespace {

long switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw + usage.ru_nvcsw;
}

/// Some 10 us.
void spin() {
  for (int i = 0; i < 20000; ++i) asm volatile("");
}

/// Two threads on one processor: the other one wants it, too.
class Contended : public testing::Test {
 protected:
  void SetUp() override {
    if (!tells_preemption()) GTEST_SKIP() << "glibc has registered no area for restartable sequences";
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    other_ = std::thread{[this] {
      while (!done_.load(std::memory_order_relaxed)) {
      }
    }};
  }
  void TearDown() override {
    done_ = true;
    if (other_.joinable()) other_.join();
    sched_setaffinity(0, sizeof(before_), &before_);
  }

 private:
  cpu_set_t before_{};
  std::atomic<bool> done_{false};
  std::thread other_;
};

TEST_F(Contended, EachPreemptionIsSeenAndNothingElse) {
  int preempted = 0, missed = 0, undisturbed = 0;
  for (int i = 0; i < 200000 && (preempted < 20 || undisturbed < 20); ++i) {
    const long before = switches();
    arm_preemption();
    spin();
    const Disturbance seen = preemption();
    if (switches() !=
        before) {  // that may be between the two looks and the loop: seldom, and then it is not seen
      preempted += seen == Disturbance::kPreempted ? 1 : 0;
      missed += seen == Disturbance::kPreempted ? 0 : 1;
    } else {
      EXPECT_EQ(seen, Disturbance::kNone);
      ++undisturbed;
    }
  }
  EXPECT_GE(preempted, 20);
  EXPECT_GE(undisturbed, 20);
  EXPECT_LE(missed, preempted / 2);
}

TEST(Preemption, ASleepAndASignalCount) {
  if (!tells_preemption()) GTEST_SKIP() << "glibc has registered no area for restartable sequences";
  arm_preemption();
  const timespec moment{0, 1000000};
  nanosleep(&moment, nullptr);
  EXPECT_EQ(preemption(), Disturbance::kPreempted);
  const auto old = std::signal(SIGUSR1, [](int) {});
  arm_preemption();
  raise(SIGUSR1);
  EXPECT_EQ(preemption(), Disturbance::kPreempted);
  std::signal(SIGUSR1, old);
}

TEST(Preemption, EachThreadHasItsOwn) {
  if (!tells_preemption()) GTEST_SKIP() << "glibc has registered no area for restartable sequences";
  Disturbance of_other = Disturbance::kUnknown;
  std::thread{[&of_other] {  // often enough that one interval is not preempted
    for (int i = 0; i < 1000 && of_other != Disturbance::kNone; ++i) {
      arm_preemption();
      of_other = preemption();
    }
  }}
      .join();
  EXPECT_EQ(of_other, Disturbance::kNone);
}

}  // namespace
}  // namespace nplus1::stubs
