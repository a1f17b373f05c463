// Which MPI call this thread is in, and whether the runtime observes it. The generated wrappers construct one
// DepthGuard per call; nothing else does. MPI calls that the MPI library makes itself (ROMIO, the Fortran
// bindings) and those of callbacks are nested: they pass straight through.
// All functions may be called from any thread, do not fail, and cost a few nanoseconds.
#pragma once

#include <atomic>
#include <cstdint>

#include "events/mpi_call.hpp"

namespace nplus1::stubs {

using events::MpiCall;

/// What a thread is doing, as its wrappers know it.
struct CallState {
  int depth = 0;                  // MPI calls on this thread's stack
  MpiCall call = MpiCall::kNone;  // the outermost one; kNone outside MPI
  std::uint32_t idle_polls = 0;  // of the MPI library's progress, without a result, within the outermost call
  const void* site = nullptr;    // where the outermost one returns to
  const void* frame = nullptr;   // its stack frame: with `site`, the key of its call path
  bool waits_itself = false;     // a handler polls MPI and sleeps by itself: the progress hook must not
};

// initial-exec: a fixed offset from the thread pointer, which a preloaded library may count on.
extern constinit thread_local CallState call_state __attribute__((tls_model("initial-exec")));

namespace detail {
extern constinit std::atomic<bool> runtime_active;
}

/// Whether calls are observed: from the end of MPI_Init's set-up to Finalize. Before and after, all passes
/// through.
[[nodiscard]] inline bool active() noexcept {
  return detail::runtime_active.load(std::memory_order_acquire);
}
inline void set_active(bool on) noexcept {
  detail::runtime_active.store(on, std::memory_order_release);
}

/// The function that the application called, and the address after the call instruction: valid in handlers.
[[nodiscard]] inline MpiCall current_call() noexcept {
  return call_state.call;
}
[[nodiscard]] inline const void* call_site() noexcept {
  return call_state.site;
}
[[nodiscard]] inline const void* call_frame() noexcept {
  return call_state.frame;
}

/// Calls passed through without an event, by MpiCall, over all threads.
void count_call(MpiCall call) noexcept;
[[nodiscard]] std::uint64_t calls_counted(MpiCall call) noexcept;

/// Alive while an MPI call is on the stack. Only the outermost call of an active runtime reaches a handler.
class DepthGuard {
 public:
  DepthGuard(MpiCall call, const void* site, const void* frame = nullptr) noexcept {
    outermost_ = call_state.depth++ == 0;
    if (outermost_) [[likely]]
      enter(call, site, frame);
  }
  ~DepthGuard() {
    if (--call_state.depth == 0) call_state.call = MpiCall::kNone;
  }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

  [[nodiscard]] bool outermost() const noexcept { return outermost_; }
  [[nodiscard]] bool observed() const noexcept { return outermost_ && active(); }

 private:
  static void enter(MpiCall call, const void* site, const void* frame) noexcept {
    call_state.call = call;
    call_state.site = site;
    call_state.frame = frame;
    call_state.idle_polls = 0;
  }

  bool outermost_;
};

}  // namespace nplus1::stubs
