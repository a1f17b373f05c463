// Windows and their synchronisation (MPI 4.0, sections 12.2 and 12.5). The simulator is told before MPI waits for others:
// then the rank counts as waiting, and nobody waits for it. But a lock is taken natively when the simulator has granted it,
// so that both are held in the same order; who held it before is natively giving it back, or has.
#include <algorithm>
#include <cstring>

#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/collectives/collective.hpp"
#include "stubs/runtime/point_to_point.hpp"
#include "stubs/runtime/send_hook.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

using events::WindowSync;

constexpr std::uint64_t kWindow = 0x77696e646f77;  // tells windows from other things made of a communicator

template <class Native>
int pass(Native&& native) {
  const UnmodelledScope scope{current_call()};
  return native();
}

void add_window(Call& call, Communicator& parent, MPI_Win handle) {
  std::shared_ptr<Communicator> comm = call.rt.communicators.make(parent.all, parent, kWindow);
  comm->my_index = parent.my_index;
  call.rt.line.define(*comm);
  call.rt.windows.add(handle, std::move(comm));
}

/// In virtual time all members of `parent` wait for each other, as in the making of a communicator.
template <class Create>
int make_window(MPI_Comm parent, MPI_Win* window, bool faulty, Create&& create) {
  Communicator* known = communicator(parent);
  if (known == nullptr || known->inter) return pass(create);
  refuse_if(faulty || window == nullptr);
  Call call;
  const bool owed = known->owed_creations > 0;
  if (owed) --known->owed_creations;
  const auto natively = [&] { return call.unlocked(create); };
  const int code = owed ? natively() : synchronize(call, *known, natively);
  if (code == MPI_SUCCESS)
    add_window(call, *known, *window);
  else
    ++known->owed_creations;
  return code;
}

/// What MPI_Win_X means to the simulator.
struct Sync {
  WindowSync what{};
  int target = MPI_PROC_NULL;
  std::int32_t mode = 0;
  std::vector<std::uint32_t> group{};
};

events::Event event_of(const Window& window, const Sync& sync) {
  events::Event event;
  event.kind = events::EventKind::kWindowSync;
  event.operation = static_cast<std::uint8_t>(sync.what);
  event.comm = window.comm->number;
  event.peer = sync.target == MPI_PROC_NULL ? kProcNull.value : window.comm->world(sync.target).value;
  event.tag = sync.mode;
  event.aux = sync.group.size();
  return event;
}

void tell(Call& call, const Window& window, const Sync& sync, std::uint8_t flags) {
  events::Event event = event_of(window, sync);
  event.flags = flags;
  constexpr std::size_t kWords = events::kSlotBytes / sizeof(std::uint32_t);
  std::vector<std::uint32_t> slots = sync.group;
  slots.resize((slots.size() + kWords - 1) / kWords * kWords);
  event.extension = static_cast<std::uint32_t>(slots.size() / kWords);
  call.emit(event, slots.empty() ? nullptr : slots.data());
}

void await_window_end(Call& call) {
  const auto answer = call.await_answer();
  if (!answer) return;
  call.exit_at(answer->exit());
  Time& interface_free = call.thread.interface_free;  // it has sent what others are told
  interface_free = std::max(interface_free, Time{Duration{static_cast<std::int64_t>(answer->reserved)}});
}

/// Whose steps MPI may need, of those who may have been waiting for something else since before.
MayNeed helpers(const Window& window, const Sync& sync) {
  if (sync.what == WindowSync::kFence || sync.what == WindowSync::kStart || sync.what == WindowSync::kWait)
    return MayNeed{kProcNull};
  if (window.is_member(sync.target)) return MayNeed{window.comm->world(sync.target)};
  return MayNeed{*window.comm};
}

/// What MPI does meanwhile; the lock is released.
template <class Native>
int ask_mpi(Call& call, const Window& window, const Sync& sync, Native&& native) {
  const MayNeed help = helpers(window, sync);
  return call.unlocked(native);
}

/// `legal`: as far as is known, MPI takes the call. Otherwise it is asked first.
template <class Native>
int synchronise(Window& window, const Sync& sync, bool legal, Native&& native) {
  Call call;
  if (!legal) {
    const int code = ask_mpi(call, window, sync, native);
    if (code != MPI_SUCCESS) return code;
    tell(call, window, sync, events::kNeedsAnswer);
    await_window_end(call);
    return code;
  }
  tell(call, window, sync, events::kNeedsAnswer);
  call.rt.line.ring();
  const int code = ask_mpi(call, window, sync, native);
  await_window_end(call);
  return code;
}

/// Virtually first.
template <class Native>
int lock(Window& window, const Sync& sync, bool legal, Native&& native) {
  if (!legal) return synchronise(window, sync, false, native);
  Call call;
  tell(call, window, sync, events::kNeedsAnswer);
  await_window_end(call);
  return ask_mpi(call, window, sync, native);
}

template <class Native>
int synchronise_with_target(MPI_Win handle, WindowSync what, int target, Native&& native) {
  Window* window = find_window(handle);
  if (window == nullptr) return pass(native);
  const int code = synchronise(*window, {what, target}, window->reaches(target), native);
  if (code == MPI_SUCCESS && what == WindowSync::kUnlock) window->locked.erase(target);
  return code;
}

