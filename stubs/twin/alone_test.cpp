#include "stubs/twin/alone.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace nplus1::stubs::twin {
namespace {

/// Whether a copy of this process sees `condition`, once it has done `change`; true where it may not do that.
template <class Change, class Condition>
bool holds_after(Change&& change, Condition&& condition) {
  const pid_t child = fork();
  if (child == 0) _exit(change() != 0 || condition(look_around()) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(Alone, IsAProcessThatDoesNothingSpecial) {
  const Alone here = look_around();
  EXPECT_EQ(here.threads, 1);
  EXPECT_TRUE(here.may_have_a_twin(1));
}

TEST(Alone, IsNoProcessWithAnotherThread) {
  bool may = true;
  std::thread{[&] { may = look_around().may_have_a_twin(1); }}.join();
  EXPECT_FALSE(may);
}

TEST(Alone, IsNoProcessThatADebuggerFollows) {
  const auto change = [] { return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); };
  EXPECT_TRUE(holds_after(change, [](const Alone& a) { return a.traced && !a.may_have_a_twin(1); }));
}

TEST(Alone, IsNoProcessWithAFilterOfItsOwn) {
  const auto change = [] {
    sock_filter all[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    const sock_fprog filter{1, all};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
  };
  EXPECT_TRUE(holds_after(change, [](const Alone& a) { return a.filtered && !a.may_have_a_twin(1); }));
}

TEST(Alone, IsNoProcessWhoseNextChildIsTheFirstOfItsNamespace) {
  const auto change = [] { return unshare(CLONE_NEWPID); };
  EXPECT_TRUE(holds_after(change, [](const Alone& a) { return a.bears_the_first && !a.may_have_a_twin(1); }));
}

}  // namespace
}  // namespace nplus1::stubs::twin
