// Asking for memory before it is needed. In a large world each rank's data lie beyond the second-level cache,
// and the engine spends most of its time waiting for them: it names whose come next as early as it knows.
// Only a hint: any thread, any address, no failure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nplus1 {

inline constexpr std::size_t kCacheLine = 64;

template <std::size_t Lines>
void prefetch_lines(const void* from) {
  const auto line =
      reinterpret_cast<std::uintptr_t>(from);  // beyond its object, or null: no place to point into
  for (std::size_t i = 0; i < Lines; ++i)
    __builtin_prefetch(reinterpret_cast<const void*>(line + i * kCacheLine));
}

}  // namespace nplus1
