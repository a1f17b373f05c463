#include "stubs/twin/twin.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
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
  EXPECT_GT(m.cost_ns, 0);
}

TEST_F(Twin, TakesWhatItsProcessTakes) {
  std::int64_t shortest = INT64_MAX;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t began = ticks();
    compute();
    shortest = std::min(shortest, ticks() - began);
  }
  for (int i = 0; i < 5; ++i) {
    const Measured m = with_twin(compute);
    EXPECT_GT(m.warm_ticks, shortest / 2);  // rough ones are CPU times
  }
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

/// As OpenMP's locks do where others may wait. For a waiter it is another matter: nobody would wake it.
TEST_F(Twin, MayWakeWhoeverWaitsInItsOwnMemory) {
  int word = 0;
  const Measured m = with_twin([&] {
    ++word;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  });
  EXPECT_GT(m.warm_ticks, 0);
  EXPECT_EQ(word, 1);
  const Measured shared = with_twin([&] { syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0); });
  EXPECT_EQ(shared.warm_ticks, 0);
}

TEST_F(Twin, MayHaveMuchMoreMemoryThanItTouches) {
  constexpr std::size_t kBytes = std::size_t{1} << 42U;
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no more addresses";
  const auto at = [&](std::size_t i) -> volatile char& {
    return static_cast<volatile char*>(memory)[i << 33U];
  };
  int wrong = 0;
  const Measured m = with_twin([&] {
    for (std::size_t i = 0; i < 100; ++i) {
      wrong += at(i) != 0;
      at(i) = 1;
    }
    if (wrong != 0) forbidden();
  });
  if (m.passes <= 1) GTEST_SKIP() << "this kernel does not tell which pages are there (PAGEMAP_SCAN)";
  EXPECT_GT(m.warm_ticks, 0);
  munmap(memory, kBytes);
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

/// What may only be read now, the program may open for writing in the stretch.
TEST_F(Twin, HasNoSharedMemoryThatItCouldOpen) {
  for (const int before : {PROT_READ, PROT_NONE}) {
    void* const memory = mmap(nullptr, 4096, before, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto* const shared = static_cast<volatile int*>(memory);
    const Measured m = with_twin([&] {
      mprotect(memory, 4096, PROT_READ | PROT_WRITE);
      *shared = *shared + 1;
    });
    EXPECT_EQ(m.warm_ticks, 0);
    EXPECT_EQ(*shared, 1);
    munmap(memory, 4096);
  }
}

TEST_F(Twin, ReadsSharedMemoryThatNobodyHereCanWriteTo) {
  const int file = open("/proc/self/exe", O_RDONLY);
  ASSERT_GE(file, 0);
  void* const memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const Measured m = with_twin([&] {
    compute();
    result = result + static_cast<const volatile char*>(memory)[1];
  });
  EXPECT_GT(m.warm_ticks, 0);
  munmap(memory, 4096), close(file);
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

/// Also where the program holds back the signal that tells of it, as glibc does to make a process: the kernel then ends the twin.
TEST_F(Twin, ThatDiesLeavesNoCoreFile) {
  const auto before = std::filesystem::current_path();
  const auto folder = std::filesystem::temp_directory_path() / ("twin-test-" + std::to_string(getpid()));
  ASSERT_TRUE(std::filesystem::create_directory(folder));
  std::filesystem::current_path(folder);
  rlimit old{};
  getrlimit(RLIMIT_CORE, &old);
  const rlimit most{old.rlim_max, old.rlim_max};
  setrlimit(RLIMIT_CORE, &most);
  const Measured m = with_twin([] {
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    forbidden();
    sigprocmask(SIG_SETMASK, &mask, nullptr);
  });
  setrlimit(RLIMIT_CORE, &old);
  EXPECT_EQ(m.warm_ticks, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST_F(Twin, ThatDiesIsCounted) {
  const Measured m = with_twin([] {
    for (int i = 0; i < 200; ++i) compute();
    forbidden();
  });
  EXPECT_EQ(m.warm_ticks, 0);
  EXPECT_GT(m.cost_ns, 4'000'000);
}

/// It waits for what no twin sees.
TEST_F(Twin, ThatComputesFarLongerThanSuchStretchesIsEndedSoon) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  const auto measured = measure(kLimitNs, 0, kMillisecond);
  if (is_twin()) begin_pass();
  while (is_twin()) compute();
  EXPECT_EQ(measured->warm_ticks, 0);
  EXPECT_LT(measured->cost_ns, 100 * kMillisecond);
}

TEST_F(Twin, ThatDoesNotEndIsEnded) {
  const Measured m = with_twin(
      [] {
        while (is_twin()) compute();
      },
      20'000'000);
  EXPECT_EQ(m.warm_ticks, 0);
}

/// Made as a copy, it leaves the process's pages write-protected: they are seen to after each.
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

/// Nor those that no twin has written to.
TEST_F(Twin, LeavesNoPageFaultsToStretchesWithoutTwins) {
  constexpr std::size_t kPages = 5000, kPage = 4096;
  std::vector<char> large(kPages * kPage, 'x');
  EXPECT_GT(with_twin(compute).passes, 0);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (std::size_t i = 0; i < kPages; ++i) large[i * kPage] = 'y';
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

/// ... or has something else there, which others see.
TEST_F(Twin, WritesToNoFileThatIsThereNow) {
  constexpr std::size_t kBytes = 200 * 4096;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_GT(with_twin([&] { std::memset(memory, 1, kBytes); }).passes, 0);
  const int file = memfd_create("file", 0);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  const auto blocks = [&] {
    struct stat of {};
    fstat(file, &of);
    return of.st_blocks;
  };
  for (const int sharing : {MAP_SHARED, MAP_PRIVATE}) {
    ASSERT_EQ(mmap(memory, kBytes, PROT_READ | PROT_WRITE, sharing | MAP_FIXED, file, 0), memory);
    EXPECT_GT(with_twin(compute).passes, 0);
    EXPECT_EQ(blocks(), 0);
  }
  // A private mapping shows what others write to the file, until it is written to.
  ASSERT_EQ(pwrite(file, "new", 3, 0), 3);
  EXPECT_EQ(*static_cast<char*>(memory), 'n');
  munmap(memory, kBytes), close(file);
}

TEST_F(Twin, LeavesToTheSystemWhatWasGivenBack) {
  constexpr std::size_t kPages = 200, kBytes = kPages * 4096;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_GT(with_twin([&] { std::memset(memory, 1, kBytes); }).passes, 0);
  madvise(memory, kBytes, MADV_DONTNEED);
  EXPECT_GT(with_twin(compute).passes, 0);
  unsigned char resident[kPages] = {};
  ASSERT_EQ(mincore(memory, kBytes, resident), 0);
  EXPECT_EQ(std::count(std::begin(resident), std::end(resident), 0), kPages);
  munmap(memory, kBytes);
}

/// A handler runs in the process while it waits for its twin.
TEST_F(Twin, LeavesAloneWhatAHandlerHasClosedMeanwhile) {
  static constexpr std::size_t kBytes = 200 * 4096;
  static void* memory = nullptr;
  static volatile std::sig_atomic_t closed = 0;
  memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::signal(SIGALRM, [](int) {
    mprotect(memory, kBytes, PROT_READ);
    closed = 1;
  });
  const itimerval soon{{0, 0}, {0, 500}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  EXPECT_GT(with_twin([] {
              if (closed == 0) std::memset(memory, 1, kBytes);
              for (int i = 0; i < 20; ++i) compute();
            }).passes,
            0);
  EXPECT_EQ(closed, 1);
  std::signal(SIGALRM, SIG_DFL);
  munmap(memory, kBytes);
}

/// Not even by the first instruction of it, and whoever sends it: here a child, to the whole group.
TEST_F(Twin, HandlesNoSignal) {
  const pid_t alone = fork();
  if (alone == 0) {
    setpgid(0, 0);
    static int ends[2];
    static volatile std::sig_atomic_t handled = 0;
    if (pipe2(ends, O_NONBLOCK) != 0) _exit(2);
    std::signal(SIGUSR1, [](int) { handled = handled + static_cast<int>(write(ends[1], "x", 1)); });
    const pid_t sender = fork();
    if (sender == 0) {
      std::signal(SIGUSR1, SIG_IGN);
      for (;;) {
        kill(0, SIGUSR1);
        usleep(20);
      }
    }
    for (int i = 0; i < 100; ++i) with_twin(compute);
    kill(sender, SIGKILL);
    waitpid(sender, nullptr, 0);
    char got[1 << 16];
    _exit(handled > 0 && read(ends[0], got, sizeof(got)) == handled ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(alone, &status, 0), alone);
  EXPECT_EQ(status, 0);
}

/// ... nor that it was stopped with its process's group.
TEST_F(Twin, IsNobodysStoppedChild) {
  const pid_t alone = fork();
  if (alone == 0) {
    setpgid(0, 0);
    static volatile std::sig_atomic_t told = 0;
    const pid_t group = getpid();
    for (int i = 0; i < 20; ++i) {
      const pid_t sender = fork();
      if (sender == 0) {
        setpgid(0, 0);
        usleep(1000);
        kill(-group, SIGSTOP);
        usleep(1000);
        kill(-group, SIGCONT);
        _exit(0);
      }
      struct sigaction action {};
      action.sa_sigaction = [](int, siginfo_t* info, void*) {
        told = told + (info->si_code == CLD_STOPPED ? 1 : 0);
      };
      action.sa_flags = SA_SIGINFO;
      sigaction(SIGCHLD, &action, nullptr);
      with_twin([] {
        for (int k = 0; k < 100; ++k) compute();
      });
      std::signal(SIGCHLD, SIG_DFL);
      waitpid(sender, nullptr, 0);
    }
    _exit(told < 5 ? 0 : 1);  // it has a group of its own some microseconds after it was made
  }
  int status = 0;
  ASSERT_EQ(waitpid(alone, &status, 0), alone);
  EXPECT_EQ(status, 0);
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
