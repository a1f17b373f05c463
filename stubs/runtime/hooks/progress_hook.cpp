#include "stubs/runtime/hooks/progress_hook.hpp"

#include <dlfcn.h>

#include <atomic>

#include "stubs/runtime/hooks/progress_wait.hpp"

namespace nplus1::stubs {
namespace {

using Progress = unsigned(void*);

constinit std::atomic<Progress*> real_progress{nullptr};
constinit std::atomic<bool> looked_up{false};

/// RTLD_NEXT sees the global scope; an MPI library opened with RTLD_LOCAL brings its UCX along out of sight.
Progress* find_progress() noexcept {
  void* found = dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (found == nullptr) {
    void* library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) found = dlsym(library, "ucp_worker_progress");
  }
  auto* progress = reinterpret_cast<Progress*>(found);
  real_progress.store(progress, std::memory_order_relaxed);
  looked_up.store(true, std::memory_order_release);
  return progress;
}

Progress* next_progress() noexcept {
  if (looked_up.load(std::memory_order_acquire)) [[likely]]
    return real_progress.load(std::memory_order_relaxed);
  return find_progress();
}

}  // namespace
}  // namespace nplus1::stubs

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  using namespace nplus1::stubs;
  Progress* progress = next_progress();
  const unsigned events = progress == nullptr ? 0 : progress(worker);
  if (events == 0) {
    wait_a_little();
  } else {
    note_progress();
  }
  return events;
}
