#include "stubs/guard/guard.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <exception>
#include <new>

namespace nplus1::stubs {

constinit thread_local CallState call_state;

namespace {
constinit detail::OwnState
    before_main{};  // and for good where the kernel has no such memory (before Linux 4.14)
}

namespace detail {
constinit OwnState* own_state = &before_main;
}

__attribute__((weak)) void stop_observing(const char* /*why*/) noexcept {
  set_active(false);
}

bool is_to_be_made_plainly() {
  if (call_state.foreign) throw;
  try {
    throw;
  } catch (const Refused&) {
    call_state.refused = true;
  } catch (const std::bad_alloc&) {
    stop_observing("out of memory");
  } catch (const std::exception& e) {
    stop_observing(e.what());
  }  // anything else is not ours: the end of a thread
  return !call_state.begun;
}

void swallow() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    stop_observing("out of memory");
  } catch (const std::exception& e) {
    stop_observing(e.what());
  } catch (...) {
    stop_observing("an unknown error");
  }
}

void note_callbacks() noexcept {
  detail::callbacks_exist.store(true, std::memory_order_relaxed);
}

__attribute__((weak)) void recover_from_longjmp() noexcept {}

namespace detail {

constinit std::atomic<bool> callbacks_exist{false};
constinit std::atomic<const WrapperHooks*> wrapper_hooks{nullptr};

namespace {

/// How far the unwinder has come on its way to the frame of the outermost call.
struct Search {
  std::uintptr_t frame;  // the stack pointer before that call: its canonical frame address
  std::uintptr_t site;
  bool passed = false;
};

_Unwind_Reason_Code look(_Unwind_Context* context, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const std::uintptr_t at = _Unwind_GetCFA(context);
  if (at < search.frame) return _URC_NO_REASON;
  search.passed = at > search.frame || _Unwind_GetIP(context) != search.site;
  return _URC_END_OF_STACK;
}

}  // namespace

/// A call is nested where the outermost one is on the stack below it: only the unwinder can tell it from a call that is
/// made after a longjmp, deeper in the program than the one that was left. Where it cannot, the call counts as nested.
bool was_abandoned(const void* frame) noexcept {
  if (frame == nullptr || call_state.frame == nullptr) return false;
  constexpr std::uintptr_t kSavedRegisters = 2 * sizeof(void*);  // the frame pointer and the return address
  Search search{reinterpret_cast<std::uintptr_t>(call_state.frame) + kSavedRegisters,
                reinterpret_cast<std::uintptr_t>(call_state.site)};
  _Unwind_Backtrace(look, &search);
  if (!search.passed) return false;
  recover_from_longjmp();
  call_state = CallState{};
  return true;
}

}  // namespace detail

namespace {

void be_no_rank() noexcept {
  detail::own_state->active.store(false, std::memory_order_relaxed);
  detail::own_state->runtime.store(nullptr, std::memory_order_relaxed);
}

__attribute__((constructor)) void make_own_state() {
  pthread_atfork(nullptr, nullptr, be_no_rank);
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, size, MADV_WIPEONFORK) == 0)
    detail::own_state = new (page) detail::OwnState{};
  else
    munmap(page, size);
}

constinit std::array<std::atomic<std::uint64_t>, events::kMpiCalls> counts{};
}  // namespace

void count_call(MpiCall call) noexcept {
  counts[events::index(call)].fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t calls_counted(MpiCall call) noexcept {
  return counts[events::index(call)].load(std::memory_order_relaxed);
}

}  // namespace nplus1::stubs
