// What the arguments of the program's system calls point to: the kernel refuses closed pages, so those of a call are opened
// for its time, and what it accesses is told. In signal handlers; with the folder's lock held.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stubs/access/state.hpp"

namespace nplus1::stubs::access {

/// A system call and its arguments.
struct Arguments {
  long number;
  long of[6];
};

/// The pages that were opened for a call.
struct Opened {
  static constexpr std::size_t kMost = 64;
  std::uint64_t pages[kMost];
  std::size_t count = 0;
  bool all = false;
};

/// The memory that a call names by place and length.
[[nodiscard]] inline Range range_of(long address, long bytes) {
  constexpr long kMost = 1L << 40;
  return {static_cast<std::uint64_t>(address),
          static_cast<std::uint64_t>(address) + static_cast<std::uint64_t>(std::clamp(bytes, 0L, kMost))};
}

/// Opens what the call's arguments point to, and tells what it accesses.
void open_for(const Arguments& call, void* context, Opened& opened, const Access& like) noexcept;
/// After the call.
void close_again(const Opened& opened) noexcept;

}  // namespace nplus1::stubs::access
