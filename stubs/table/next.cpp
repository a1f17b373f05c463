#include "stubs/table/next.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "stubs/runtime/guard.hpp"

namespace nplus1::stubs::pmpi {

void* next_symbol(const char* name) noexcept {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  // RTLD_NEXT sees the global scope only. RTLD_NOLOAD: never bring an MPI library into a program without one.
  void* library = dlopen(NPLUS1_MPI_SONAME, RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

namespace {

int* special_address(const char* name) noexcept {
  const auto* variable = static_cast<int* const*>(next_symbol(name));
  return variable == nullptr ? nullptr : *variable;
}

}  // namespace

int* unweighted() noexcept {
  static int* const address = special_address("MPI_UNWEIGHTED");
  return address;
}

int* weights_empty() noexcept {
  static int* const address = special_address("MPI_WEIGHTS_EMPTY");
  return address;
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
