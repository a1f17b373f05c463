#include "simnode/node/watch.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <thread>
#include <vector>

namespace nplus1::simnode::node {
namespace {

using namespace std::chrono_literals;

class IdleProcess {
 public:
  /// Stopped, when this returns: it uses no CPU time at all.
  IdleProcess() : pid_{fork()} {
    while (pid_ == 0) raise(SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  ~IdleProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  IdleProcess(const IdleProcess&) = delete;
  IdleProcess& operator=(const IdleProcess&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

/// Spins on the first core that there is, from when this returns.
class BusyProcess {
 public:
  explicit BusyProcess(int policy) : pid_{fork()} {
    if (pid_ != 0) {
      waitpid(pid_, nullptr, WUNTRACED);
      kill(pid_, SIGCONT);
      return;
    }
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    const sched_param none{};
    if (sched_setaffinity(0, sizeof(first), &first) != 0 || sched_setscheduler(0, policy, &none) != 0)
      _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    raise(SIGSTOP);
    volatile bool busy = true;
    while (busy) {
    }
  }
  ~BusyProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

/// CPU time of the thread that asks: on a busy host time may pass without any.
std::chrono::nanoseconds used() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

/// Rank 0 waits for a message from anybody; rank 1, this very process, is the one that could still send it.
class WatchTest : public testing::Test, public engine::Listener {
 protected:
  void on_exit(const events::TimedEvent&) override {}
  void on_match(RankId, const events::Answer&) override {}

  void wait_for_anybody() {
    receive_from_anybody();
    events::Event finalize;
    finalize.kind = events::EventKind::kFinalize;
    engine_.push(RankId{2}, finalize);
    engine_.decide();
  }
  /// Rank 2 has sent it a message, and may make more calls.
  void receive_from_anybody() {
    events::Event send;
    send.kind = events::EventKind::kSend;
    send.peer = 0;
    send.size = 100'000;
    engine_.push(RankId{2}, send);
    events::Event receive;
    receive.kind = events::EventKind::kRecv;
    receive.flags = events::kNeedsAnswer | events::kReportMatch;
    receive.peer = kAnySource.value;
    receive.tag = kAnyTag;
    receive.request = RequestId{1};
    engine_.push(RankId{0}, receive);
    engine_.decide();
  }
  /// Looks until rank 0 is free or the time is up.
  bool decided_within(Watch& watch, std::chrono::milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (engine_.awaited() && std::chrono::steady_clock::now() < until) {
      watch.look(engine_);
      std::this_thread::sleep_for(1ms);
    }
    return !engine_.awaited();
  }

  /// With a rank of several threads: in the next look but for an answer it would be.
  void look_until_its_patience_is_nearly_over(Watch& watch) {
    watch.look(engine_);
    std::this_thread::sleep_for(200ms);
    watch.look(engine_);
  }

  void see_thread(std::size_t thread, std::int32_t tid) {
    block_.threads[thread].tid = tid;
    block_.threads[thread].owner = static_cast<std::uint32_t>(thread) + 1;
  }

  std::unique_ptr<netmodel::NetworkModel> network_ = std::move(netmodel::parse("lsb")).value();
  engine::Engine engine_{3, *network_, *this};
  transport::RankBlock block_{};
};

TEST_F(WatchTest, AwaitsTheRankThatCouldStillSend) {
  wait_for_anybody();
  ASSERT_TRUE(engine_.awaited());
  EXPECT_EQ(engine_.awaited()->value, 1);
}

TEST_F(WatchTest, ARankWithGivenComputeTimesIsWaitedForHoweverIdle) {
  wait_for_anybody();
  Watch watch{3, {.measured = false}};
  watch.add(RankId{1}, getpid(), &block_);
  EXPECT_FALSE(decided_within(watch, 400ms));
}

TEST_F(WatchTest, ARankThatUsesNoCpuIsWithdrawnAndTheDecisionCountedAsForced) {
  wait_for_anybody();
  Watch watch{3, {.measured = true, .scale = 0}};  // no bound from CPU time
  const IdleProcess idle;
  watch.add(RankId{1}, idle.pid(), &block_);
  EXPECT_FALSE(watch.first_withdrawn());
  EXPECT_TRUE(decided_within(watch, 5s));
  EXPECT_EQ(engine_.counters().forced_decisions, 1u);
  ASSERT_TRUE(watch.first_withdrawn());
  EXPECT_EQ(watch.first_withdrawn()->rank, RankId{1});
  EXPECT_FALSE(watch.first_withdrawn()->inside_mpi);
  EXPECT_GE(watch.first_withdrawn()->waited, 200ms);  // its grace
}

/// A simulated host may be slow without limit: a moment of this process is longer than all virtual time there.
TEST_F(WatchTest, ComputingBeyondAllClocksIsABound) {
  wait_for_anybody();
  Watch watch{3, {.measured = true, .scale = 1e6}};
  const BusyProcess busy{SCHED_OTHER};
  watch.add(RankId{1}, busy.pid(), &block_, false, 1e18);
  EXPECT_TRUE(decided_within(watch, 5s));
  EXPECT_EQ(engine_.counters().forced_decisions, 0U);
  EXPECT_FALSE(watch.first_withdrawn());
}

TEST_F(WatchTest, ARankThatWaitsInsideMpiIsWithdrawn) {
  wait_for_anybody();
  block_.activity = 1;
  block_.native_wait = 1;
  Watch watch{3, {.measured = false}};
  watch.add(RankId{1}, getpid(), &block_);
  EXPECT_TRUE(decided_within(watch, 5s));
  ASSERT_TRUE(watch.first_withdrawn());
  EXPECT_TRUE(watch.first_withdrawn()->inside_mpi);
}

/// Half a patience is half a second here.
TEST_F(WatchTest, WhileTheJobHasNoCoreItsRanksAreNotWithdrawn) {
  wait_for_anybody();
  block_.activity = 1;
  block_.native_wait = 1;
  const auto start = std::chrono::steady_clock::now();
  bool starves = true;
  const auto starved = [&](std::int32_t) -> std::int64_t {
    return starves ? (std::chrono::steady_clock::now() - start) / 1ns : 0;
  };
  Watch watch{3, {.measured = false}, starved};
  watch.add(RankId{1}, getpid(), &block_);
  EXPECT_FALSE(decided_within(watch, 2500ms));
  starves = false;
  EXPECT_TRUE(decided_within(watch, 5s));
}

/// What spins for ever on too few cores would wait for ever.
TEST_F(WatchTest, AJobThatNeverHasACoreIsGivenTenTimesTheTimeNoMore) {
  wait_for_anybody();
  block_.activity = 1;
  block_.native_wait = 1;
  const auto start = std::chrono::steady_clock::now();
  const auto starved = [&](std::int32_t) -> std::int64_t {
    return (std::chrono::steady_clock::now() - start) / 1ns;
  };
  Watch watch{3, {.measured = true, .scale = 0}, starved};
  watch.add(RankId{1}, getpid(), &block_);
  EXPECT_TRUE(decided_within(watch, 20s));
}

TEST_F(WatchTest, KnowsAComputingRankFromOneThatWaitsInsideMpi) {
  Watch watch{3, {}};
  watch.add(RankId{1}, getpid(), &block_);
  watch.add(RankId{2}, getpid(), nullptr);
  EXPECT_EQ(watch.place(RankId{1}), Watch::Place::kApplication);
  block_.activity = 1;
  EXPECT_EQ(watch.place(RankId{1}), Watch::Place::kMpiCall);
  block_.native_wait = 1;
  EXPECT_EQ(watch.place(RankId{1}), Watch::Place::kNativeWait);
  EXPECT_EQ(watch.place(RankId{2}), Watch::Place::kUnknown);
}

/// A thread in a blocking call of MPI's sleeps as one that waits for its own process does.
TEST_F(WatchTest, AThreadIsAwaitedForLongerWhileItIsInACallOfMpi) {
  wait_for_anybody();
  const IdleProcess idle;
  see_thread(0, idle.pid());
  block_.threads[0].activity = 1;
  Watch watch{3, {.measured = false}};
  watch.add(RankId{1}, idle.pid(), &block_, true);
  EXPECT_FALSE(decided_within(watch, 500ms));
  block_.threads[0].activity = 2;
  EXPECT_TRUE(decided_within(watch, 500ms));
}

/// OpenMP's threads wait between two parallel regions, while the main thread waits inside MPI.
TEST_F(WatchTest, AThreadThatIsIdleOutsideOfMpiIsNotSaidToWaitInsideForAnother) {
  wait_for_anybody();
  const IdleProcess idle;
  see_thread(0, idle.pid());
  block_.threads[0].activity = 2;
  block_.activity = 1;
  block_.native_wait = 1;
  Watch watch{3, {.measured = false}};
  watch.add(RankId{1}, idle.pid(), &block_, true);
  EXPECT_TRUE(decided_within(watch, 5s));
  ASSERT_TRUE(watch.first_withdrawn());
  EXPECT_FALSE(watch.first_withdrawn()->inside_mpi);
}

/// Given compute times are to give the same answer on a busy host.
TEST_F(WatchTest, AThreadThatCouldRunAndHasNoCoreIsNotTakenForOneThatSpins) {
  wait_for_anybody();
  const BusyProcess hog{SCHED_OTHER};
  const BusyProcess starved{SCHED_IDLE};
  see_thread(0, starved.pid());
  block_.threads[0].activity = 2;
  Watch watch{3, {.measured = false}};
  watch.add(RankId{1}, starved.pid(), &block_, true);
  EXPECT_FALSE(decided_within(watch, 700ms));
  kill(hog.pid(), SIGSTOP);
  const sched_param none{};  // there may be others on its core, whose share it gets now
  ASSERT_EQ(sched_setscheduler(starved.pid(), SCHED_OTHER, &none), 0);
  EXPECT_TRUE(decided_within(watch, 20s)) << "it has spun";
}

/// What one thread has computed says nothing of another.
TEST_F(WatchTest, CpuTimeRaisesTheBoundOfTheThreadThatUsedItAlone) {
  const IdleProcess idle;
  const auto call = [this](ThreadId thread) {
    events::Event event;
    event.kind = events::EventKind::kUnmodelledEnter;
    event.thread = thread;
    engine_.push(RankId{1}, event);
    event.kind = events::EventKind::kUnmodelledExit;
    engine_.push(RankId{1}, event);
  };
  call(ThreadId{0});
  call(ThreadId{1});
  see_thread(0, static_cast<std::int32_t>(gettid()));
  see_thread(1, idle.pid());
  wait_for_anybody();
  Watch watch{3, {.measured = true, .scale = 1e3}};
  watch.add(RankId{1}, getpid(), &block_, true);
  engine_.set_bound(RankId{1}, engine_.clock(RankId{1}, ThreadId{1}) + Duration{1}, ThreadId{1});
  ASSERT_EQ(engine_.awaited_thread(), ThreadId{0});
  const auto limit = used() + 5s;
  while (engine_.awaited_thread() == ThreadId{0} && used() < limit) watch.look(engine_);
  ASSERT_EQ(engine_.awaited_thread(), ThreadId{1});
  // Patience with the idle thread begins anew again and again, however long the host has no core for us.
  auto patient_since = std::chrono::steady_clock::now();
  for (const auto until = used() + 15ms; used() < until; watch.look(engine_)) {
    if (std::chrono::steady_clock::now() - patient_since < 5ms) continue;
    ++block_.answer_head;
    patient_since = std::chrono::steady_clock::now();
  }
  EXPECT_EQ(engine_.awaited(), RankId{1});
  EXPECT_EQ(engine_.awaited_thread(), ThreadId{1});
  EXPECT_EQ(engine_.counters().forced_decisions, 0u);
}

/// What waits for an answer sleeps as long as that takes, which says nothing of the time after it.
TEST_F(WatchTest, PatienceWithARankOfSeveralThreadsBeginsAnewWithEachAnswer) {
  wait_for_anybody();
  const IdleProcess idle;
  see_thread(0, idle.pid());
  Watch watch{3, {.measured = false}};
  watch.add(RankId{1}, idle.pid(), &block_, true);
  look_until_its_patience_is_nearly_over(watch);
  std::this_thread::sleep_for(200ms);
  ++block_.answer_head;
  watch.look(engine_);
  EXPECT_EQ(engine_.counters().forced_decisions, 0u);
  EXPECT_TRUE(decided_within(watch, 5s));
}

/// A simulator that had no core itself has not seen whether the rank's threads had one.
TEST_F(WatchTest, NobodyIsWithdrawnWhoWasNotLookedAtInTheMiddleOfThePatience) {
  wait_for_anybody();
  const IdleProcess idle;
  see_thread(0, idle.pid());
  Watch watch{3, {.measured = false}};
  watch.add(RankId{1}, idle.pid(), &block_, true);
  look_until_its_patience_is_nearly_over(watch);
  EXPECT_EQ(engine_.counters().forced_decisions, 0u);
  EXPECT_TRUE(decided_within(watch, 5s));
}

/// An answer is on its way when the engine waits for one rank, then for another, and for the first again.
TEST_F(WatchTest, PatienceBeginsAnewWhenTheEngineHasWaitedForAnotherMeanwhile) {
  const IdleProcess idle;
  see_thread(0, idle.pid());
  transport::RankBlock other{};
  Watch watch{3, {.measured = false}};
  watch.add(RankId{1}, idle.pid(), &block_, true);
  watch.add(RankId{2}, idle.pid(), &other, true);
  receive_from_anybody();
  const Time sent = engine_.clock(RankId{2});
  engine_.set_bound(RankId{2}, sent + Duration{1});
  look_until_its_patience_is_nearly_over(watch);
  ASSERT_EQ(engine_.awaited(), RankId{1});
  engine_.set_bound(RankId{1}, sent + Duration{2});
  watch.look(engine_);
  ASSERT_EQ(engine_.awaited(), RankId{2});
  std::this_thread::sleep_for(200ms);
  engine_.set_bound(RankId{2}, sent + Duration{3});
  watch.look(engine_);
  ASSERT_EQ(engine_.awaited(), RankId{1});
  EXPECT_EQ(engine_.counters().forced_decisions, 0u);
  EXPECT_TRUE(decided_within(watch, 5s));
}

/// Joins in a loop: what says that a thread waits for its own process gets quicker.
TEST_F(WatchTest, ARankWhoseThreadsWaitForEachOtherAgainAndAgainIsWithdrawnSooner) {
  const auto event = [this](int rank, events::EventKind kind) {
    events::Event e;
    e.kind = kind;
    e.tag = kAnyTag;
    e.peer = kAnySource.value;
    if (kind == events::EventKind::kSend) e.peer = e.tag = 0;
    if (kind == events::EventKind::kRecv) e.flags = events::kNeedsAnswer;
    engine_.push(RankId{rank}, e);
  };
  constexpr int kTimes = 48, kFirst = 6, kQuickest = 16;
  for (int i = 0; i < kTimes; ++i) event(2, events::EventKind::kSend);
  event(2, events::EventKind::kFinalize);
  Watch watch{3, {.measured = true, .scale = 0}};
  const IdleProcess idle;
  watch.add(RankId{1}, idle.pid(), &block_, true);
  see_thread(0, idle.pid());
  std::vector<std::chrono::steady_clock::duration> took;
  for (int i = 0; i < kTimes; ++i) {
    event(0, events::EventKind::kRecv);
    engine_.decide();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(decided_within(watch, 5s)) << i;
    took.push_back(std::chrono::steady_clock::now() - start);
    event(1, events::EventKind::kUnmodelledEnter);
    event(1, events::EventKind::kUnmodelledExit);
    block_.threads[0].activity += 2;
  }
  EXPECT_EQ(engine_.counters().forced_decisions, static_cast<std::uint64_t>(kTimes));
  EXPECT_LT(*std::min_element(took.end() - kQuickest, took.end()) * 2,
            *std::min_element(took.begin(), took.begin() + kFirst));
}

TEST_F(WatchTest, CpuTimeRaisesTheBoundOfARunningRank) {
  wait_for_anybody();
  Watch watch{3, {.measured = true}};
  watch.add(RankId{1}, getpid(), &block_);
  const auto until = std::chrono::steady_clock::now() + 5s;
  while (engine_.awaited() && std::chrono::steady_clock::now() < until)
    watch.look(engine_);  // this is the rank's work
  EXPECT_FALSE(engine_.awaited());
  EXPECT_EQ(engine_.counters().forced_decisions, 0u);
}

/// The kernel's first answer may be older than the rank's last call: what it tells next is partly of before
/// it.
TEST_F(WatchTest, CpuTimeThatMayBeOfBeforeTheLastCallIsNotCredited) {
  const auto compute = [](std::chrono::milliseconds time) {
    const auto until = used() + time;
    while (used() < until) {
    }
    std::this_thread::sleep_for(1ms);  // brings the account up to date
  };
  wait_for_anybody();
  Watch watch{3, {.measured = true}};
  watch.add(RankId{1}, getpid(), &block_);
  compute(5ms);
  watch.look(engine_);
  compute(5ms);
  watch.look(engine_);
  EXPECT_TRUE(engine_.awaited()) << "the first change says only where to begin";
  compute(5ms);
  watch.look(engine_);
  EXPECT_FALSE(engine_.awaited());
}

}  // namespace
}  // namespace nplus1::simnode::node
