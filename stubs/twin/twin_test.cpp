#include "stubs/twin/twin.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <vector>

#include "stubs/clock/thread_clock.hpp"

namespace nplus1::stubs::twin {
namespace {

constexpr std::int64_t kLimitNs = 2'000'000'000;  // a busy machine's

/// What a program does between two calls of MPI's, with a twin.
template <class Stretch>
Measured with_twin(Stretch&& stretch, std::int64_t limit_ns = kLimitNs) {
  const auto measured = measure(limit_ns);
  if (is_twin()) begin_pass();
  stretch();
  if (is_twin()) end_pass();
  return measured.value();
}

class Twin : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    calibrate_ticks();
    ASSERT_TRUE(begin());
  }
};

volatile double result;

void compute() {
  double x = 1;
  for (int i = 0; i < 20000; ++i) x = x * 1.0000001 + 1e-9;
  result = x;
}

/// Ends a twin: it may not.
void forbidden() {
  static_cast<void>(getppid());
}

TEST_F(Twin, MeasuresAStretchSeveralTimes) {
  const Measured m = with_twin(compute);
  EXPECT_GT(m.warm_ticks, 0);
  EXPECT_GE(m.passes, 4);
  EXPECT_GT(m.cpu_ns, 0);
}

TEST_F(Twin, SaysHowFastItsCoreWas) {
  const Measured m = with_twin(compute);
  ASSERT_TRUE(m.speed.is_known());
  // 4,800 cycles, and 14,400 loads of two or three a cycle, on any core of 6 GHz at most: a host may slow it to a tenth of that.
  const double chain_ns = static_cast<double>(m.speed.chain_ticks) * nanoseconds_per_tick();
  EXPECT_GT(chain_ns, 800);
  EXPECT_LT(chain_ns, 80'000);
  EXPECT_GT(m.speed.share(), 0.3);
  EXPECT_LT(m.speed.share(), 5);
}

TEST_F(Twin, BeginsEachPassWithTheMemoryOfTheFirst) {
  static int global = 0;
  int local = 0;
  std::vector<int> heap(5000, 0);
  auto* list = new std::vector<int>{1, 2, 3};
  const Measured m = with_twin([&] {
    if (global != 0 || local != 0 || heap[4321] != 0 || list->size() != 3) forbidden();
    ++global, ++local;
    for (int& value : heap) ++value;
    delete list;  // a second time, were it not there again
    list = nullptr;
    compute();
  });
  EXPECT_GT(m.warm_ticks, 0);
  EXPECT_EQ(global, 1);
  EXPECT_EQ(local, 1);
  EXPECT_EQ(heap, std::vector<int>(5000, 1));
  EXPECT_EQ(list, nullptr);
}

TEST_F(Twin, MayTakeAndGiveMemory) {
  const Measured m = with_twin([] {
    for (const std::size_t bytes : {100UL, 5UL << 20U, 200UL << 10U}) {
      auto* memory = static_cast<char*>(std::malloc(bytes));
      std::memset(memory, 1, bytes);
      result = result + memory[bytes / 2];
      std::free(memory);
    }
  });
  EXPECT_GT(m.warm_ticks, 0);
}

TEST_F(Twin, WritesToNobodyElse) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  const Measured m = with_twin([&] { ASSERT_EQ(write(ends[1], "x", 1), 1); });
  EXPECT_EQ(m.warm_ticks, 0);
  char got[8];
  EXPECT_EQ(read(ends[0], got, sizeof(got)), 1);
  close(ends[0]), close(ends[1]);
}

TEST_F(Twin, HasNoSharedMemory) {
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const shared = static_cast<volatile int*>(memory);
  const Measured m = with_twin([&] { *shared = *shared + 1; });
  EXPECT_EQ(m.warm_ticks, 0);
  EXPECT_EQ(*shared, 1);
  munmap(memory, 4096);
}

TEST_F(Twin, SendsNoSignal) {
  static volatile std::sig_atomic_t signals = 0;
  std::signal(SIGUSR1, [](int) { signals = signals + 1; });
  with_twin([] { kill(getpid(), SIGUSR1); });
  with_twin([] { raise(SIGUSR1); });
  EXPECT_EQ(signals, 2);
}

TEST_F(Twin, ThatDiesLeavesTheProcessAlone) {
  bool faulted = false;
  const Measured m = with_twin([&] {
    if (is_twin()) *static_cast<volatile int*>(nullptr) = 1;
    faulted = true;
  });
  EXPECT_EQ(m.warm_ticks, 0);
  EXPECT_TRUE(faulted);
}

TEST_F(Twin, ThatDoesNotEndIsEnded) {
  const Measured m = with_twin(
      [] {
        while (is_twin()) compute();
      },
      20'000'000);
  EXPECT_EQ(m.warm_ticks, 0);
}

/// Made as a copy, it leaves the process's pages write-protected: what earlier twins have written to is seen to after each.
TEST_F(Twin, LeavesNoPageFaultsToOtherStretches) {
  constexpr std::size_t kPages = 300, kPage = 4096;
  std::vector<char> large(kPages * kPage, 'x');
  const auto write_large = [&] {
    for (std::size_t i = 0; i < kPages; ++i) large[i * kPage] = 'y';
  };
  EXPECT_GT(with_twin(write_large).passes, 0);
  EXPECT_GT(with_twin(compute).passes, 0);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  write_large();
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, 50);
}

/// ... unless the program has given them back since.
TEST_F(Twin, LeavesAloneWhatIsThereNoMore) {
  constexpr std::size_t kBytes = 200 * 4096;
  void* const gone =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(gone, MAP_FAILED);
  EXPECT_GT(with_twin([&] { std::memset(gone, 1, kBytes); }).passes, 0);
  mprotect(gone, kBytes / 2, PROT_READ);
  munmap(static_cast<char*>(gone) + kBytes / 2, kBytes / 2);
  EXPECT_GT(with_twin(compute).passes, 0);
  EXPECT_EQ(static_cast<char*>(gone)[4096], 1);
  munmap(gone, kBytes / 2);
}

TEST_F(Twin, IsNobodysChild) {
  static volatile std::sig_atomic_t told = 0;
  std::signal(SIGCHLD, [](int) { told = told + 1; });
  with_twin(compute);
  EXPECT_EQ(told, 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(Twin, LeavesNothingOpen) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return std::distance(begin(all), end(all));
  };
  const auto before = descriptors();
  for (int i = 0; i < 50; ++i) with_twin(compute);
  EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace nplus1::stubs::twin