template <class Native>
int synchronise_with_all(MPI_Win handle, WindowSync what, Native&& native) {
  Window* window = find_window(handle);
  if (window == nullptr) return pass(native);
  const bool unlocks = what == WindowSync::kUnlockAll;
  const bool legal = window->all_locked || (!unlocks && !window->locked.empty());
  const int code = synchronise(*window, {what}, legal, native);
  if (code == MPI_SUCCESS && unlocks) window->all_locked = false;
  return code;
}

std::int32_t mode_of(int kind, int assert) {
  return (kind == MPI_LOCK_EXCLUSIVE ? events::kExclusiveLock : events::kSharedLock) |
         ((assert& MPI_MODE_NOCHECK) != 0 ? events::kLockWithoutAsking : 0);
}

/// World ranks of a group's members; with MPI_MODE_NOCHECK nobody is told, nor waited for.
std::vector<std::uint32_t> members_of(MPI_Group group) {
  std::vector<std::uint32_t> members;
  for (const std::int32_t member : world_ranks(group)) members.push_back(static_cast<std::uint32_t>(member));
  return members;
}

std::vector<std::uint32_t> asked(const std::vector<std::uint32_t>& members, int assert) {
  return (assert& MPI_MODE_NOCHECK) != 0 ? std::vector<std::uint32_t>{} : members;
}

}  // namespace

namespace handlers {

#define NPLUS1_MAKE_WINDOW(Name, PARAMETERS, COMM, FAULTY, ARGUMENTS)            \
  int Name PARAMETERS {                                                          \
    return make_window(COMM, win, FAULTY, [&] { return pmpi::Name ARGUMENTS; }); \
  }

NPLUS1_MAKE_WINDOW(Win_create,
                   (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win), comm,
                   size < 0 || unit <= 0 || (size > 0 && base == nullptr),
                   (base, size, unit, info, comm, win))
NPLUS1_MAKE_WINDOW(Win_create,
                   (void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
                   comm, size < 0 || unit <= 0 || (size > 0 && base == nullptr),
                   (base, size, unit, info, comm, win))
NPLUS1_MAKE_WINDOW(Win_allocate,
                   (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win), comm,
                   size < 0 || unit <= 0, (size, unit, info, comm, base, win))
NPLUS1_MAKE_WINDOW(Win_allocate,
                   (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),
                   comm, size < 0 || unit <= 0, (size, unit, info, comm, base, win))
NPLUS1_MAKE_WINDOW(Win_allocate_shared,
                   (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win), comm,
                   size < 0 || unit <= 0, (size, unit, info, comm, base, win))
NPLUS1_MAKE_WINDOW(Win_allocate_shared,
                   (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),
                   comm, size < 0 || unit <= 0, (size, unit, info, comm, base, win))
NPLUS1_MAKE_WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win), comm, false,
                   (info, comm, win))
#undef NPLUS1_MAKE_WINDOW

int Win_free(MPI_Win* win) {
  Window* window = win == nullptr ? nullptr : find_window(*win);
  const auto native = [&] { return pmpi::Win_free(win); };
  if (window == nullptr) return pass(native);
  const MPI_Win handle = *win;
  Call call;
  const bool legal = !window->in_epoch();
  int code = legal ? MPI_SUCCESS : call.unlocked(native);
  if (code != MPI_SUCCESS) return code;
  code = synchronize(call, *window->comm, [&] { return legal ? call.unlocked(native) : MPI_SUCCESS; });
  if (code != MPI_SUCCESS) return code;
  call.rt.windows.forget(handle);
  return code;
}

int Win_set_info(MPI_Win win, MPI_Info info) {
  Window* window = find_window(win);
  const auto native = [&] { return pmpi::Win_set_info(win, info); };
  if (window == nullptr || info == MPI_INFO_NULL) return pass(native);
  Call call;
  return synchronize(call, *window->comm, [&] { return call.unlocked(native); });
}

int Win_fence(int assert, MPI_Win win) {
  Window* window = find_window(win);
  const auto native = [&] { return pmpi::Win_fence(assert, win); };
  if (window == nullptr) return pass(native);
  return synchronise(*window, {WindowSync::kFence}, !window->in_epoch(), native);
}

int Win_post(MPI_Group group, int assert, MPI_Win win) {
  Window* window = find_window(win);
  const auto native = [&] { return pmpi::Win_post(group, assert, win); };
  if (window == nullptr) return pass(native);
  Call call;
  const int code = ask_mpi(call, *window, {WindowSync::kPost}, native);
  if (code != MPI_SUCCESS) return code;
  call_has_begun();
  window->posted = true;
  window->origins = members_of(group);
  const Sync sync{WindowSync::kPost, MPI_PROC_NULL, 0, asked(window->origins, assert)};
  tell(call, *window, sync, 0);
  Time at = call.entry();
  for (const std::uint32_t origin : sync.group)
    at = semantics::send_eager(call.rt.network(), at, call.rt.me(), RankId{static_cast<std::int32_t>(origin)},
                               Bytes{}, call.thread.interface_free)
             .sender_free;
  call.exit_at(at);
  return code;
}

