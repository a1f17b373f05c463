#include "stubs/runtime/capture/call_paths.hpp"

#include <alloca.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <thread>

namespace nplus1::stubs {
namespace {

using Lines = std::vector<std::string>;

struct Defined {
  std::map<std::uint32_t, Lines> paths;
  CallPaths::Define sink() {
    return [this](CallSiteId id, const std::string& frames) {
      std::istringstream text{frames};
      for (std::string line; std::getline(text, line);) paths[id.value].push_back(line);
    };
  }
};

#define NPLUS1_NOINLINE __attribute__((noinline, noipa))

/// Stands for an MPI function.
NPLUS1_NOINLINE CallSiteId call(CallPaths& paths) {
  return paths.id(__builtin_return_address(0), __builtin_frame_address(0));
}
NPLUS1_NOINLINE CallSiteId inner(CallPaths& paths) {
  const CallSiteId id = call(paths);
  asm volatile("" ::: "memory");  // no tail call
  return id;
}
NPLUS1_NOINLINE CallSiteId left(CallPaths& paths) {
  const CallSiteId id = inner(paths);
  asm volatile("" ::: "memory");
  return id;
}
NPLUS1_NOINLINE CallSiteId right(CallPaths& paths) {
  const CallSiteId id = inner(paths);
  asm volatile("" ::: "memory");
  return id;
}
/// A frame whose size changes from call to call.
NPLUS1_NOINLINE CallSiteId padded(CallPaths& paths, std::size_t bytes, CallSiteId (*next)(CallPaths&)) {
  auto* memory = static_cast<char*>(alloca(bytes));
  std::memset(memory, 0, bytes);
  const CallSiteId id = next(paths);
  asm volatile("" : : "r"(memory) : "memory");
  return id;
}
NPLUS1_NOINLINE CallSiteId recursive(CallPaths& paths, int depth) {
  const CallSiteId id = depth == 0 ? inner(paths) : recursive(paths, depth - 1);
  asm volatile("" ::: "memory");
  return id;
}

TEST(CallPaths, GiveEqualPathsEqualNumbersAndDefineEachOnce) {
  Defined defined;
  CallPaths paths{2, defined.sink()};
  CallSiteId first{};
  for (int i = 0; i < 3; ++i) {
    const CallSiteId id = left(paths);
    if (i > 0) {
      EXPECT_EQ(id, first);
    }
    first = id;
  }
  EXPECT_EQ(defined.paths.size(), 1u);
  EXPECT_EQ(defined.paths[first.value].size(), 2u);
}

TEST(CallPaths, TellCallersApartThatShareTheInnermostCall) {
  Defined defined;
  CallPaths paths{2, defined.sink()};
  const CallSiteId a = left(paths);
  const CallSiteId b = right(paths);
  EXPECT_NE(a, b);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(left(paths), a);
    EXPECT_EQ(right(paths), b);
  }
  EXPECT_EQ(defined.paths[a.value][0], defined.paths[b.value][0]);
  EXPECT_NE(defined.paths[a.value][1], defined.paths[b.value][1]);
}

TEST(CallPaths, DoNotDependOnWhereTheStackStands) {
  Defined defined;
  CallPaths paths{2, defined.sink()};
  const CallSiteId a = left(paths);
  for (std::size_t bytes = 0; bytes < 2000; bytes += 48) {
    EXPECT_EQ(padded(paths, bytes, left), a);
    EXPECT_NE(padded(paths, bytes, right), a);
  }
  CallSiteId elsewhere{};
  std::thread{[&] { elsewhere = left(paths); }}.join();
  EXPECT_EQ(elsewhere, a);
}

TEST(CallPaths, SeeRecursionAsFarAsTheFramesGo) {
  Defined defined;
  CallPaths paths{4, defined.sink()};
  EXPECT_NE(recursive(paths, 0), recursive(paths, 1));
  EXPECT_EQ(recursive(paths, 7), recursive(paths, 9));  // inner and three times recursive
}

TEST(CallPaths, OfOneFrameAreReturnAddresses) {
  Defined defined;
  CallPaths paths{1, defined.sink()};
  EXPECT_EQ(left(paths), right(paths));
  EXPECT_EQ(defined.paths[1].size(), 1u);
}

TEST(CallPaths, WithoutTheFrameAreTheAddressAlone) {
  Defined defined;
  CallPaths paths{4, defined.sink()};
  static const int somewhere = 0;
  EXPECT_EQ(paths.id(&somewhere, nullptr), paths.id(&somewhere, nullptr));
  EXPECT_EQ(defined.paths[1].size(), 1u);
}

}  // namespace
}  // namespace nplus1::stubs
