#pragma once

#include <dlfcn.h>
#include <link.h>

namespace nplus1::stubs::pmpi {

/// The library of this process that an address is in; null where it is in none.
[[nodiscard]] inline const link_map* library_of(const void* address) noexcept {
  Dl_info found{};
  void* library = nullptr;
  return dladdr1(address, &found, &library, RTLD_DL_LINKMAP) == 0 ? nullptr
                                                                  : static_cast<const link_map*>(library);
}

}  // namespace nplus1::stubs::pmpi
