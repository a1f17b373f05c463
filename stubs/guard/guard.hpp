// Which MPI call this thread is in, and whether the runtime observes it. The generated wrappers construct one
// DepthGuard per call; nothing else does. MPI calls that the MPI library makes itself (ROMIO, the Fortran
// bindings) and those of callbacks are nested: they pass straight through.
// All functions may be called from any thread, do not fail, and cost a few nanoseconds.
//
// No exception of ours leaves the library: the wrappers catch them all, and make the plain MPI call instead.
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
  std::uint32_t idle_sleeps = 0;  // between them
  std::uint32_t bell = 0;         // the doorbell's count before the last of these
  bool sends_wait = false;        // a message that MPI sent by itself in it, and that waits for its receiver
  const void* site = nullptr;     // where the outermost one returns to
  const void* frame = nullptr;    // its stack frame: with `site`, the key of its call path
  bool waits_itself = false;      // a handler polls MPI and sleeps by itself: the progress hook must not
  bool begun = false;  // the call has been told to the simulator, or MPI works on it: it cannot be made again
  bool refused = false;                 // its arguments seem wrong, and MPI is asked
  void (*show)(bool inside) = nullptr;  // to the simulator, of a rank's thread that has others beside it
  bool foreign = false;  // an exception came out of the MPI library: a callback of the program's threw it
};

extern constinit thread_local CallState call_state;

class Runtime;

namespace detail {
/// What makes this process a rank. A forked child is none: the kernel gives it zeros here (MADV_WIPEONFORK), however
/// it was forked, so that it is silent from its first instruction.
struct OwnState {
  std::atomic<bool> active;
  std::atomic<Runtime*> runtime;
};
extern constinit OwnState* own_state;
}  // namespace detail

/// Whether calls are observed: from the end of MPI_Init's set-up to Finalize. Before and after, all passes
/// through.
[[nodiscard]] inline bool active() noexcept {
  return detail::own_state->active.load(std::memory_order_acquire);
}
inline void set_active(bool on) noexcept {
  detail::own_state->active.store(on, std::memory_order_release);
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

/// Thrown by a handler whose arguments MPI refuses: nothing has been told, and MPI reports the error itself, to the
/// program's own error handler, in the name of the function that the program called.
struct Refused {};
[[noreturn]] inline void refuse() {
  throw Refused{};
}
inline void refuse_if(bool faulty) {
  if (faulty) [[unlikely]]
    refuse();
}

/// The call cannot be made again from here on.
inline void call_has_begun() noexcept {
  call_state.begun = true;
}

/// Ends observation of the whole job, and says so once; from any thread, with or without the runtime's lock.
void stop_observing(const char* why) noexcept;

/// In a wrapper's catch (...): throws the exception on if it is the program's own (of a callback, or the end of a
/// thread). Otherwise the wrapper makes the plain MPI call if this returns true; if not, MPI has made it already.
/// What failed was not of the call's making, unless it was Refused: then observation of the job ends, which is said
/// once.
[[nodiscard]] bool is_to_be_made_plainly();
/// The result of that call. Should MPI take what was refused, the simulator lacks an event.
template <class Result>
Result made_plainly(Result code) noexcept {
  if (call_state.refused && code == Result{0}) stop_observing("arguments that look wrong");
  return code;
}
/// As above, where there is no call to make. Nothing is thrown.
void swallow() noexcept;

/// Runs `observe`, which is no part of the program: whatever it throws ends observation, and nothing else.
template <class Observe>
void guarded(Observe&& observe) noexcept {
  try {
    observe();
  } catch (...) {
    swallow();
  }
}

/// Calls passed through without an event, by MpiCall, over all threads.
void count_call(MpiCall call) noexcept;
[[nodiscard]] std::uint64_t calls_counted(MpiCall call) noexcept;

/// The program has given MPI a function of its own to call: it may leave an MPI call by longjmp.
void note_callbacks() noexcept;

namespace detail {
extern constinit std::atomic<bool> callbacks_exist;
}  // namespace detail

/// Whether it has: then MPI may call the program back.
[[nodiscard]] inline bool callbacks_exist() noexcept {
  return detail::callbacks_exist.load(std::memory_order_relaxed);
}

namespace detail {
/// Whether this thread's outermost call has been left without a return; then all that it held is given back.
bool was_abandoned(const void* frame) noexcept;
}  // namespace detail

/// Gives back what an abandoned call held. The runtime's own replaces a weak one that holds nothing.
void recover_from_longjmp() noexcept;

/// Called where the outermost MPI call of a thread begins and ends; they do not throw.
struct WrapperHooks {
  void (*enter)() noexcept;
  void (*leave)() noexcept;
};
namespace detail {
extern constinit std::atomic<const WrapperHooks*> wrapper_hooks;
}
/// `hooks` live as long as the process.
inline void set_wrapper_hooks(const WrapperHooks* hooks) noexcept {
  detail::wrapper_hooks.store(hooks, std::memory_order_relaxed);
}

/// Alive while an MPI call is on the stack. Only the outermost call of an active runtime reaches a handler.
class DepthGuard {
 public:
  DepthGuard(MpiCall call, const void* site, const void* frame = nullptr) noexcept {
    if (call_state.depth > 0 && detail::callbacks_exist.load(std::memory_order_relaxed)) [[unlikely]]
      detail::was_abandoned(frame);
    outermost_ = call_state.depth++ == 0;
    if (outermost_) [[likely]]
      enter(call, site, frame);
  }
  ~DepthGuard() {
    if (--call_state.depth != 0) return;
    call_state.call = MpiCall::kNone;
    if (call_state.show != nullptr && active()) call_state.show(false);
    if (const WrapperHooks* hooks = detail::wrapper_hooks.load(std::memory_order_relaxed)) [[unlikely]]
      hooks->leave();
  }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

  [[nodiscard]] bool outermost() const noexcept { return outermost_; }
  [[nodiscard]] bool observed() const noexcept { return outermost_ && active(); }

 private:
  static void enter(MpiCall call, const void* site, const void* frame) noexcept {
    // Who waits for a lock of MPI's, or ours, waits for another thread's call and not in the application.
    if (call_state.show != nullptr && call != MpiCall::MPI_Wtime && active()) call_state.show(true);
    call_state.call = call;
    call_state.site = site;
    call_state.frame = frame;
    call_state.idle_polls = call_state.idle_sleeps = 0;
    call_state.sends_wait = false;
    call_state.begun = false;
    call_state.refused = false;
    call_state.foreign = false;
    if (const WrapperHooks* hooks = detail::wrapper_hooks.load(std::memory_order_relaxed)) [[unlikely]]
      hooks->enter();
  }

  bool outermost_;
};

}  // namespace nplus1::stubs
