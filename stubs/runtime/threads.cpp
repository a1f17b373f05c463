#include "stubs/runtime/threads.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <unordered_map>
#include <utility>

#include "events/thread_change.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/transport/segment.hpp"

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

namespace nplus1::stubs {
namespace {

using Body = void*(void*);
using Create = int(pthread_t*, const pthread_attr_t*, Body*, void*);
using Join = int(pthread_t, void**);

/// Numbers of threads are 16 bits wide, and those of ended threads are not given again.
constexpr std::size_t kMostThreads = 65'000;
/// A creator that holds what its thread needs (the loader's lock) would else wait for ever.
constexpr int kMostWaits = 100;
constexpr std::int64_t kWaitNs = 10'000'000;

/// What a new thread gets from its creator. The two share it; who leaves last deletes it.
struct Birth {
  Body* body;
  void* argument;
  Time at;
  ThreadId creator;
  Duration computed;                   // by the creator since its last call
  std::atomic<std::uint32_t> told{0};  // the simulator knows of the thread
  std::atomic<int> owners{2};

  void leave() {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

struct Known {
  ThreadId id;
  Time end;
  bool ended = false;
};

/// The threads that may still be joined; with the runtime's lock held.
std::unordered_map<pthread_t, Known>& known_threads() {
  static auto* const threads =
      new std::unordered_map<pthread_t, Known>;  // threads may outlive static objects
  return *threads;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Whether a thread that is created or joined here belongs to the program, and may call MPI beside others.
bool matters() {
  if (!active() || call_state.depth != 0) return false;
  const Runtime* rt = runtime();
  if (rt == nullptr || rt->degraded()) return false;
  return threads_may_call();
}

/// In the new thread, before anything of the program's: from here on the simulator knows of it.
void begin_thread(const Birth& birth) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  if (rt.degraded() || rt.threads.count() >= kMostThreads) return;
  ThreadState& thread = rt.threads.mine();
  thread.reported = birth.at;
  thread.clock.start(birth.at);
  known_threads()[pthread_self()] = {thread.id, {}, false};
  tell_change(rt, thread, events::ThreadChange::kStart, birth.at, birth.creator,
              static_cast<std::uint64_t>(birth.computed.count()));
}

/// No noexcept: the end of a thread unwinds its stack.
void* run_thread(void* given) {
  auto* birth = static_cast<Birth*>(given);
  if (active()) guarded([birth] { begin_thread(*birth); });
  Body* const body = birth->body;
  void* const argument = birth->argument;
  birth->told.store(1, std::memory_order_release);
  transport::futex_wake(birth->told);
  birth->leave();
  return body(argument);
}

/// So that the order of threads, and what the simulator knows of them, are not the machine's.
void await_birth(Birth& birth) {
  const int saved = errno;
  for (int i = 0; i < kMostWaits && birth.told.load(std::memory_order_acquire) == 0; ++i)
    transport::futex_wait(birth.told, 0, kWaitNs);
  errno = saved;
}

/// The joiner waits in virtual time, too. What it needs to go on is there when the native join has returned.
std::optional<ThreadId> begin_join(pthread_t other) {
  std::optional<ThreadId> joined;
  guarded([&] {
    Runtime& rt = *runtime();
    const std::lock_guard guard{rt.lock};
    const auto found = known_threads().find(other);
    if (found == known_threads().end()) return;
    ThreadState& thread = rt.threads.mine();
    tell_change(rt, thread, events::ThreadChange::kJoin, now_of(thread), found->second.id);
    joined = found->second.id;
  });
  return joined;
}

void end_join(pthread_t other, ThreadId joined) {
  guarded([&] {
    Runtime& rt = *runtime();
    const std::lock_guard guard{rt.lock};
    ThreadState& thread = rt.threads.mine();
    Time end = thread.reported;
    const auto found = known_threads().find(other);
    if (found != known_threads().end() && found->second.id == joined) {
      if (found->second.ended) end = std::max(end, found->second.end);
      known_threads().erase(found);
    }
    thread.reported = end;
    thread.clock.start(end);
  });
}

}  // namespace

bool start_own_thread(void* (*run)(void*), void* argument) noexcept {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static Create* const create = real<Create>("pthread_create");
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const bool started = create != nullptr && create(&thread, nullptr, run, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started) pthread_detach(thread);
  return started;
}

bool threads_may_call() {
  int provided = MPI_THREAD_SINGLE;
  return pmpi::Query_thread(&provided) == MPI_SUCCESS && provided >= MPI_THREAD_SERIALIZED;
}

Time now_of(const ThreadState& thread) {
  return thread.clock.base_and(thread.clock.elapsed());
}

void tell_change(Runtime& rt, ThreadState& thread, events::ThreadChange change, Time now, ThreadId other,
                 std::uint64_t aux, bool follows) {
  if (change != events::ThreadChange::kIdle) end_idling(rt, thread);
  events::Event event;
  event.kind = events::EventKind::kLocal;
  event.operation = static_cast<std::uint8_t>(change);
  event.thread = thread.id;
  event.tag = other.value;
  event.aux = aux;
  if (!follows) {
    event.compute_ps = (now - thread.reported).count();
    event.entry_ps = now.time_since_epoch().count();
    thread.reported = now;
  }
  events::Detail detail;
  if (rt.capture() != nullptr) detail.wall_before_ns = detail.wall_entry_ns = thread.wall.at(ticks());
  rt.line.write(event, nullptr, rt.capture() == nullptr ? nullptr : &detail);
  rt.line.ring();
}

void end_idling(Runtime& rt, ThreadState& thread) {
  if (std::exchange(thread.is_idle, false)) [[unlikely]]
    tell_change(rt, thread, events::ThreadChange::kFork, thread.reported, thread.id);
}

void note_thread_end(Time t) {
  const auto found = known_threads().find(pthread_self());
  if (found == known_threads().end()) return;
  found->second.end = t;
  found->second.ended = true;
}

}  // namespace nplus1::stubs

using namespace nplus1::stubs;

NPLUS1_EXPORT int pthread_create(pthread_t* made, const pthread_attr_t* attributes, Body* body,
                                 void* argument) noexcept {
  static auto* const next = real<Create>("pthread_create");
  if (!matters()) return next(made, attributes, body, argument);
  Birth* birth = nullptr;
  guarded([&] {
    Runtime& rt = *runtime();
    const std::lock_guard guard{rt.lock};
    ThreadState& creator = rt.threads.mine();
    end_idling(rt, creator);
    const auto now = now_of(creator);
    birth = new Birth{.body = body,
                      .argument = argument,
                      .at = now,
                      .creator = creator.id,
                      .computed = now - creator.reported};
  });
  if (birth == nullptr) return next(made, attributes, body, argument);
  const int code = next(made, attributes, run_thread, birth);
  if (code != 0) {
    birth->leave();
    birth->leave();
    return code;
  }
  await_birth(*birth);
  birth->leave();
  return code;
}

NPLUS1_EXPORT int pthread_join(pthread_t other, void** result) {
  static auto* const next = real<Join>("pthread_join");
  const std::optional<nplus1::ThreadId> joined = matters() ? begin_join(other) : std::nullopt;
  const int code = next(other, result);
  if (joined && active()) end_join(other, *joined);
  return code;
}
