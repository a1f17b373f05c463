#include "stubs/guard/guard.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <thread>
#include <vector>

#include "stubs/runtime/hooks/progress_hook.hpp"

extern "C" unsigned ucp_worker_progress(void*);

namespace nplus1::stubs {

namespace {
int sleeps = 0;
}

/// Stands in for the runtime's doorbell: replaces the weak default.
void idle_wait() noexcept {
  ++sleeps;
}

namespace {

/// The runtime is active for the duration of a test.
struct Active {
  Active() { set_active(true); }
  ~Active() { set_active(false); }
};

TEST(DepthGuard, ObservesTheOutermostCallOnly) {
  const Active active;
  int outer_site = 0;
  int inner_site = 0;
  const DepthGuard outer{MpiCall::MPI_File_open, &outer_site};
  EXPECT_TRUE(outer.observed());
  {
    const DepthGuard inner{MpiCall::MPI_Bcast, &inner_site};
    EXPECT_FALSE(inner.outermost());
    EXPECT_FALSE(inner.observed());
    EXPECT_EQ(current_call(), MpiCall::MPI_File_open) << "the application called File_open, not Bcast";
    EXPECT_EQ(call_site(), &outer_site);
  }
  EXPECT_EQ(current_call(), MpiCall::MPI_File_open);
}

/// Calls deeper than the one that was left, over what that has left on the stack.
__attribute__((noinline)) bool observed_at(int depth) {
  volatile char room[128];
  room[0] = static_cast<char>(depth);
  if (depth > 0) return observed_at(depth - 1) && room[0] != 0;
  const DepthGuard guard{MpiCall::MPI_Bcast, __builtin_return_address(0), __builtin_frame_address(0)};
  return guard.observed();
}

jmp_buf back;

__attribute__((noinline)) void leave_by_longjmp() {
  const DepthGuard guard{MpiCall::MPI_Send, __builtin_return_address(0), __builtin_frame_address(0)};
  std::longjmp(back, 1);
}

__attribute__((noinline)) bool nested_is_observed() {
  const DepthGuard guard{MpiCall::MPI_Send, __builtin_return_address(0), __builtin_frame_address(0)};
  return observed_at(2);
}

/// In every call, observed or not, but for reading the clock, which waits for nobody.
TEST(DepthGuard, ShowsThatItsThreadIsInsideMpi) {
  const Active active;
  static std::vector<bool> shown;
  shown.clear();
  call_state.show = [](bool inside) { shown.push_back(inside); };
  {
    const DepthGuard outer{MpiCall::MPI_Type_commit, nullptr};
    const DepthGuard inner{MpiCall::MPI_Type_size, nullptr};
    EXPECT_EQ(shown, std::vector{true});
  }
  EXPECT_EQ(shown, (std::vector{true, false}));
  {
    const DepthGuard clock{MpiCall::MPI_Wtime, nullptr};
    EXPECT_EQ(shown, (std::vector{true, false}));
  }
  call_state.show = nullptr;
}

TEST(DepthGuard, ACallThatWasLeftByLongjmpIsNoneAroundTheNext) {
  const Active active;
  note_callbacks();
  volatile int depth = 0;
  while (depth < 20) {
    if (setjmp(back) == 0) leave_by_longjmp();
    EXPECT_EQ(call_state.depth, 1);
    EXPECT_TRUE(observed_at(depth)) << depth;
    EXPECT_EQ(call_state.depth, 0);
    depth = depth + 1;
  }
  EXPECT_FALSE(nested_is_observed());
  EXPECT_TRUE(observed_at(0));
}

TEST(DepthGuard, ObservesNothingWhileTheRuntimeIsNotActive) {
  const DepthGuard guard{MpiCall::MPI_Init, nullptr};
  EXPECT_TRUE(guard.outermost());
  EXPECT_FALSE(guard.observed());
}

/// The exit code of `child`, run in a process that `fork_it` makes.
template <class Fork>
int exit_code_of_child(Fork&& fork_it, int (*child)()) {
  const auto pid = static_cast<pid_t>(fork_it());
  if (pid == 0) _exit(child());
  int status = -1;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkedChild, IsNoRankHoweverItWasForked) {
  const Active active;
  const auto observes = [] { return DepthGuard{MpiCall::MPI_Send, nullptr}.observed() ? 1 : 0; };
  EXPECT_EQ(exit_code_of_child([] { return fork(); }, observes), 0);
  EXPECT_EQ(exit_code_of_child([] { return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }, observes), 0);
  EXPECT_EQ(observes(), 1) << "the parent still is one";
}

TEST(DepthGuard, IsUndoneByAnExceptionThatACallbackThrows) {
  const Active active;
  try {
    const DepthGuard guard{MpiCall::MPI_Comm_call_errhandler, nullptr};
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(current_call(), MpiCall::kNone);
  const DepthGuard next{MpiCall::MPI_Send, nullptr};
  EXPECT_TRUE(next.observed());
}

TEST(DepthGuard, KeepsThreadsApart) {
  const Active active;
  const DepthGuard here{MpiCall::MPI_Recv, nullptr};
  std::thread{[] {
    const DepthGuard there{MpiCall::MPI_Send, nullptr};
    EXPECT_TRUE(there.observed());
    EXPECT_EQ(current_call(), MpiCall::MPI_Send);
  }}.join();
  EXPECT_EQ(current_call(), MpiCall::MPI_Recv);
}

TEST(CountCall, LosesNothingBetweenThreads) {
  const auto before = calls_counted(MpiCall::MPI_Wtick);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 10000; ++i) count_call(MpiCall::MPI_Wtick);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(calls_counted(MpiCall::MPI_Wtick) - before, 40000U);
}

void poll(int times) {
  for (int i = 0; i < times; ++i) EXPECT_EQ(ucp_worker_progress(nullptr), 0U);
}

// This test program has no UCX: the hook must not need it, and each poll of it is an idle one.
TEST(ProgressHook, SleepsAfterFiveIdlePollsAndTwoYieldsOfOneCall) {
  const DepthGuard guard{MpiCall::MPI_Recv, nullptr};
  sleeps = 0;
  poll(7);
  EXPECT_EQ(sleeps, 0);
  poll(3);
  EXPECT_EQ(sleeps, 3);
}

TEST(ProgressHook, NeverSleepsInAProgramThatPollsWithManyShortCalls) {
  sleeps = 0;
  for (int i = 0; i < 100; ++i) {
    const DepthGuard guard{MpiCall::MPI_Test, nullptr};
    poll(2);
  }
  EXPECT_EQ(sleeps, 0);
}

}  // namespace
}  // namespace nplus1::stubs
