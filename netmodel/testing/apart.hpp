// For tests of SimGrid, which allows one network per process: a piece of a test in a child process.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

namespace nplus1::netmodel {

/// What a child has to say for itself.
inline std::string failures() {
  std::string text;
  const auto& result = *::testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); ++i) text += result.GetTestPartResult(i).summary();
  return text;
}

/// Runs `body` in a child process and fails where it does.
template <class Body>
void apart(Body body) {
  EXPECT_EXIT(
      {
        body();
        std::fflush(stdout);
        if (!::testing::Test::HasFailure()) std::_Exit(0);
        std::cerr << failures() << std::endl;
        std::_Exit(1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace nplus1::netmodel
