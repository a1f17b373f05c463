// A simulator that dawdles, for tests: virtual times must not depend on how fast it is. Single-threaded.
#pragma once

#include <chrono>
#include <random>
#include <string>

namespace nplus1::simnode::node {

class TestDelay {
 public:
  /// `SECONDS` after each event, or `random:SEED:MAX` for lengths between 0 and MAX seconds. Anything else:
  /// none.
  explicit TestDelay(const std::string& text);
  /// The length of the next pause.
  [[nodiscard]] std::chrono::duration<double> next();
  void pause();

 private:
  double longest_ = 0;
  bool random_ = false;
  std::mt19937_64 generator_;
};

}  // namespace nplus1::simnode::node
