// A job's file of statistics, sound and damaged, from its bytes to its patterns.
#include "patterns/counted.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

#include "events/mpi_call.hpp"
#include "events/statistics/testing/page_bytes.hpp"
#include "patterns/difference.hpp"
#include "patterns/first_screen.hpp"
#include "patterns/patterns_json.hpp"

namespace nplus1::patterns {
namespace {

namespace fs = std::filesystem;
namespace page = events::statistics;
using events::MpiCall;
using page::MadePage;

constexpr auto kSend = static_cast<std::uint16_t>(MpiCall::MPI_Send);
constexpr auto kAllreduce = static_cast<std::uint16_t>(MpiCall::MPI_Allreduce);

class Counted : public testing::Test {
 protected:
  Counted() { fs::create_directories(folder_); }
  ~Counted() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path file(const std::string& bytes) const {
    const fs::path path = folder_ / "job.n1stat";
    std::ofstream{path, std::ios::binary} << bytes;
    return path;
  }
  /// Empty: it is sound.
  [[nodiscard]] std::string refusal(const std::string& bytes) const {
    const auto pages = page::read_pages(file(bytes));
    if (!pages) return pages.error().what;
    const auto patterns = counted_patterns(pages.value());
    return patterns ? "" : patterns.error().what;
  }
  [[nodiscard]] Result<Patterns> patterns(const std::string& bytes) const {
    const auto pages = page::read_pages(file(bytes));
    return pages ? counted_patterns(pages.value()) : pages.error();
  }

