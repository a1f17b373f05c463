#include "stubs/table/next.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "stubs/guard/guard.hpp"

namespace nplus1::stubs::pmpi {

namespace {

/// MPICH's ABI goes by several names: libmpich.so.12 (Debian), libmpi.so.12 (MPICH, Intel MPI, MVAPICH), libmpi_cray.so.12
/// and the like.
bool is_of_this_abi(std::string_view library) noexcept {
  constexpr std::string_view kOurs = NPLUS1_MPI_SONAME, kFamily = ".so.12";
  return library == kOurs || (kOurs.ends_with(kFamily) && library.starts_with("libmpi") &&
                              library.find(kFamily) != std::string_view::npos);
}

int note_library(dl_phdr_info* info, std::size_t, void* paths) {
  const std::string_view path = info->dlpi_name;
  if (is_of_this_abi(path.substr(path.rfind('/') + 1)))
    static_cast<std::vector<std::string>*>(paths)->emplace_back(path);
  return 0;
}

/// The global scope is not all there is. RTLD_NOLOAD: never bring an MPI library into a program without one.
void* in_local_library(const char* name) noexcept {
  std::vector<std::string> paths{NPLUS1_MPI_SONAME};
  dl_iterate_phdr(note_library, &paths);
  for (const std::string& path : paths)
    if (void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD))
      if (void* found = dlsym(library, name)) return found;
  return nullptr;
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
