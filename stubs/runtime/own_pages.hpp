// Memory of ours that peers may read by themselves (process_vm_readv, as UCX does for long messages), whenever they
// like. While accesses are recorded the pages of the program's buffers are closed between MPI calls, to the kernel on
// behalf of a peer, too; so such memory shares no page with them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "stubs/access/watch.hpp"

namespace nplus1::stubs {

struct FreeMemory {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using OwnPages = std::unique_ptr<std::byte[], FreeMemory>;

/// Null if there is no memory.
inline OwnPages own_pages(std::size_t bytes) noexcept {
  constexpr std::size_t kPage = 4096;
  void* const memory =
      access::begun() ? std::aligned_alloc(kPage, bytes / kPage * kPage + kPage) : std::malloc(bytes + 1);
  return OwnPages{static_cast<std::byte*>(memory)};
}

}  // namespace nplus1::stubs
