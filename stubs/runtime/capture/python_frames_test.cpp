// What needs no interpreter; tests/mpi/python_test.py has the rest.
#include "stubs/runtime/capture/python_frames.hpp"

#include <gtest/gtest.h>

namespace nplus1::stubs {
namespace {

TEST(PythonFrames, KnowReleasesOfTheUsualBuildAlone) {
  EXPECT_EQ(minor_version("3.11.2 (main, Apr 28 2025, 14:11:48) [GCC 12.2.0]"), 11);
  EXPECT_EQ(minor_version("3.8.18+ (heads/3.8)"), 8);
  EXPECT_EQ(minor_version("3.13.0rc2 (main)"), 13);
  EXPECT_EQ(minor_version("3.9.1"), 9);
  for (const char* other :
       {"3.13.0 experimental free-threading build (main)", "3.14.0a1 (main)", "3.14.0b3", "2.7.18 (default)",
        "4.0.0", "3.", "3.11", "3.x.1", "", "3.99999999999999999999.0"})
    EXPECT_EQ(minor_version(other), std::nullopt) << other;
}

TEST(PythonFrames, AreNotThereWithoutAnInterpreter) {
  EXPECT_EQ(PythonFrames::make(), nullptr);
}

}  // namespace
}  // namespace nplus1::stubs
