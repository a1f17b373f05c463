#include "events/source/source_lines.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
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

// Inlined into its caller: both have a line at the same address.
extern "C" inline __attribute__((always_inline)) const void* an_inlined_function(int* line) {
  *line = __LINE__ + 1;
  const void* here = where_i_return_to();
  asm volatile("" ::: "memory");
  return here;
}
extern "C" __attribute__((noinline, visibility("default"))) const void* its_caller(int* line, int* outer) {
  *outer = __LINE__ + 1;
  return an_inlined_function(line);
}

// As gfortran calls a procedure of a module.
extern "C" __attribute__((noinline, visibility("default"))) const void* sweep(int* line) asm(
    "__solver_MOD_sweep");
const void* sweep(int* line) {
  *line = __LINE__ + 1;
  const void* here = where_i_return_to();
  asm volatile("" ::: "memory");
  return here;
}

namespace nplus1::events::source {
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

TEST(SourceLines, NameProceduresOfFortranModulesAsPeopleDo) {
  int line = 0;
  const void* address = sweep(&line);
  SourceLines lines;
  EXPECT_EQ(lines.call_returning_to(this_program(), offset_of(address)),
            "solver::sweep (source_lines_test.cpp:" + std::to_string(line) + ")");
}

TEST(SourceLines, ExpandInlinedFunctionsIntoFramesOfTheSameAddress) {
  int line = 0;
  int outer = 0;
  const std::uint64_t offset = offset_of(its_caller(&line, &outer));
  SourceLines lines;
  const auto frames = lines.resolve({this_program(), {}, offset, {}, {}, 0});
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "an_inlined_function");
  EXPECT_EQ(frames[0].line, static_cast<std::uint32_t>(line));
  EXPECT_EQ(frames[1].function, "its_caller");
  EXPECT_EQ(frames[1].line, static_cast<std::uint32_t>(outer));
  for (const events::Frame& f : frames) {
    EXPECT_TRUE(f.file.ends_with("source_lines_test.cpp")) << f.file;
    EXPECT_EQ(f.offset, offset);
    EXPECT_EQ(f.module, this_program());
  }
}

class Solver {
 public:
  __attribute__((always_inline)) const void* step(int* line) {
    if (count_++ == 0) {  // a block of its own
      *line = __LINE__ + 1;
      const void* here = where_i_return_to();
      asm volatile("" ::: "memory");
      return here;
    }
    return nullptr;
  }
  __attribute__((noinline)) const void* solve(int* line, int* outer) {
    *outer = __LINE__ + 1;
    return step(line);
  }

 private:
  int count_ = 0;
};

TEST(SourceLines, NameFunctionsByTheScopesTheyAreDeclaredIn) {
  int line = 0;
  int outer = 0;
  const std::uint64_t offset = offset_of(Solver{}.solve(&line, &outer));
  SourceLines lines;
  const auto frames = lines.resolve({this_program(), {}, offset, {}, {}, 0});
  ASSERT_GE(frames.size(), 2u);
  const std::string scope = "nplus1::events::source::(anonymous namespace)::Solver::";
  EXPECT_EQ(frames[0].function.substr(0, frames[0].function.find('(', scope.size())), scope + "step");
  EXPECT_EQ(frames[0].line, static_cast<std::uint32_t>(line));
  EXPECT_EQ(frames[1].function.substr(0, frames[1].function.find('(', scope.size())), scope + "solve");
  EXPECT_EQ(frames[1].line, static_cast<std::uint32_t>(outer));
}

TEST(SourceLines, ExpandInlinedFunctionsOfAProgramThatWasLinkedAsOne) {
  const std::unique_ptr<FILE, int (*)(FILE*)> told{popen(NPLUS1_LINKED_AS_ONE, "r"), pclose};
  unsigned long long offset = 0;
  unsigned line = 0, outer = 0;
  ASSERT_EQ(std::fscanf(told.get(), "%llx %u %u", &offset, &line, &outer), 3);
  SourceLines lines;
  const auto frames = lines.resolve({NPLUS1_LINKED_AS_ONE, {}, offset, {}, {}, 0});
  ASSERT_GE(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "solver::step(int*)");
  EXPECT_EQ(frames[0].line, line);
  EXPECT_EQ(frames[1].function, "solver::solve(int*, int*)");
  EXPECT_EQ(frames[1].line, outer);
}

TEST(SourceLines, LeaveAFrameOfAnotherBuildAlone) {
  int line = 0;
  const std::uint64_t offset = offset_of(a_known_function(&line));
  SourceLines lines;
  const auto frames = lines.resolve({this_program(), "0123456789abcdef", offset, {}, {}, 0});
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "");
  EXPECT_EQ(frames[0].line, 0u);
  EXPECT_EQ(frames[0].offset, offset);
}

TEST(SourceLines, NameTheFunctionAtAnAddress) {
  SourceLines lines;
  char place[32];
  std::snprintf(place, sizeof(place), "+0x%llx",
                static_cast<unsigned long long>(offset_of(reinterpret_cast<const void*>(&its_caller))));
  EXPECT_EQ(lines.function_at(this_program() + place), "its_caller");
  EXPECT_EQ(lines.function_at("solve"), "solve");
  EXPECT_EQ(lines.function_at("/nonexistent/app+0x10"), "/nonexistent/app+0x10");
}

TEST(SourceLines, FallBackToModuleAndOffset) {
  SourceLines lines;
  EXPECT_EQ(lines.call_returning_to("/nonexistent/app", 0x1a2b), "app+0x1a2b");
  EXPECT_EQ(lines.call_returning_to("/nonexistent/app", 0), "app+0x0");
  EXPECT_EQ(lines.call_returning_to("/etc/passwd", 5), "passwd+0x5");
}

}  // namespace
}  // namespace nplus1::events::source
