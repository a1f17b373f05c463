// The functions of UCX that we interpose, as they are when we are not there. Any thread.
#pragma once

#include <dlfcn.h>

namespace nplus1::stubs {

/// UCX's function `name`, or null. MPICH may have loaded UCX out of our sight.
template <class Function>
Function* find_in_ucx(const char* name) noexcept {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    void* library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) found = dlsym(library, name);
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace nplus1::stubs
