#include "support/processes/programs.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "support/processes/child.hpp"

namespace nplus1::processes {
namespace {

using namespace std::chrono_literals;

/// Waits for at most 20 s: it is gone, or nobody's child that waits to be collected.
bool ends(pid_t pid) {
  for (int i = 0; i < 400; ++i) {
    if (kill(pid, 0) != 0) return true;
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

/// Runs a shell that says its number and then `rest`, in a process that is ended by `signal` once it has.
pid_t streaming_until(int signal, const std::string& rest) {
  auto said = make_pipe();
  auto streaming = fork_child([&] {
    ::signal(signal, SIG_DFL);  // a shell may have told us to pass it by
    static_cast<void>(stream({"sh", "-c", "echo $$; " + rest}, 60s, [&](const std::string& line) {
      write_all(said->second.get(), line);
      said->second.close();
    }));
    return 0;
  });
  said->second.close();
  const pid_t program = std::stoi(read_all(said->first.get()));
  kill(streaming->pid(), signal);
  EXPECT_EQ(streaming->wait().signal, signal);
  return program;
}

TEST(Stream, HandsOverLinesAndTheExitCode) {
  std::vector<std::string> lines;
  const auto take = [&](const std::string& line) { lines.push_back(line); };
  const Streamed done = stream({"sh", "-c", "echo one; echo two; exit 5"}, 60s, take);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(done.exit_code, 5);
  EXPECT_FALSE(done.silent);
  EXPECT_EQ(stream({"sh", "-c", "kill -9 $$"}, 60s, take).exit_code, 128 + SIGKILL);
  EXPECT_EQ(stream({"/no/such/program"}, 60s, take).exit_code, 127);
}

TEST(Stream, EndsWhatSaysNothing) {
  const auto nothing = [](const std::string&) {};
  EXPECT_TRUE(stream({"sleep", "60"}, 1s, nothing).silent);
  EXPECT_TRUE(stream({"sh", "-c", "trap '' TERM; while :; do sleep 1; done"}, 1s, nothing).silent);
}

TEST(Stream, EndsItsProgramWithThisProcessHoweverThatEnds) {
  for (const int signal : {SIGTERM, SIGKILL, SIGHUP})
    EXPECT_TRUE(ends(streaming_until(signal, "exec sleep 60"))) << signal;
  EXPECT_TRUE(ends(streaming_until(SIGTERM, "trap '' TERM; while :; do sleep 1; done")));
}

/// An mpirun that has to be killed leaves its proxies, and those the ranks, in sessions of their own.
TEST(Stream, EndsWhatAProgramThatHasToBeKilledHasStarted) {
  std::vector<std::string> said;
  const std::string starts =
      "trap '' TERM; setsid sh -c 'setsid sleep 60 & echo $!; wait' & while :; do sleep 1; done";
  EXPECT_TRUE(
      stream({"sh", "-c", starts}, 1s, [&](const std::string& line) { said.push_back(line); }).silent);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(ends(std::stoi(said.front())));
}

TEST(PreloadedBeforeTheUsers, KeepsWhatTheUserPreloads) {
  const char* const set = std::getenv("LD_PRELOAD");
  const std::string before = set == nullptr ? "" : set;
  setenv("LD_PRELOAD", "/b/libm.so.6", 1);
  EXPECT_EQ(preloaded_before_the_users("/a/ours.so"), "/a/ours.so:/b/libm.so.6");
  EXPECT_EQ(preloaded_before_the_users(""), "/b/libm.so.6");
  setenv("LD_PRELOAD", "", 1);
  EXPECT_EQ(preloaded_before_the_users("/a/ours.so"), "/a/ours.so");
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(preloaded_before_the_users("/a/ours.so"), "/a/ours.so");
  if (set != nullptr) setenv("LD_PRELOAD", before.c_str(), 1);
}

}  // namespace
}  // namespace nplus1::processes
