// Runs a helper program and takes what it prints.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace nplus1::processes {

struct Output {
  int exit_code = -1;  // 128 + signal if a signal ended it; -1 if it could not be started
  std::string text;    // stdout, and stderr if asked for
  bool timed_out = false;
};

/// Waits at most `limit`, then kills the child. Its stdin is empty; it runs in `directory`, empty: in ours.
[[nodiscard]] Output capture(const std::vector<std::string>& words, std::chrono::seconds limit,
                             bool with_errors = false, const std::string& directory = {});

/// How a stream() ended.
struct Streamed {
  int exit_code = -1;   // as in Output
  bool silent = false;  // it was killed, because no line came for too long
};

/// Runs `words` and hands over each line of its stdout as it comes; its stdin is empty, its stderr ours. A
/// child that prints nothing for `patience` is sent SIGTERM, and SIGKILL 4 s later; so it is if this process is
/// ended or killed. An interrupt of the terminal's reaches it by itself.
[[nodiscard]] Streamed stream(const std::vector<std::string>& words, std::chrono::seconds patience,
                              const std::function<void(const std::string&)>& on_line);

/// LD_PRELOAD for programs that are started with it set anew: `libraries`, and behind them what it names in this process,
/// which is the user's.
[[nodiscard]] std::string preloaded_before_the_users(const std::string& libraries);

}  // namespace nplus1::processes
