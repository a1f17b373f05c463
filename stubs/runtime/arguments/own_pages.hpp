// Memory of ours that peers may read by themselves (process_vm_readv, as UCX does for long messages), whenever they
// like. While accesses are recorded the pages of the program's buffers are closed between MPI calls, to the kernel on
// behalf of a peer, too; so such memory shares no page with them, and is none of the heap's: there it could be what the
// program has freed, whose pages are closed until they are known to be another's.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "stubs/access/watch.hpp"

namespace nplus1::stubs {

struct FreeMemory {
  std::size_t mapped = 0;  // bytes; 0: of the heap
  void operator()(std::byte* memory) const noexcept {
    if (mapped == 0)
      std::free(memory);
    else
      munmap(memory, mapped);
  }
};
using OwnPages = std::unique_ptr<std::byte[], FreeMemory>;

/// Null if there is no memory.
inline OwnPages own_pages(std::size_t bytes) noexcept {
  if (!access::begun()) return OwnPages{static_cast<std::byte*>(std::malloc(bytes + 1))};
  constexpr std::size_t kPage = 4096;
  const std::size_t size = bytes / kPage * kPage + kPage;
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  return OwnPages{static_cast<std::byte*>(memory), FreeMemory{size}};
}

}  // namespace nplus1::stubs
