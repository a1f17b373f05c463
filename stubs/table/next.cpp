#include "stubs/table/next.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "stubs/guard/guard.hpp"

namespace nplus1::stubs::pmpi {

namespace {

/// The global scope is not all there is. RTLD_NOLOAD: never bring an MPI library into a program without one.
void* in_local_library(const char* name) noexcept {
  void* library = dlopen(NPLUS1_MPI_SONAME, RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

}  // namespace

void* next_symbol(const char* name) noexcept {
  void* found = dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : in_local_library(name);
}

void* variable(const char* name) noexcept {
  void* found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : in_local_library(name);
}

namespace detail {

constinit std::array<std::atomic<void*>, events::kMpiCalls> functions{};

void note_callback_threw() noexcept {
  call_state.foreign = true;
}

void* resolve(events::MpiCall call) noexcept {
  std::string symbol{"P"};
  symbol += events::name(call);
  void* found = next_symbol(symbol.c_str());
  if (found == nullptr) {
    std::fprintf(stderr,
                 "nplus1: no library of this program defines %s; build nplus1 against the program's MPI\n",
                 symbol.c_str());
    _exit(127);
  }
  functions[events::index(call)].store(found, std::memory_order_relaxed);
  return found;
}

}  // namespace detail
}  // namespace nplus1::stubs::pmpi
