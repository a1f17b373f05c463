// free and realloc of the program: where a message that is under way still uses the memory, it is completed first.
#include <dlfcn.h>
#include <malloc.h>

#include <cstddef>

#include "stubs/measure/measuring.hpp"

extern "C" void __libc_free(void* memory);
extern "C" void* __libc_realloc(void* memory, std::size_t bytes);

namespace {

/// The next definition; the C library's own while that is being looked up.
template <class Function>
Function* next(const char* name, Function* own, Function*& found, bool& looking) {
  if (found != nullptr) return found;
  if (looking) return own;
  looking = true;
  found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  looking = false;
  return found != nullptr ? found : own;
}

void before_release(void* memory) {
  if (memory == nullptr) return;
  nplus1::stubs::measure::Measuring* const m = nplus1::stubs::measure::measuring();
  if (m != nullptr && m->under_way()) m->frees(memory, malloc_usable_size(memory));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void free(void* memory) {
  static void (*found)(void*) = nullptr;
  static bool looking = false;
  before_release(memory);
  next("free", &__libc_free, found, looking)(memory);
}

extern "C" __attribute__((visibility("default"))) void* realloc(void* memory, std::size_t bytes) {
  static void* (*found)(void*, std::size_t) = nullptr;
  static bool looking = false;
  before_release(memory);
  return next("realloc", &__libc_realloc, found, looking)(memory, bytes);
}
