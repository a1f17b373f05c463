// Open addressing in a page's tables (events/statistics/page.hpp): a slot is found by two numbers, of which the first is
// never 0. Any thread, no locks: a slot is taken with compare and swap, and never given back. Memory is what the table has;
// what finds no room counts as lost.
#pragma once

#include <atomic>
#include <cstdint>

namespace nplus1::stubs::statistics {

/// Whether several threads count at a time (MPI_THREAD_MULTIPLE): then additions lock the bus.
extern constinit std::atomic<bool> shared_counts;

inline void add(std::uint64_t& counter, std::uint64_t n) noexcept {
  if (shared_counts.load(std::memory_order_relaxed)) [[unlikely]]
    __atomic_fetch_add(&counter, n, __ATOMIC_RELAXED);
  else
    __atomic_store_n(&counter, counter + n, __ATOMIC_RELAXED);
}

inline void raise(std::uint64_t& most, std::uint64_t value) noexcept {
  std::uint64_t seen = __atomic_load_n(&most, __ATOMIC_RELAXED);
  while (value > seen &&
         !__atomic_compare_exchange_n(&most, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

/// 0 is "none": kept numbers are one more than what they mean.
inline void lower(std::uint64_t& least, std::uint64_t value) noexcept {
  std::uint64_t seen = __atomic_load_n(&least, __ATOMIC_RELAXED);
  while ((seen == 0 || value < seen) &&
         !__atomic_compare_exchange_n(&least, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t x = a * 0x9e3779b97f4a7c15U + b;
  x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93U;
  return x ^ (x >> 32U);
}

/// The slot of (first, second) in a table whose size is a power of two; null where it is full.
template <class Entry>
Entry* slot(Entry* entries, std::uint32_t size, std::uint64_t Entry::*first_field, std::uint64_t first,
            std::uint64_t Entry::*second_field, std::uint64_t second) noexcept {
  constexpr std::uint64_t kTaken = ~std::uint64_t{0};  // its second number is being written
  constexpr std::uint32_t kProbes = 64;
  for (std::uint64_t i = mix(first, second), end = i + kProbes; i != end; ++i) {
    Entry& e = entries[i & (size - 1)];
    std::uint64_t found = __atomic_load_n(&(e.*first_field), __ATOMIC_ACQUIRE);
    if (found == 0) {
      if (__atomic_compare_exchange_n(&(e.*first_field), &found, kTaken, false, __ATOMIC_ACQUIRE,
                                      __ATOMIC_ACQUIRE)) {
        e.*second_field = second;
        __atomic_store_n(&(e.*first_field), first, __ATOMIC_RELEASE);
        return &e;
      }
    }
    while (found == kTaken) found = __atomic_load_n(&(e.*first_field), __ATOMIC_ACQUIRE);
    if (found == first && e.*second_field == second) return &e;
  }
  return nullptr;
}

}  // namespace nplus1::stubs::statistics
