// Runs a helper program and takes what it prints.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace nplus1::cli {

struct Output {
  int exit_code = -1;  // 128 + signal if a signal ended it; -1 if it could not be started
  std::string text;    // stdout, and stderr if asked for
  bool timed_out = false;
};

/// Waits at most `limit`, then kills the child. Its stdin is empty.
[[nodiscard]] Output capture(const std::vector<std::string>& words, std::chrono::seconds limit,
                             bool with_errors = false);

}  // namespace nplus1::cli
