// The functions that GCC's compilers call for OpenMP (libgomp, GCC 4.9 and later), interposed: stubs/runtime/teams.hpp. LLVM's and
// Intel's runtimes have others, and are as measured.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <new>

#include "stubs/runtime/teams.hpp"
#include "stubs/table/library_of.hpp"

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

namespace nplus1::stubs {
namespace {

using Body = Team::Body;

/// The function of a name that a caller is linked with. Where the caller's library was opened by a handle, its OpenMP is behind
/// that, and there may be several.
class Next {
 public:
  explicit constexpr Next(const char* name) : name_{name} {}

  void* of(const void* caller) {
    void* found = global_.load(std::memory_order_relaxed);
    return found != nullptr ? found : look_up(caller);
  }

 private:
  struct Found {
    const void* caller;
    void* function;
  };
  static constexpr std::size_t kKept = 64;

  void* look_up(const void* caller) {
    std::atomic<const Found*>& kept = kept_[reinterpret_cast<std::uintptr_t>(caller) / 16 % kKept];
    const Found* known = kept.load(std::memory_order_acquire);
    if (known != nullptr && known->caller == caller) return known->function;
    if (void* found = dlsym(RTLD_NEXT, name_)) {
      global_.store(found, std::memory_order_relaxed);
      return found;
    }
    void* found = behind(caller);
    auto* fresh = new (std::nothrow) Found{caller, found};
    if (!kept.compare_exchange_strong(known = nullptr, fresh, std::memory_order_acq_rel)) delete fresh;
    return found;
  }

  [[nodiscard]] void* behind(const void* caller) const {
    const link_map* library = pmpi::library_of(caller);
    void* handle = library == nullptr ? nullptr : dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void* found = handle == nullptr ? nullptr : dlsym(handle, name_);
    if (handle != nullptr) dlclose(handle);
    // A program without OpenMP whose reference is weak finds ours, and nothing is behind it.
    return pmpi::library_of(found) == pmpi::library_of(this) ? nullptr : found;
  }

  const char* const name_;
  std::atomic<void*> global_{nullptr};
  std::atomic<const Found*> kept_[kKept]{};
};

constinit Next team_size{"omp_get_num_threads"}, largest_team{"omp_get_max_threads"};

template <class... Rest>
void fork_team(Next& function, const void* caller, Body* body, void* data, unsigned threads, Rest... rest) {
  using Forking = void(Body*, void*, unsigned, Rest...);
  auto* const next = reinterpret_cast<Forking*>(function.of(caller));
  if (next == nullptr) return body(data);
  if (!Team::are_seen()) return next(body, data, threads, rest...);
  auto* const size = reinterpret_cast<Team::Size*>(team_size.of(caller));
  auto* const largest = reinterpret_cast<Team::Size*>(largest_team.of(caller));
  const bool one = threads == 1 || (threads == 0 && largest != nullptr && largest() == 1);
  Team team{body, data, size, !one};
  next(Team::run, &team, threads, rest...);
  team.end();
}

constinit Next schedule{"omp_get_schedule"}, barrier{"GOMP_barrier"};

/// Whether the schedule that is set at run time (OMP_SCHEDULE) lets whoever is free take the next piece.
bool goes_to_who_is_free(const void* caller) {
  enum Kind { kStatic = 1, kDynamic = 2, kGuided = 3, kMonotonic = 1U << 31U };
  unsigned kind = 0;
  int chunk = 0;
  auto* const get = reinterpret_cast<void (*)(unsigned*, int*)>(schedule.of(caller));
  if (get == nullptr) return false;
  get(&kind, &chunk);
  kind &= ~unsigned{kMonotonic};
  return kind == kDynamic || kind == kGuided;
}

/// The first piece, or the next one, of a loop or of sections: what `function` returns is 0 where there is none.
template <class Has, class... Arguments>
Has next_piece(Next& function, const void* caller, bool at_run_time, Arguments... arguments) {
  auto* const next = reinterpret_cast<Has (*)(Arguments...)>(function.of(caller));
  if (next == nullptr) return Has{};
  const Has has = next(arguments...);
  const bool another = has != Has{};
  if (another && goes_on_with_short_pieces()) return has;
  if (has_piece() || (another && (!at_run_time || goes_to_who_is_free(caller)))) take_piece(another);
  return has;
}

/// What the compiler says of a task's dependences (libgomp/task.c, gomp_task_handle_depend): their number, how many of them are
/// written, and their addresses, those first; from GCC 9 on behind a 0, and with more numbers. Objects that hold dependences are
/// left out.
class DependencesOf {
 public:
  DependencesOf(long flags, void** given) {
    constexpr long kDepends = 1 << 3;
    if ((flags & kDepends) == 0 || given == nullptr) return;
    const auto number = [given](std::size_t i) { return reinterpret_cast<std::uintptr_t>(given[i]); };
    if (number(0) != 0)
      add(given + 2, number(0), number(1));
    else
      add(given + 5, number(2) + number(3) + number(4), number(2) + number(3));
  }
  [[nodiscard]] Dependences all() const { return {all_.data(), count_}; }

