// Open MPI waits in opal_progress, in which all its threads look for what has come. It does not say whether it has found
// anything, but where it has not, it calls sched_yield if it was told to (mpi_yield_when_idle): so we tell it to, and
// interpose that as well.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "stubs/runtime/hooks/progress_wait.hpp"
#include "stubs/table/next.hpp"

namespace nplus1::stubs {
namespace {

using Progress = void();

/// The thread is in opal_progress, and what that has found.
enum class Look : unsigned char { kNone, kFound, kVain };
constinit thread_local Look look = Look::kNone;

/// opal_progress belongs to a library that Open MPI's brings along, in its own scope where that is a local one.
void* in_open_mpi(const char* name) noexcept {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  void* library = dlopen("libopen-pal.so.40", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : dlsym(library, name);
}

/// Callbacks of the library's own may ask for progress again.
void ask_for_progress() noexcept {
  static auto* const progress = reinterpret_cast<Progress*>(in_open_mpi("opal_progress"));
  static auto* const yields = static_cast<std::atomic<bool>*>(in_open_mpi("opal_progress_yield_when_idle"));
  if (progress == nullptr) return;
  if (yields != nullptr) yields->store(true, std::memory_order_relaxed);
  const Look before = look;
  look = Look::kFound;
  progress();
  const bool vain = look == Look::kVain || yields == nullptr;
  look = before;
  if (before != Look::kNone) return;
  if (vain)
    wait_a_little();
  else
    note_progress();
}

}  // namespace
}  // namespace nplus1::stubs

extern "C" __attribute__((visibility("default"))) void opal_progress() {
  nplus1::stubs::ask_for_progress();
}

extern "C" __attribute__((visibility("default"))) int sched_yield() noexcept {
  using nplus1::stubs::Look;
  if (nplus1::stubs::look == Look::kNone) return static_cast<int>(syscall(SYS_sched_yield));
  nplus1::stubs::look = Look::kVain;
  return 0;
}
