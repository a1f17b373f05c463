#include "simnode/node/source_lines.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

// Called from a line that the test knows; returns where it returns to. `extern "C"`: a name without mangling.
extern "C" __attribute__((noinline)) const void* where_i_return_to() {
  asm volatile("");
  return __builtin_return_address(0);
}
extern "C" __attribute__((noinline, visibility("default"))) const void* a_known_function(int* line) {
  *line = __LINE__ + 1;
  const void* here = where_i_return_to();
  asm volatile("" ::: "memory");  // no tail call
  return here;
}

namespace nplus1::simnode::node {
namespace {

std::string this_program() {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), static_cast<std::size_t>(n > 0 ? n : 0)};
}

std::uint64_t offset_of(const void* address) {
  Dl_info info{};
  EXPECT_NE(dladdr(address, &info), 0);
  return static_cast<std::uint64_t>(static_cast<const char*>(address) -
                                    static_cast<const char*>(info.dli_fbase));
}

TEST(SourceLines, NameFunctionFileAndLineOfACall) {
  int line = 0;
  const void* address = a_known_function(&line);
  SourceLines lines;
  EXPECT_EQ(lines.call_returning_to(this_program(), offset_of(address)),
            "a_known_function (source_lines_test.cpp:" + std::to_string(line) + ")");
}

TEST(SourceLines, FallBackToModuleAndOffset) {
  SourceLines lines;
  EXPECT_EQ(lines.call_returning_to("/nonexistent/app", 0x1a2b), "app+0x1a2b");
  EXPECT_EQ(lines.call_returning_to("/nonexistent/app", 0), "app+0x0");
  EXPECT_EQ(lines.call_returning_to("/etc/passwd", 5), "passwd+0x5");
}

}  // namespace
}  // namespace nplus1::simnode::node