int Win_start(MPI_Group group, int assert, MPI_Win win) {
  Window* window = find_window(win);
  const auto native = [&] { return pmpi::Win_start(group, assert, win); };
  if (window == nullptr) return pass(native);
  const bool legal = is_group(group) && !window->started && !window->all_locked && window->locked.empty();
  std::vector<std::uint32_t> targets;
  if (is_group(group)) targets = members_of(group);
  const int code =
      synchronise(*window, {WindowSync::kStart, MPI_PROC_NULL, 0, asked(targets, assert)}, legal, native);
  if (code != MPI_SUCCESS) return code;
  window->started = true;
  window->targets = std::move(targets);
  return code;
}

int Win_complete(MPI_Win win) {
  Window* window = find_window(win);
  const auto native = [&] { return pmpi::Win_complete(win); };
  if (window == nullptr) return pass(native);
  const int code = synchronise(*window, {WindowSync::kComplete, MPI_PROC_NULL, 0, window->targets},
                               window->started, native);
  if (code == MPI_SUCCESS) window->started = false;
  return code;
}

int Win_wait(MPI_Win win) {
  Window* window = find_window(win);
  const auto native = [&] { return pmpi::Win_wait(win); };
  if (window == nullptr) return pass(native);
  const int code =
      synchronise(*window, {WindowSync::kWait, MPI_PROC_NULL, 0, window->origins}, window->posted, native);
  if (code == MPI_SUCCESS) window->posted = false;
  return code;
}

int Win_test(MPI_Win win, int* flag) {
  Window* window = find_window(win);
  if (window == nullptr || !window->posted || flag == nullptr)
    return pass([&] { return pmpi::Win_test(win, flag); });
  Call call;
  tell(call, *window, {WindowSync::kTest, MPI_PROC_NULL, 0, window->origins}, events::kNeedsAnswer);
  const auto answer = call.await_answer();
  int code = MPI_SUCCESS;
  if (answer) {
    call.exit_at(answer->exit());
    *flag = answer->flag;
    int ended = 0;
    if (*flag != 0)
      call.poll_native([&] {
        code = pmpi::Win_test(win, &ended);
        return ended != 0 || code != MPI_SUCCESS;
      });
  } else {
    code = call.unlocked([&] { return pmpi::Win_test(win, flag); });
    call.outcome().answer.flag = code == MPI_SUCCESS && *flag != 0 ? 1 : 0;
  }
  if (code == MPI_SUCCESS && *flag != 0) window->posted = false;
  return code;
}

int Win_lock(int kind, int rank, int assert, MPI_Win win) {
  Window* window = find_window(win);
  const auto native = [&] { return pmpi::Win_lock(kind, rank, assert, win); };
  if (window == nullptr) return pass(native);
  const bool legal = window->is_member(rank) && !window->reaches(rank) && !window->started &&
                     !window->all_locked && (kind == MPI_LOCK_SHARED || kind == MPI_LOCK_EXCLUSIVE);
  const int code = lock(*window, {WindowSync::kLock, rank, mode_of(kind, assert)}, legal, native);
  if (code == MPI_SUCCESS) window->locked.insert(rank);
  return code;
}

int Win_lock_all(int assert, MPI_Win win) {
  Window* window = find_window(win);
  const auto native = [&] { return pmpi::Win_lock_all(assert, win); };
  if (window == nullptr) return pass(native);
  const bool legal = !window->started && !window->all_locked && window->locked.empty();
  const int code =
      lock(*window, {WindowSync::kLockAll, MPI_PROC_NULL, mode_of(MPI_LOCK_SHARED, assert)}, legal, native);
  if (code == MPI_SUCCESS) window->all_locked = true;
  return code;
}

int Win_unlock(int rank, MPI_Win win) {
  return synchronise_with_target(win, WindowSync::kUnlock, rank, [&] { return pmpi::Win_unlock(rank, win); });
}
int Win_flush(int rank, MPI_Win win) {
  return synchronise_with_target(win, WindowSync::kFlush, rank, [&] { return pmpi::Win_flush(rank, win); });
}
int Win_flush_local(int rank, MPI_Win win) {
  return synchronise_with_target(win, WindowSync::kFlushLocal, rank,
                                 [&] { return pmpi::Win_flush_local(rank, win); });
}
int Win_unlock_all(MPI_Win win) {
  return synchronise_with_all(win, WindowSync::kUnlockAll, [&] { return pmpi::Win_unlock_all(win); });
}
int Win_flush_all(MPI_Win win) {
  return synchronise_with_all(win, WindowSync::kFlushAll, [&] { return pmpi::Win_flush_all(win); });
}
int Win_flush_local_all(MPI_Win win) {
  return synchronise_with_all(win, WindowSync::kFlushLocalAll,
                              [&] { return pmpi::Win_flush_local_all(win); });
}

}  // namespace handlers
}  // namespace nplus1::stubs
