#include "stubs/clock/first_touch.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace nplus1::stubs {
namespace {

constexpr std::size_t kPage = 4096;

/// As a program does that fills an array of its own.
void touch(std::size_t pages) {
  void* const memory =
      mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, pages * kPage, MADV_NOHUGEPAGE);
  for (std::size_t page = 0; page < pages; ++page) static_cast<volatile char*>(memory)[page * kPage] = 1;
  munmap(memory, pages * kPage);
}

TEST(FirstTouch, CountsPagesAndTellsWhatEachTakes) {
  FirstTouch pages;
  for (const std::size_t count : {100U, 5000U, 1000U}) {
    pages.begin();
    touch(count);
    const PageFaults faults = pages.end();
    EXPECT_GE(faults.count, static_cast<std::int64_t>(count));
    EXPECT_LT(faults.count, static_cast<std::int64_t>(count) + 50);
    EXPECT_GT(faults.each_ns, 50);
    EXPECT_LT(faults.each_ns, 50'000);
  }
}

TEST(FirstTouch, OfFewPagesIsNothing) {
  FirstTouch pages;
  pages.begin();
  touch(20);
  EXPECT_EQ(pages.end().count, 0);
}

TEST(FirstTouch, CountsWhatHasBegunOnly) {
  FirstTouch pages;
  touch(1000);
  EXPECT_EQ(pages.end().count, 0);
  pages.begin();
  touch(1000);
  EXPECT_GE(pages.end().count, 1000);
  touch(1000);
  EXPECT_EQ(pages.end().count, 0);
  pages.begin();
  touch(1000);
  pages.forget();
  EXPECT_EQ(pages.end().count, 0);
}

/// What it touches itself is not the program's; and there is no more of it than once.
TEST(FirstTouch, LeavesNothingBehindButOneMeasurement) {
  const auto own = [] {
    FirstTouch pages;
    pages.begin();
    touch(5000);
    static_cast<void>(pages.end());
    pages.begin();
    return pages.end().count;
  };
  EXPECT_EQ(own(), 0);
}

}  // namespace
}  // namespace nplus1::stubs
