// dlsym(), interposed for programs that open the MPI library and look its functions up by themselves (Python's ctypes, Julia's
// MPI.jl, plugins): what they find through the library's handle would be its own function, past whatever is preloaded.
#include <dlfcn.h>
#include <link.h>

#include <string_view>

#include "stubs/table/library_of.hpp"
#include "stubs/table/next.hpp"

namespace nplus1::stubs::pmpi {
namespace {

using Dlsym = void*(void*, const char*) noexcept;

/// A thread that finds another's is as well off. By builtins: sanitizers ask for functions before anything of theirs may run, and
/// what is inline in a header is instrumented.
Dlsym* system_dlsym = nullptr;

/// The C library's, which cannot be asked for itself. It moved from libdl to libc, and got a second version, in glibc 2.34.
__attribute__((no_sanitize("thread", "address"))) Dlsym* find_dlsym() noexcept {
  constexpr const char* kVersions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  void* found = nullptr;
  for (int i = 0; i < 3 && found == nullptr; ++i) found = dlvsym(RTLD_NEXT, "dlsym", kVersions[i]);
  auto* function = reinterpret_cast<Dlsym*>(found);
  __atomic_store_n(&system_dlsym, function, __ATOMIC_RELAXED);
  return function;
}

/// The wrapper of `name`, for which a handle has `native`, null if it would not call that library: a library between two ABIs,
/// which our wrappers call, must find the one behind it. (That the job was started for another MPI library, its wrapper says.)
void* wrapper_of(Dlsym* look_up, const char* name, const void* native) noexcept {
  char profiling[128] = "P";  // PMPI_X
  if (std::string_view{name}.copy(profiling + 1, sizeof(profiling) - 2) != std::string_view{name}.size())
    return nullptr;
  const void* called = next_symbol(profiling);
  const link_map *ours = library_of(reinterpret_cast<const void*>(&next_symbol)),
                 *theirs = library_of(native);
  if (ours == nullptr || theirs == nullptr) return nullptr;
  if (called == nullptr ? !is_of_another_mpi(native) : library_of(called) != theirs) return nullptr;
  void* library = dlopen(ours->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* wrapper = look_up(library, name);
  dlclose(library);
  return wrapper != nullptr && library_of(wrapper) == ours ? wrapper : nullptr;
}

void* look_up_mpi(Dlsym* look_up, void* handle, const char* name) noexcept {
  void* native = look_up(handle, name);
  void* wrapper = native == nullptr ? nullptr : wrapper_of(look_up, name, native);
  return wrapper == nullptr ? native : wrapper;
}

}  // namespace
}  // namespace nplus1::stubs::pmpi

/// What RTLD_NEXT means depends on who calls: all but an MPI function by handle is a jump into the C library's, so that it sees
/// our caller's return address. (Hence no instrumentation, and optimised always.)
extern "C" __attribute__((visibility("default"), no_sanitize("thread", "address"), optimize("O2"))) void*
dlsym(void* handle, const char* name) noexcept {
  using namespace nplus1::stubs::pmpi;
  Dlsym* look_up = __atomic_load_n(&system_dlsym, __ATOMIC_RELAXED);
  if (look_up == nullptr) look_up = find_dlsym();
  if (handle != RTLD_NEXT && handle != RTLD_DEFAULT && name[0] == 'M' && name[1] == 'P' && name[2] == 'I' &&
      (name[3] == '_' || (name[3] == 'X' && name[4] == '_')))
    return look_up_mpi(look_up, handle, name);
  return look_up(handle, name);
}
