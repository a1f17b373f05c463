#include "stubs/access/signal_actions.hpp"

#include <cerrno>
#include <cstring>

#include "stubs/access/raw_system_call.hpp"
#include "stubs/access/signal_context.hpp"

namespace nplus1::stubs::access {

long change_mask(const Arguments& call, void* context) noexcept {
  const long* a = call.of;
  constexpr long kMaskBytes = 8;
  if (a[3] != kMaskBytes) return -EINVAL;
  unsigned long& real = mask_of(context);
  const unsigned long before = (real & ~kOurSignals) | this_watch.hidden_mask;
  if (a[1] != 0) {
    unsigned long wanted = *reinterpret_cast<const unsigned long*>(a[1]);
    if (a[0] == SIG_BLOCK)
      wanted |= before;
    else if (a[0] == SIG_UNBLOCK)
      wanted = before & ~wanted;
    else if (a[0] != SIG_SETMASK)
      return -EINVAL;
    wanted &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
    this_watch.hidden_mask = wanted & kOurSignals;
    real = wanted & ~kOurSignals;
  }
  if (a[2] != 0) *reinterpret_cast<unsigned long*>(a[2]) = before;
  return 0;
}

long change_other_action(const Arguments& call, KernelAction wanted) noexcept {
  const long* a = call.of;
  constexpr long kSignals = 64;
  if (a[0] < 1 || a[0] > kSignals) return raw_system_call(call.number, a[0], a[1], a[2], a[3]);
  KernelAction& kept = state.program_signals[a[0]];
  const KernelAction told = kept;
  KernelAction old;
  const KernelAction as_wanted = wanted;
  const bool on_stack =
      a[1] != 0 && (wanted.flags & SA_ONSTACK) != 0 && reinterpret_cast<std::uintptr_t>(wanted.handler) > 1;
  wanted.mask &= ~kOurSignals;
  if (on_stack) {
    kept = as_wanted;  // before the first signal comes
    wanted.handler = reinterpret_cast<void*>(&on_program_signal);
    wanted.flags |= SA_SIGINFO;
  }
  const long result =
      raw_system_call(call.number, a[0], a[1] == 0 ? 0 : as_argument(&wanted), as_argument(&old), a[3]);
  if (result != 0) {
    kept = told;
    return result;
  }
  if (a[1] != 0 && !on_stack) kept = KernelAction{};
  const bool was_ours = old.handler == reinterpret_cast<void*>(&on_program_signal);
  if (a[2] != 0) std::memcpy(reinterpret_cast<void*>(a[2]), was_ours ? &told : &old, sizeof(old));
  return result;
}

long change_action(const Arguments& call) noexcept {
  const long* a = call.of;
  const int which = index_of(static_cast<int>(a[0]));
  KernelAction wanted;
  if (a[1] != 0) std::memcpy(&wanted, reinterpret_cast<const void*>(a[1]), sizeof(wanted));
  if (which < 0) return change_other_action(call, wanted);
  if (a[2] != 0)
    std::memcpy(reinterpret_cast<void*>(a[2]), &state.program_actions[which], sizeof(KernelAction));
  if (a[1] != 0) state.program_actions[which] = wanted;
  return 0;
}

long change_stack(const Arguments& call) noexcept {
  const long* a = call.of;
  constexpr std::size_t kLeast = 2048;
  stack_t& mine = this_watch.program_stack;
  const stack_t before = mine;
  if (a[0] != 0) {
    const auto* wanted = reinterpret_cast<const stack_t*>(a[0]);
    if ((wanted->ss_flags & SS_DISABLE) != 0) {
      mine = stack_t{};
      mine.ss_flags = SS_DISABLE;
    } else {
      if (wanted->ss_size < kLeast) return -ENOMEM;
      mine = *wanted;
      mine.ss_flags = 0;
    }
  }
  if (a[1] != 0) {
    auto* told = reinterpret_cast<stack_t*>(a[1]);
    *told = before;
    if (before.ss_sp == nullptr) told->ss_flags = SS_DISABLE;
  }
  return 0;
}

}  // namespace nplus1::stubs::access