  fs::path folder_ = fs::temp_directory_path() / ("nplus1-counted-" + std::to_string(::getpid()));
};

/// Rank 0 has sent three messages of 8 bytes to rank 1; a tick is half a nanosecond.
MadePage sender() {
  MadePage made{0, 2};
  made.sites = {{page::site_key(0, kSend), 2, 3, 4000, 2000, 3, 24, 9, 8}};
  made.peers = {{page::peer_key(page::kPointToPointLayer, false, 1), 3, 24}};
  made.sizes = {{page::kPointToPointLayer + 1, 8, 3}};
  made.communicators = {{7, 1, 1, 2, 0, 3, 24, 0, 4000, 4000}};
  return made;
}

TEST_F(Counted, IsWhatTheRanksHaveCounted) {
  const auto counted = patterns(sender().bytes() + MadePage{1, 2}.bytes());
  ASSERT_TRUE(counted.ok()) << counted.error().what;
  const Patterns& p = counted.value();
  EXPECT_TRUE(p.complete);
  EXPECT_EQ(p.application, "app");
  ASSERT_EQ(p.layers.front().rows.size(), 1U);
  EXPECT_EQ(p.layers.front().rows[0].cells, (std::vector<Cell>{{1, 3, 24}}));
  EXPECT_EQ(p.layers.front().sizes.sum, 24U);
  ASSERT_EQ(p.call_sites.size(), 1U);
  EXPECT_EQ(p.call_sites[0].call, "MPI_Send");
  EXPECT_EQ(p.call_sites[0].calls, 3U);
  EXPECT_EQ(p.call_sites[0].time, from_seconds(2e-6));
  EXPECT_EQ(p.call_sites[0].longest, from_seconds(1e-6));
  EXPECT_EQ(p.virtual_time(), from_seconds(1));
  EXPECT_EQ(p.rank[0].compute, from_seconds(1) - from_seconds(2e-6));
  ASSERT_EQ(p.communicators.size(), 1U);
  EXPECT_EQ(p.communicators[0].members, "0,1");
}

TEST_F(Counted, ItsTimesAreSaidToBeRealAlsoWhenReadBack) {
  const auto counted = patterns(sender().bytes() + MadePage{1, 2}.bytes());
  ASSERT_TRUE(counted.ok());
  const fs::path json = folder_ / "patterns.json";
  std::ofstream{json} << patterns_json(counted.value());
  const auto again = read_patterns(json);
  ASSERT_TRUE(again.ok()) << again.error().what;
  for (const Patterns* p : {&counted.value(), &again.value()}) {
    const std::string screen = first_screen(*p, {});
    EXPECT_NE(screen.find("app on 2 ranks: 1 s of real time"), screen.npos) << screen;
    EXPECT_EQ(screen.find("virtual"), screen.npos) << screen;
  }
  Patterns simulated = counted.value();
  simulated.real_time = false;
  EXPECT_NE(first_screen(simulated, {}).find("of virtual time"), std::string::npos);
  EXPECT_EQ(patterns_json(simulated).find("\"clock\""), std::string::npos);
}

TEST_F(Counted, NoCutOffFileIsRead) {
  const std::string whole = sender().bytes();
  for (std::size_t size = 0; size < whole.size(); size += 7)
    ASSERT_NE(refusal(whole.substr(0, size)), "") << size;
  EXPECT_EQ(refusal(whole), "");
  EXPECT_NE(refusal(whole + whole).find("there twice"), std::string::npos);
  EXPECT_NE(refusal(whole + "x"), "");
}

TEST_F(Counted, OtherVersionsAreRefused) {
  for (const std::uint32_t version : {0U, page::kVersion + 1, ~0U}) {
    MadePage made = sender();
    made.header.version = version;
    EXPECT_NE(refusal(made.bytes()).find("of version " + std::to_string(version)), std::string::npos);
  }
}

/// 2^24 ranks with a thousand collectives would be 128 GB of calls per rank.
TEST_F(Counted, MoreRanksThanMemoryHasRoomForAreRefused) {
  MadePage made{0, 1 << 24};
  for (std::uint32_t size = 1; size <= 1000; ++size)
    made.collectives.push_back({page::collective_key(kAllreduce, true, 1, size), 0, 1, 8, 1});
  EXPECT_NE(refusal(made.bytes()).find("more ranks"), std::string::npos);
  made.header.ranks = 1000;
  EXPECT_EQ(refusal(made.bytes()), "");
}

/// Each of many communicators claims four million members, in 28 bytes of file.
TEST_F(Counted, EndlessListsOfMembersAreRefusedAndTheSameListCostsOnce) {
  MadePage made{0, 2};
  constexpr std::uint32_t kMany = 200, kMembers = 1U << 20U;
  made.ranges.clear();
  for (std::uint32_t i = 0; i < kMany; ++i) {
    made.ranges.push_back({0, 0, kMembers + i});
    made.communicators.push_back({i + 1, i + 1, 1, 2, 0, 1, 1, 1, 1, 1});
  }
  EXPECT_NE(refusal(made.bytes()).find("members of communicators"), std::string::npos);
  for (auto& range : made.ranges) range = {0, 1, 2};
  EXPECT_EQ(refusal(made.bytes()), "");
  const auto counted = patterns(made.bytes());
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted.value().communicators.size(), 1U);
}

TEST_F(Counted, AMemberListOutsideItsTableIsEmpty) {
  for (const auto& [members, ranges] : {std::pair{2U, 1U}, {1U, ~0U}, {~0U, 1U}, {0U, 1U}}) {
    MadePage made = sender();
    made.communicators[0].members = members;
    made.communicators[0].ranges = ranges;
    EXPECT_EQ(refusal(made.bytes()), "") << members << " " << ranges;
  }
}

/// 64 ranks of two days each: together more than a Duration holds.
TEST_F(Counted, AJobOfManyRanksMayLastForDays) {
  constexpr std::int32_t kRanks = 64;
  constexpr std::uint64_t kTwoDays = 345'600'000'000'000;  // ticks
  std::string bytes;
  for (std::int32_t rank = 0; rank < kRanks; ++rank) {
    MadePage made{rank, kRanks};
    made.sites = {{page::site_key(0, kSend), 2, 3, kTwoDays, kTwoDays, 3, 24, 9, 8}};
    made.header.end_tick = made.header.begin_tick + static_cast<std::int64_t>(2 * kTwoDays);
    bytes += made.bytes();
  }
  const auto counted = patterns(bytes);
  ASSERT_TRUE(counted.ok()) << counted.error().what;
  EXPECT_EQ(counted.value().call_sites.at(0).time, Duration::max());
  EXPECT_EQ(counted.value().call_sites.at(0).longest, from_seconds(2 * 86400));
  EXPECT_EQ(counted.value().virtual_time(), from_seconds(4 * 86400));
}

TEST_F(Counted, AnEndBeforeTheBeginningIsNoTime) {  // as the fuzzer had it
  MadePage made = sender();
  made.header.end_tick = std::numeric_limits<std::int64_t>::min() + 1000;
  const auto counted = patterns(made.bytes());
  ASSERT_TRUE(counted.ok()) << counted.error().what;
  EXPECT_EQ(counted.value().rank[0].end, Duration::zero());
}

TEST_F(Counted, ATableOfThreadsMayLieAnywhere) {  // as the fuzzer had it: at an odd address
  MadePage made = sender();
  made.threads.resize(1);
  made.threads[0].used = 1;
  made.threads[0].since_tick = 4242;
  std::string bytes = made.bytes();
  page::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  page::Table& table = header.tables[static_cast<std::size_t>(page::TableKind::kThreads)];
  bytes.insert(table.offset, 1, '\0');
  ++table.offset;
  for (std::size_t i = 1; i < std::size(header.tables); ++i) header.tables[i].entries = 0;
  header.page_bytes = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto pages = page::read_pages(file(bytes));
  ASSERT_TRUE(pages.ok()) << pages.error().what;
  ASSERT_EQ(pages.value()[0].threads.size(), 1U);
  EXPECT_EQ(pages.value()[0].threads[0].since_tick, 4242);
}

/// A job's page that a rank has mapped, whose only thread goes from call to call.
class BusyRank {
 public:
  explicit BusyRank(const fs::path& file) {
    MadePage made = sender();
    made.threads.resize(1);
    made.threads[0].used = 1;
    const std::string bytes = made.bytes();
    std::ofstream{file, std::ios::binary} << bytes;
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    size_ = bytes.size();
    page_ = static_cast<char*>(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    ::close(descriptor);
    page::Header header;
    std::memcpy(&header, page_, sizeof header);
    state_ = reinterpret_cast<page::ThreadState*>(page_ + header.tables[0].offset);
    rank_ = std::thread{[this] { run(); }};
  }
  ~BusyRank() {
    ends_ = true;
    rank_.join();
    ::munmap(page_, size_);
  }

 private:
  /// Each call is a number that stands in three places. Half of the time is spent amidst a change.
  void run() {
    for (std::uint32_t call = 1; !ends_; ++call) {
      volatile page::ThreadState& state = *state_;
      __atomic_store_n(&state_->sequence, state_->sequence + 1, __ATOMIC_RELAXED);
      __atomic_thread_fence(__ATOMIC_RELEASE);
      state.path = call;
      for (int i = 0; i < 20000; ++i) state.root = i;
      state.members = call;
      state.ordinal = call;
      __atomic_store_n(&state_->sequence, state_->sequence + 1, __ATOMIC_RELEASE);
      for (int i = 0; i < 1000 && !ends_; ++i) __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
  }

  char* page_ = nullptr;
  std::size_t size_ = 0;
  page::ThreadState* state_ = nullptr;
  std::atomic<bool> ends_{false};
  std::thread rank_;
};

TEST_F(Counted, ACallOfARankThatRunsIsNeverReadInTwoHalves) {
  const fs::path job = folder_ / "job";
  fs::create_directories(job);
  const BusyRank rank{job / "0"};
  std::set<std::uint32_t> calls;
  for (int i = 0; i < 300 || calls.size() < 20; ++i) {
    const auto pages = page::read_pages(job);
    ASSERT_TRUE(pages.ok()) << pages.error().what;
    for (const page::ThreadState& state : pages.value()[0].threads) {
      calls.insert(state.path);
      ASSERT_EQ(state.path, state.members);
      ASSERT_EQ(state.path, state.ordinal);
    }
  }
}

TEST_F(Counted, WhatIsNoFileIsRefusedAtOnce) {
  const fs::path pipe = folder_ / "pipe", job = folder_ / "job";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(page::is_statistics(pipe));
  EXPECT_FALSE(page::read_pages(pipe).ok());
  fs::create_directories(job / "0");
  EXPECT_FALSE(page::read_pages(job).ok());
  fs::remove(job / "0");
  ASSERT_EQ(::mkfifo((job / "0").c_str(), 0600), 0);
  EXPECT_FALSE(page::is_statistics(job));
  EXPECT_FALSE(page::read_pages(job).ok());
}

}  // namespace
}  // namespace nplus1::patterns
