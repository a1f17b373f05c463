#include "stubs/statistics/request_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "stubs/statistics/tables.hpp"

namespace nplus1::stubs::statistics {
namespace {

/// In each of its parts the same number, so that a mixture of two can be told.
RequestUse use_of(std::uint64_t number) {
  RequestUse use;
  use.peer = static_cast<std::int32_t>(number);
  use.communicator = number;
  use.ordinal = number;
  use.members = static_cast<std::uint32_t>(number);
  use.ranges = static_cast<std::uint32_t>(number);
  return use;
}

bool is_of(const RequestUse& use, std::uint64_t number) {
  return use.peer == static_cast<std::int32_t>(number) && use.communicator == number &&
         use.ordinal == number && use.members == number && use.ranges == number;
}

TEST(RequestTable, KnowsWhatWasNotedLast) {
  RequestTable table{false};
  EXPECT_FALSE(table.find(7));
  table.note(7, use_of(1));
  table.note(8, use_of(2));
  table.note(7, use_of(3));
  ASSERT_TRUE(table.find(7));
  EXPECT_TRUE(is_of(*table.find(7), 3));
  EXPECT_TRUE(is_of(*table.find(8), 2));
}

/// More requests than there are places: whatever is known is known of that request.
TEST(RequestTable, NeverTellsOfOneRequestWhatIsKnownOfAnother) {
  constexpr std::uint64_t kMany = 4 * RequestTable::kSets * RequestTable::kWays;
  RequestTable table{false};
  for (std::uint64_t handle = 1; handle <= kMany; ++handle) table.note(handle, use_of(handle));
  std::uint64_t known = 0;
  for (std::uint64_t handle = 1; handle <= kMany; ++handle) {
    const auto use = table.find(handle);
    if (!use) continue;
    ++known;
    ASSERT_TRUE(is_of(*use, handle)) << handle;
  }
  EXPECT_GT(known, kMany / 8);
}

/// The first that are all in one set.
std::vector<std::uint64_t> rivals(std::size_t count) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t handle = 1; found.size() < count; ++handle)
    if (mix(handle, 0) % RequestTable::kSets == 0) found.push_back(handle);
  return found;
}

TEST(RequestTable, NeverTellsAThreadOfItsRequestWhatAnotherHasNotedMeanwhile) {
  constexpr std::size_t kThreads = 4, kEach = 4;
  constexpr int kRounds = 100'000;
  const std::vector<std::uint64_t> handles = rivals(kThreads * kEach);
  RequestTable table{true};
  std::atomic<std::uint64_t> known{0}, wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t handle = handles[t * kEach + static_cast<std::size_t>(round) % kEach];
        table.note(handle, use_of(handle));
        if (const auto use = table.find(handle)) ++(is_of(*use, handle) ? known : wrong);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(known, 0U);
}

}  // namespace
}  // namespace nplus1::stubs::statistics
