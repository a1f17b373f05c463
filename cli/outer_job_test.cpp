#include "cli/outer_job.hpp"

#include <gtest/gtest.h>

namespace nplus1::cli {
namespace {

TEST(OuterJob, LeavesWhatElseIsPreloaded) {
  EXPECT_EQ(without_stubs(""), "");
  EXPECT_EQ(without_stubs("/a/lib/libnplus1-stubs.so"), "");
  EXPECT_EQ(without_stubs("libnplus1-stubs.so"), "");
  EXPECT_EQ(without_stubs("/a/libnplus1-stubs.so:/b/libm.so.6"), "/b/libm.so.6");
  EXPECT_EQ(without_stubs("one.so /a/libnplus1-stubs.so:two.so"), "one.so:two.so");
  EXPECT_EQ(without_stubs("my-libnplus1-stubs.so.2"), "my-libnplus1-stubs.so.2");
}

}  // namespace
}  // namespace nplus1::cli
