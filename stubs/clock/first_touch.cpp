#include "stubs/clock/first_touch.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "stubs/clock/thread_clock.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::size_t kPage = 4096, kGroups = 4;

std::int64_t faults_of_this_thread() {
  rusage used{};
  return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_minflt : -1;
}

std::int64_t cpu_ns() {
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace

FirstTouch::~FirstTouch() {
  if (touched_ != nullptr) munmap(touched_, bytes_);
}

void FirstTouch::begin() noexcept {
  before_ = faults_of_this_thread();
}

PageFaults FirstTouch::end() noexcept {
  constexpr std::int64_t kFew = 64;
  if (before_ < 0) return {};
  const std::int64_t count = faults_of_this_thread() - before_;
  before_ = -1;
  if (count < kFew) return {};
  const int error = errno;
  const std::int64_t each = cost_of_one_ns(count);
  errno = error;
  return each > 0 ? PageFaults{count, each} : PageFaults{};
}

/// The median of groups: the hypervisor takes a page's time now and then. 0: there is no memory.
std::int64_t FirstTouch::cost_of_one_ns(std::int64_t like) noexcept {
  constexpr std::int64_t kFewest = 32, kMost = 256, kShare = 4;
  const auto pages = static_cast<std::size_t>(std::clamp(like / kShare, kFewest, kMost));
  const std::size_t bytes = pages * kPage;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  auto* const begin = static_cast<volatile std::byte*>(memory);
  const std::size_t in_group = pages / kGroups;
  std::int64_t times[kGroups];
  for (std::size_t group = 0; group < kGroups; ++group) {
    const std::int64_t began = cpu_ns();
    for (std::size_t page = group * in_group; page < (group + 1) * in_group; ++page)
      begin[page * kPage] = std::byte{1};
    times[group] = cpu_ns() - began;
  }
  if (touched_ != nullptr) munmap(touched_, bytes_);
  touched_ = memory;
  bytes_ = bytes;
  std::sort(std::begin(times), std::end(times));
  return (times[kGroups / 2 - 1] + times[kGroups / 2]) / 2 / static_cast<std::int64_t>(in_group);
}

}  // namespace nplus1::stubs