 private:
  void add(void** addresses, std::size_t count, std::size_t written) {
    count_ = std::min(count, all_.size());
    for (std::size_t i = 0; i < count_; ++i) all_[i] = {addresses[i], i >= written};
  }

  std::array<Dependence, 64> all_;  // of these, the first
  std::size_t count_ = 0;
};

}  // namespace
}  // namespace nplus1::stubs

using namespace nplus1::stubs;

// The compiler calls these (gcc/omp-builtins.def, libgomp/libgomp_g.h). First those that fork a team for one body.
#define NPLUS1_TEAM(name, parameters, ...)                                          \
  NPLUS1_EXPORT void name parameters {                                              \
    static constinit Next next{#name};                                              \
    fork_team(next, __builtin_return_address(0), body, data, threads, __VA_ARGS__); \
  }
#define NPLUS1_LOOP(name)                                                                              \
  NPLUS1_TEAM(name,                                                                                    \
              (Body * body, void* data, unsigned threads, long begin, long end, long step, long chunk, \
               unsigned flags),                                                                        \
              begin, end, step, chunk, flags)
#define NPLUS1_RUNTIME_LOOP(name)                                                                           \
  NPLUS1_TEAM(name,                                                                                         \
              (Body * body, void* data, unsigned threads, long begin, long end, long step, unsigned flags), \
              begin, end, step, flags)
NPLUS1_TEAM(GOMP_parallel, (Body * body, void* data, unsigned threads, unsigned flags), flags)
NPLUS1_TEAM(GOMP_parallel_sections,
            (Body * body, void* data, unsigned threads, unsigned count, unsigned flags), count, flags)
NPLUS1_LOOP(GOMP_parallel_loop_static)
NPLUS1_LOOP(GOMP_parallel_loop_dynamic)
NPLUS1_LOOP(GOMP_parallel_loop_guided)
NPLUS1_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
NPLUS1_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
NPLUS1_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
NPLUS1_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
NPLUS1_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

// Pieces of work that members take when they are free.
#define NPLUS1_PIECE(type, name, at_run_time, parameters, ...)                                          \
  NPLUS1_EXPORT type name parameters {                                                                  \
    static constinit Next next{#name};                                                                  \
    return next_piece<type>(next, __builtin_return_address(0), at_run_time __VA_OPT__(, ) __VA_ARGS__); \
  }
#define NPLUS1_PIECES(kind)                                                                                  \
  NPLUS1_PIECE(bool, GOMP_loop_##kind##_start, false,                                                        \
               (long begin, long end, long step, long chunk, long* from, long* to), begin, end, step, chunk, \
               from, to)                                                                                     \
  NPLUS1_PIECE(bool, GOMP_loop_##kind##_next, false, (long* from, long* to), from, to)                       \
  NPLUS1_PIECE(bool, GOMP_loop_ull_##kind##_start, false,                                                    \
               (bool up, Huge begin, Huge end, Huge step, Huge chunk, Huge* from, Huge* to), up, begin, end, \
               step, chunk, from, to)                                                                        \
  NPLUS1_PIECE(bool, GOMP_loop_ull_##kind##_next, false, (Huge * from, Huge * to), from, to)
#define NPLUS1_PIECES_AT_RUN_TIME(kind)                                                                      \
  NPLUS1_PIECE(bool, GOMP_loop_##kind##_start, true,                                                         \
               (long begin, long end, long step, long* from, long* to), begin, end, step, from, to)          \
  NPLUS1_PIECE(bool, GOMP_loop_##kind##_next, true, (long* from, long* to), from, to)                        \
  NPLUS1_PIECE(bool, GOMP_loop_ull_##kind##_start, true,                                                     \
               (bool up, Huge begin, Huge end, Huge step, Huge* from, Huge* to), up, begin, end, step, from, \
               to)                                                                                           \
  NPLUS1_PIECE(bool, GOMP_loop_ull_##kind##_next, true, (Huge * from, Huge * to), from, to)
using Huge = unsigned long long;
NPLUS1_PIECES(dynamic)
NPLUS1_PIECES(guided)
NPLUS1_PIECES(nonmonotonic_dynamic)
NPLUS1_PIECES(nonmonotonic_guided)
NPLUS1_PIECES_AT_RUN_TIME(runtime)
NPLUS1_PIECES_AT_RUN_TIME(nonmonotonic_runtime)
NPLUS1_PIECES_AT_RUN_TIME(maybe_nonmonotonic_runtime)
NPLUS1_PIECE(unsigned, GOMP_sections_start, false, (unsigned count), count)
NPLUS1_PIECE(unsigned, GOMP_sections_next, false, ())

// Barriers, those at the end of a work-sharing construct among them.
#define NPLUS1_BARRIER(name)                                                                               \
  NPLUS1_EXPORT void name() {                                                                              \
    static constinit Next next{#name};                                                                     \
    const void* const caller = __builtin_return_address(0);                                                \
    void* const function = next.of(caller);                                                                \
    if (function != nullptr)                                                                               \
      meet_team(reinterpret_cast<void (*)()>(function), reinterpret_cast<void (*)()>(barrier.of(caller))); \
  }
NPLUS1_BARRIER(GOMP_barrier)
NPLUS1_BARRIER(GOMP_loop_end)
NPLUS1_BARRIER(GOMP_sections_end)

// Waiting for explicit tasks.
#define NPLUS1_AWAIT(name)                                       \
  NPLUS1_EXPORT void name() {                                    \
    static constinit Next next{#name};                           \
    void* const function = next.of(__builtin_return_address(0)); \
    if (function == nullptr) return;                             \
    const AwaitingTasks waits{false};                            \
    reinterpret_cast<void (*)()>(function)();                    \
  }
NPLUS1_AWAIT(GOMP_taskwait)
NPLUS1_AWAIT(GOMP_taskgroup_end)

// Explicit tasks. How many arguments there are depends on the version; further ones do no harm.
using Task = void(long, long, long, long, long, long, long, long, long, long, long);
NPLUS1_EXPORT void GOMP_task(long function, long data, long copy, long size, long alignment, long deferred,
                             long flags, long depend, long priority, long detach, long rest) {
  static constinit Next next{"GOMP_task"};
  const MakingTask makes{(deferred & 1) != 0, DependencesOf{flags, reinterpret_cast<void**>(depend)}.all()};
  reinterpret_cast<Task*>(next.of(__builtin_return_address(0)))(
      function, data, copy, size, alignment, deferred, flags, depend, priority, detach, rest);
}
#define NPLUS1_TASKLOOP(name)                                                                             \
  NPLUS1_EXPORT void name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, \
                          long k) {                                                                       \
    static constinit Next next{#name};                                                                    \
    const AwaitingTasks makes{true};                                                                      \
    reinterpret_cast<Task*>(next.of(__builtin_return_address(0)))(a, b, c, d, e, f, g, h, i, j, k);       \
  }
NPLUS1_TASKLOOP(GOMP_taskloop)
NPLUS1_TASKLOOP(GOMP_taskloop_ull)
