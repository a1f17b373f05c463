#include "stubs/runtime/launch/keeper.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include "stubs/runtime/launch/keeper_pmi.hpp"
#include "stubs/runtime/launch/keeper_simulator.hpp"
#include "stubs/runtime/launch/role.hpp"

namespace nplus1::stubs {
namespace {

using std::chrono::milliseconds;

/// Two connected sockets, as between Hydra's proxy and a rank.
struct Sockets {
  Sockets() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("socketpair");
    ours = ends[0];
    theirs = ends[1];
  }
  ~Sockets() {
    close_theirs();
    close(ours);
  }
  void close_theirs() {
    if (theirs >= 0) close(theirs);
    theirs = -1;
  }
  int ours;
  int theirs;
};

/// The given lines arrive at `sockets.ours` one byte per write.
void trickle(Sockets& sockets, std::string_view text) {
  for (const char& c : text) write_all(sockets.theirs, {&c, 1});
}

TEST(LineReader, ReassemblesLinesFromSingleBytesAndSplitsSeveralPerRead) {
  Sockets sockets;
  LineReader lines{sockets.ours};
  trickle(sockets, "cmd=a\n");
  write_all(sockets.theirs, "cmd=b\n\ncmd=c");
  EXPECT_EQ(lines.next(), "cmd=a");
  EXPECT_EQ(lines.next(), "cmd=b");
  EXPECT_EQ(lines.next(), "");
  EXPECT_EQ(lines.next(milliseconds{5}), std::nullopt) << "an unfinished line is no line";
  write_all(sockets.theirs, "d\n");
  EXPECT_EQ(lines.next(), "cmd=cd");
}

TEST(LineReader, EndsAtEndOfFile) {
  Sockets sockets;
  LineReader lines{sockets.ours};
  write_all(sockets.theirs, "last\nrest");
  sockets.close_theirs();
  EXPECT_EQ(lines.next(), "last");
  EXPECT_EQ(lines.next(), std::nullopt);
}

/// Plays Hydra for `barriers` barriers; returns everything that the keeper said, in order.
std::vector<std::string> play_hydra(Sockets& sockets, int barriers) {
  std::vector<std::string> heard;
  LineReader lines{sockets.theirs};
  while (barriers > 0) {
    const auto line = lines.next(milliseconds{2000});
    if (!line) break;
    heard.push_back(*line);
    if (*line == "cmd=barrier_in" && barriers-- > 1) trickle(sockets, "cmd=barrier_out\n");
    if (*line == "cmd=get_my_kvsname") write_all(sockets.theirs, "cmd=my_kvsname kvsname=kvs_7_0\n");
    if (line->compare(0, 7, "cmd=put") == 0) write_all(sockets.theirs, "cmd=put_result rc=0 msg=success\n");
  }
  sockets.close_theirs();
  return heard;
}

TEST(Keeper, PublishesTheWordBetweenTheFirstAndTheSecondBarrier) {
  Sockets sockets;
  Duty duty;
  std::thread keeper{[&] { answer_barriers(sockets.ours, "key,name,host:4711", duty); }};
  const auto heard = play_hydra(sockets, 3);
  keeper.join();
  const std::vector<std::string> expected{"cmd=barrier_in", "cmd=get_my_kvsname",
                                          "cmd=put kvsname=kvs_7_0 key=nplus1 value=key,name,host:4711",
                                          "cmd=barrier_in", "cmd=barrier_in"};
  EXPECT_EQ(heard, expected);
}

TEST(Keeper, AloneOnItsHostTakesLeaveAtTheFirstBarrierAfterTheBeginning) {
  Sockets sockets;
  Duty duty;
  std::thread keeper{[&] { answer_barriers(sockets.ours, "", duty, -1, {}, true); }};
  LineReader lines{sockets.theirs};
  const auto next = [&] { return lines.next(std::chrono::seconds{10}).value_or("nothing"); };
  const auto pass_barrier = [&](const std::string& begun) {
    EXPECT_EQ(next(), "cmd=barrier_in");
    write_all(sockets.theirs, "cmd=barrier_out\n");
    EXPECT_EQ(next(), "cmd=get_my_kvsname");
    write_all(sockets.theirs, "cmd=my_kvsname kvsname=kvs_7_0\n");
    EXPECT_EQ(next(), "cmd=get kvsname=kvs_7_0 key=nplus1-begun");
    write_all(sockets.theirs, begun + "\n");
  };
  pass_barrier("cmd=get_result rc=-1 msg=key_nplus1-begun_not_found value=unknown");
  pass_barrier("cmd=get_result rc=0 msg=success value=1");
  EXPECT_EQ(next(), "cmd=finalize");
  write_all(sockets.theirs, "cmd=finalize_ack\n");
  keeper.join();
  EXPECT_EQ(next(), "nothing") << "who else holds the connection sees its end";
  sockets.close_theirs();
}

TEST(Keeper, AnswersBarriersWithoutASimulator) {
  Sockets sockets;
  Duty duty;
  std::thread keeper{[&] { answer_barriers(sockets.ours, "", duty); }};
  const auto heard = play_hydra(sockets, 3);
  keeper.join();
  EXPECT_EQ(heard, std::vector<std::string>(3, "cmd=barrier_in"));
}

/// A keeper in a process, with what it shares with its successors.
struct KilledKeepers {
  ~KilledKeepers() {
    end();
    munmap(&duty, sizeof(Duty));
  }
  void begin() {
    keeper = fork();
    if (keeper != 0) return;
    close(sockets.theirs);
    answer_barriers(sockets.ours, "", duty);
    _exit(0);
  }
  void end() {
    kill(keeper, SIGKILL);
    waitpid(keeper, nullptr, 0);
  }
  Duty& duty =
      *new (mmap(nullptr, sizeof(Duty), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Duty;
  Sockets sockets;
  pid_t keeper = -1;
};

TEST(Keeper, IsSucceededByOneThatGoesOnWhereItWasKilled) {
  KilledKeepers keepers;
  LineReader lines{keepers.sockets.theirs};
  keepers.begin();
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(lines.next(milliseconds{20000}), "cmd=barrier_in") << i;
    keepers.end();
    const bool out_while_nobody_is_there = i % 2 == 0;
    if (out_while_nobody_is_there) write_all(keepers.sockets.theirs, "cmd=barrier_out\n");
    keepers.begin();
    if (out_while_nobody_is_there) continue;
    EXPECT_EQ(lines.next(milliseconds{2}), std::nullopt) << "entered twice";
    write_all(keepers.sockets.theirs, "cmd=barrier_out\n");
  }
}

/// An executable shell script that plays the simulator.
class Script {
 public:
  explicit Script(const std::string& body)
      : path_{std::filesystem::temp_directory_path() / ("nplus1-script-" + std::to_string(getpid()))} {
    std::ofstream{path_} << "#!/bin/sh\n" << body << '\n';
    chmod(path_.c_str(), 0700);
  }
  ~Script() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// The word that the program gave, with the simulator that gave it.
struct Started {
  explicit Started(const std::string& program, milliseconds limit = milliseconds{5000})
      : simulator{Simulator::prepare().value()} {
    simulator.start(program, "job-1");
    simulator.leave_to_others();
    word = simulator.await_word(limit);
  }
  Simulator simulator;
  std::optional<std::string> word;
};

TEST(Simulator, GivesItsWordAndEndsWhenTheJobDoes) {
  const Script script{
      R"(test "$1 $2" = "--job job-1" || exit 1; echo "ready key,name,host:99"; cat >/dev/null)"};
  Started started{script.path()};
  EXPECT_EQ(started.word, "key,name,host:99");
  started.simulator.finish(milliseconds{5000});
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the simulator was still running or not waited for";
}

TEST(Simulator, RunsWithoutPreloadAndProcessManagerVariables) {
  setenv("PMI_RANK_TEST", "1", 1);
  const Script script{R"(echo "ready [${LD_PRELOAD}${PMI_RANK_TEST}]")"};
  Started started{script.path()};
  unsetenv("PMI_RANK_TEST");
  EXPECT_EQ(started.word, "[]");
  started.simulator.finish(milliseconds{5000});
}

TEST(Simulator, IsGivenUpWhenItDiesOrSaysSomethingElseOrNothing) {
  for (const char* body : {"exit 3", "echo hello", "echo ready", "exec sleep 0.3"}) {
    const Script script{body};
    EXPECT_EQ(Started(script.path(), milliseconds{100}).word, std::nullopt) << body;
    waitpid(-1, nullptr, 0);
  }
  EXPECT_EQ(Started("/nonexistent/simulator").word, std::nullopt);
  waitpid(-1, nullptr, 0);
}

TEST(Environment, ForgetsTheJobAndNothingElse) {
  const std::string mine = "libm.so.6";
  setenv("LD_PRELOAD", ("/proc/self/exe:" + mine).c_str(), 1);  // the test is what would be preloaded
  setenv("NPLUS1_OUTPUT", "here", 1);
  setenv("NPLUS1_SHRUNK", "job", 1);
  setenv("PMI_SIZE", "4", 1);
  forget_job_environment();
  EXPECT_EQ(std::string{getenv("LD_PRELOAD")}, mine);
  EXPECT_EQ(getenv("NPLUS1_OUTPUT"), nullptr);
  EXPECT_EQ(getenv("NPLUS1_SHRUNK"), nullptr);
  EXPECT_EQ(std::string{getenv("PMI_SIZE")}, "4");
  setenv("LD_PRELOAD", "/proc/self/exe", 1);
  forget_job_environment();
  EXPECT_EQ(getenv("LD_PRELOAD"), nullptr);
  unsetenv("PMI_SIZE");
}

TEST(Role, IsPassiveOutsideOfMpirun) {
  EXPECT_EQ(role(), Role::kPassive);
}

TEST(JobName, ComesFromHydrasProxyOnly) {
  Sockets sockets;
  setenv("PMI_FD", std::to_string(sockets.ours).c_str(), 1);
  EXPECT_EQ(job_name(), "") << "a socket of somebody else was taken for Hydra's";
  std::ifstream stat{"/proc/self/stat"};
  std::string field;
  for (int i = 0; i < 22; ++i) stat >> field;  // the command name of this test has no blanks
  prctl(PR_SET_NAME, "hydra_pmi_proxy");
  EXPECT_EQ(job_name(), "nplus1-" + std::to_string(getpid()) + "-" + field);
  unsetenv("PMI_FD");
  EXPECT_EQ(job_name(), "");
}

}  // namespace
}  // namespace nplus1::stubs
