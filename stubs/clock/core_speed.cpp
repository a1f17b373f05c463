#include "stubs/clock/core_speed.hpp"

#include <algorithm>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace nplus1::stubs {

#if defined(__x86_64__)
namespace {

/// The shorter of two times: the first one fetches the instructions. Long enough for counters that go on by 10 ns at once.
template <class Work>
std::int64_t shortest_ticks(Work&& work) {
  constexpr int kTimes = 2;
  std::int64_t shortest = INT64_MAX;
  for (int time = 0; time < kTimes; ++time) {
    _mm_lfence();
    const auto began = static_cast<std::int64_t>(__rdtsc());
    work();
    _mm_lfence();
    shortest = std::min(shortest, static_cast<std::int64_t>(__rdtsc()) - began);
  }
  return std::max<std::int64_t>(shortest, 1);
}

/// 1,600 multiplications, each of which needs the one before: three cycles each on the processors of the last fifteen years.
void chain() {
  constexpr int kRounds = 160;
  std::uint64_t x = 3;
  for (int round = 0; round < kRounds; ++round)
    asm volatile(
        "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
        "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
        : "+r"(x));
}

/// 14,400 loads of two lines of the first cache, none of which needs another.
void loads() {
  constexpr int kRounds = 1200;
  alignas(64) static const std::uint64_t lines[16] = {};
  for (int round = 0; round < kRounds; ++round)
    asm volatile(
        "mov (%0), %%rax\n\tmov 8(%0), %%rcx\n\tmov 16(%0), %%rdx\n\tmov 24(%0), %%rax\n\t"
        "mov 32(%0), %%rcx\n\tmov 40(%0), %%rdx\n\tmov 48(%0), %%rax\n\tmov 56(%0), %%rcx\n\t"
        "mov 64(%0), %%rdx\n\tmov 72(%0), %%rax\n\tmov 80(%0), %%rcx\n\tmov 88(%0), %%rdx"
        :
        : "r"(lines)
        : "rax", "rcx", "rdx", "memory");
}

}  // namespace

CoreSpeed core_speed() noexcept {
  return {shortest_ticks(chain), shortest_ticks(loads)};
}
#else
CoreSpeed core_speed() noexcept {
  return {};
}
#endif

}  // namespace nplus1::stubs
