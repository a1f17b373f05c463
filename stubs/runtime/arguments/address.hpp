// Places behind a buffer of the application's. The buffer may be MPI_BOTTOM, which is null, with a type whose displacements
// are addresses, and a private copy of such lies at an address that no object has: pointers may not be moved so, numbers
// may. Any thread; cannot fail.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace nplus1::stubs {

/// What lies `bytes` behind `buffer`, modulo all addresses; before it if they are negative.
[[nodiscard]] inline std::byte* behind(const void* buffer, MPI_Count bytes) noexcept {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                      static_cast<std::uintptr_t>(bytes));
}

}  // namespace nplus1::stubs
