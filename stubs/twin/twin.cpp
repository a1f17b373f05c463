#include "stubs/twin/twin.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <new>

#include "stubs/clock/core_speed.hpp"
#include "stubs/clock/thread_clock.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/twin/own_call.hpp"
#include "stubs/twin/pages.hpp"

namespace nplus1::stubs::twin {
namespace {

constexpr int kColdPasses =
    2;  // the first copies each page that it writes to, the second finds what that left
constexpr std::int64_t kMostWaitedNs =
    2'500'000;  // of a twin: of those that found a core of their own, nine of ten had by then

struct Pass {
  std::int64_t ticks;
  bool interrupted;  // others had the core for a while: then it is CPU time
  bool shared;       // ... or its other hardware thread
  CoreSpeed speed;   // before and behind it: cycles on average, loads as they took longest

  /// In cycles, but for a factor.
  [[nodiscard]] double length() const {
    const auto length = static_cast<double>(ticks);
    return speed.is_known() ? length / static_cast<double>(speed.chain_ticks) : length;
  }
};

/// Whether nobody else has the core's other hardware thread: loads against cycles, and the least that this was.
class OwnCore {
 public:
  void begin() {
    constexpr int kReadings = 32;
    for (int i = 0; i < kReadings; ++i) static_cast<void>(is_own(core_speed()));
  }
  bool is_own(const CoreSpeed& speed) {
    constexpr double kMore = 1.04;
    // Slowly: a single reading may be too small, as the frequency may have changed within it. And back, but more slowly than somebody
    // stays on the other thread: a twin that waits for its core reads a hundred times.
    constexpr double kDown = 0.2, kMostDown = 0.01, kUp = 1e-5;
    if (!speed.is_known()) return true;
    const double share = speed.share();
    if (least_ == 0) least_ = share;
    least_ += share < least_ ? std::max(kDown * (share - least_), -kMostDown * least_) : kUp * least_;
    return share < kMore * least_;
  }

 private:
  double least_ = 0;
};

/// What process and twin have in common.
struct Shared {
  enum State : std::uint32_t { kIdle, kRuns, kDone, kFailed };
  std::atomic<std::uint32_t> state{kIdle};
  pid_t parent = 0;
  std::int64_t deadline_ticks = 0;
  std::int64_t pass_began = 0, pass_began_cpu_ns = 0;
  int passes = 0;
  std::int64_t waited_ns = 0;  // for a core of its own
  double usual = 0;            // length of such a stretch
  int doubts = 0;              // times that it seemed to be longer
  int passes_then = 0;         // until which no more is to be asked
  Pass pass[kMostPasses] = {};
  CoreSpeed speed;  // behind the last pass
  bool own = true;  // and then nobody else had a part of the core
  OwnCore own_core;
  OwnReads own_reads;
  Runtime* runtime = nullptr;  // of the process: a forked child does not know it
  ucontext_t start{};          // where every pass begins
  ucontext_t between{};        // between two passes
  Pages pages;
  alignas(64) std::byte stack[std::size_t{64} << 10U];
  alignas(64) std::byte signal_stack[std::size_t{16} << 10U];
};

Shared* shared = nullptr;
bool twin_here = false;  // private memory: the twin's own

std::int64_t now_ns() {
  timespec t{};
  own_call(SYS_clock_gettime, CLOCK_MONOTONIC, as_long(&t));
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

std::int64_t cpu_ns() {
  timespec t{};
  own_call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, as_long(&t));
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

/// What a pass took. The time stamp counter knows it to the nanosecond; but beside many ranks the twin loses its core
/// sooner or later, and then only its CPU time tells, with what the changes of process cost.
Pass taken(std::int64_t tick_difference, std::int64_t cpu_difference_ns) {
  constexpr double kNoiseNs = 2000, kNoise = 1.005;  // of the CPU clock, the calls that read it included
  const auto cpu_ns = static_cast<double>(cpu_difference_ns);
  const double ticks_ns = static_cast<double>(tick_difference) * nanoseconds_per_tick();
  if (ticks_ns <= kNoise * cpu_ns + kNoiseNs) return {tick_difference, false, false, {}};
  return {static_cast<std::int64_t>(cpu_ns / nanoseconds_per_tick()), true, false, {}};
}

/// Which passes count, too.
enum class Disturbed : std::uint8_t { kNone, kInterrupted, kShared };

bool counts(const Pass& pass, Disturbed disturbed) {
  return disturbed == Disturbed::kShared ||
         (!pass.shared && (disturbed == Disturbed::kInterrupted || !pass.interrupted));
}

/// Of the warm passes the shortest that another confirms, `apart` or less of it longer: a single one may be too short,
/// because what the hypervisor took is subtracted from CPU time late. No ticks where there is no such pair.
Pass confirmed(double apart, Disturbed disturbed) {
  constexpr double kFewTicks = 40;
  const Shared& s = *shared;
  Pass warm[kMostPasses] = {};
  Pass* end = warm;
  for (int i = kColdPasses; i < s.passes; ++i)
    if (counts(s.pass[i], disturbed)) *end++ = s.pass[i];
  std::sort(warm, end, [](const Pass& a, const Pass& b) { return a.length() < b.length(); });
  for (const Pass* p = warm; p < end - 1; ++p) {
    const double few = kFewTicks * p->length() / static_cast<double>(std::max<std::int64_t>(p->ticks, 1));
    if (p[1].length() - p->length() > std::max(apart * p->length(), few)) continue;
    return {std::max<std::int64_t>(p->ticks, 1), p->interrupted, p->shared, p->speed};
  }
  return {};
}

/// Then what disturbs a pass is a small share of it; and to wait for more passes on a crowded host is to measure the
/// shorter ones of a kind only, since the longer do not end in time.
bool is_longer_than(double ns) {
  const Shared& s = *shared;
  return s.passes > kColdPasses &&
         static_cast<double>(s.pass[s.passes - 1].ticks) * nanoseconds_per_tick() > ns;
}

bool is_long() {
  return is_longer_than(1e6);
}

/// What the stretch takes, if the passes say it. Where others had the core in every pass, the shortest is still too
/// long, and none confirms another.
void judge(Measured& m) {
  constexpr double kNearly = 0.01, kAny = 1;
  constexpr int kEnoughPasses = 4, kEnoughLongOnes = 2;
  const int enough = is_long() ? kEnoughLongOnes : kEnoughPasses;
  Pass warm = confirmed(kNearly, Disturbed::kNone);
  if (warm.ticks == 0 && shared->passes >= kColdPasses + enough) {
    warm = confirmed(kAny, Disturbed::kInterrupted);
    if (warm.ticks == 0) warm = confirmed(kAny, Disturbed::kShared);
    m.rough = warm.ticks != 0;
  }
  m.warm_ticks = warm.ticks;
  m.speed = warm.speed;
}

[[noreturn]] void end(Shared::State state) {
  shared->state.store(state, std::memory_order_release);
  own_call(SYS_futex, as_long(&shared->state), FUTEX_WAKE, 1);
  leave(0);
}

/// At the end of a pass, or before one.
void look_at_core() {
  Shared& s = *shared;
  s.speed = core_speed();
  s.own = s.own_core.is_own(s.speed);
}

/// Longer than another such stretch: because it is, or because somebody uses the caches or the memory at the moment, which no
/// reading of the core shows. A moment later it may be another: false once it has waited for that often enough.
bool looks_again(const Pass& found) {
  constexpr double kLonger = 1.03;
  constexpr int kMostDoubts = 3, kPassesThen = 3;  // the first of these finds what others left
  constexpr timespec kMoment{0, 300'000};
  Shared& s = *shared;
  if (s.usual == 0 || found.length() <= kLonger * s.usual || s.doubts == kMostDoubts) return false;
  ++s.doubts;
  s.passes_then = s.passes + kPassesThen;
  own_call(SYS_nanosleep, as_long(&kMoment), 0);
  look_at_core();
  return true;
}

/// Two of the warm passes took the same, or there is no more time.
bool enough() {
  constexpr double kSame = 0.003;
  constexpr std::int64_t kMostCpuNs = 10'000'000;  // where the first passes have not told
  constexpr std::int64_t kMostCpuInVainNs =
      2'500'000;  // ... nor will others, since somebody else stays on the core
  constexpr int kFewPasses = 10, kFewLongOnes = 6, kFewVeryLongOnes = 4;
  constexpr double kVeryLongNs = 3e6;
  const Shared& s = *shared;
  if (s.passes <= kColdPasses) return false;
  if (s.passes == kMostPasses || ticks() > s.deadline_ticks) return true;
  const int few = is_longer_than(kVeryLongNs) ? kFewVeryLongOnes : is_long() ? kFewLongOnes : kFewPasses;
  const bool in_vain = s.waited_ns >= kMostWaitedNs;
  if (s.passes >= few && cpu_ns() > (in_vain ? kMostCpuInVainNs : kMostCpuNs)) return true;
  if (s.passes < s.passes_then) return false;
  const Pass found = confirmed(kSame, Disturbed::kNone);
  return found.ticks != 0 && !looks_again(found);
}

/// Who has the core's other hardware thread mostly has it for a millisecond or two, and passes meanwhile are too long. Others may
/// have the core itself until then.
void await_own_core() {
  constexpr timespec kMoment{0, 50'000};
  Shared& s = *shared;
  while (!s.own && s.waited_ns < kMostWaitedNs) {
    const std::int64_t began = now_ns();
    own_call(SYS_nanosleep, as_long(&kMoment), 0);
    look_at_core();
    s.waited_ns += now_ns() - began;
  }
}

/// Runs between two passes, on a stack of its own.
void between_passes() {
  Shared& s = *shared;
  if (s.passes == 1 && !s.pages.keep_written(s.parent)) end(Shared::kFailed);
  if (enough()) end(Shared::kDone);
  if (ticks() > s.deadline_ticks) end(Shared::kFailed);
  if (s.passes >= kColdPasses) await_own_core();
  s.pages.restore();
  setcontext(&s.start);
  leave(1);
}

/// The twin's first steps.
void become_twin() {
  Shared& s = *shared;
  twin_here = true;
  detail::own_state->runtime.store(s.runtime, std::memory_order_relaxed);
  set_active(true);
  // As each pass begins, whatever the program did to its signals in the one before.
  const unsigned long held = held_in_twins();
  std::memcpy(&s.start.uc_sigmask, &held, sizeof(held));
  const auto ours = reinterpret_cast<std::uintptr_t>(shared);
  if (!confine(s.signal_stack, sizeof(s.signal_stack))) end(Shared::kFailed);
  if (own_call(SYS_getppid) != s.parent) leave(1);  // it died before it could be noticed
  if (!s.pages.find(ours, ours + sizeof(Shared))) end(Shared::kFailed);
  // The program may hold back the signals of faults, too (as glibc does, where it makes a process): then they end the twin by
  // themselves, and leave no core file of a process that is not dumpable.
  own_call(SYS_prctl, PR_SET_DUMPABLE, 0);
}

/// Until the first pass has ended, if such stretches take `longest_ns` or less. One that waits for something that no twin sees (a
/// flag that a signal's handler sets, memory that others write to) would use all of its time.
std::int64_t most_cpu_ns(std::int64_t longest_ns, bool first) {
  constexpr std::int64_t kBesideNs = 10'000'000, kColder = 4;
  return first ? std::min(kBesideNs + kColder * longest_ns, kLimitCpuNs) : kLimitCpuNs;
}

/// 0: it has ended.
std::int64_t cpu_ns_of(pid_t twin) {
  constexpr unsigned kOfProcess = 2;  // as the kernel numbers the CPU clocks of processes
  timespec t{};
  own_call(SYS_clock_gettime, static_cast<int>(~static_cast<unsigned>(twin) << 3U | kOfProcess), as_long(&t));
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

Measured wait_for(pid_t twin, std::int64_t until_ns, std::int64_t longest_ns) {
  Shared& s = *shared;
  // Now and then, so that who watches this process sees it alive.
  constexpr timespec kMoment{0, 2'000'000};
  rusage used{};
  const auto ended = [&](int options) {
    return own_call(SYS_wait4, twin, 0, options | __WALL, as_long(&used));
  };
  long gone = 0;  // also where a handler of the program's has waited for it
  for (;;) {
    const std::uint32_t state = s.state.load(std::memory_order_acquire);
    gone = ended(WNOHANG);
    if (gone != 0 || state == Shared::kDone || state == Shared::kFailed) break;
    if (now_ns() > until_ns || cpu_ns_of(twin) > most_cpu_ns(longest_ns, s.passes == 0)) break;
    own_call(SYS_futex, as_long(&s.state), FUTEX_WAIT, static_cast<long>(state), as_long(&kMoment));
  }
  if (gone == 0) own_call(SYS_kill, twin, SIGKILL);  // else it may be a stranger by now
  while (gone == 0 || gone == -EINTR) gone = ended(0);
  Measured m;
  m.passes = s.passes;
  const auto us = [](const timeval& t) { return t.tv_sec * std::int64_t{1'000'000} + t.tv_usec; };
  m.cost_ns = 1000 * (us(used.ru_utime) + us(used.ru_stime));
  if (s.state.load(std::memory_order_acquire) == Shared::kDone) {
    s.pages.take_back();
    judge(m);
  }
  s.pages.take_back_all();
  return m;
}

}  // namespace

bool begin() noexcept {
  if (own_call_address() == 0) return false;
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  shared = new (memory) Shared;
  count_own_reads(shared->own_reads);
  shared->own_core.begin();
  return true;
}

bool core_is_own() noexcept {
  return shared->own_core.is_own(core_speed());
}

bool is_twin() noexcept {
  return twin_here;
}

__attribute__((noinline)) std::optional<Measured> measure(std::int64_t limit_ns, double usual,
                                                          std::int64_t longest_ns) noexcept {
  Shared& s = *shared;
  s.state.store(Shared::kIdle, std::memory_order_relaxed);
  s.passes = 0;
  s.waited_ns = 0;
  s.usual = usual;
  s.doubts = s.passes_then = 0;
  s.parent = getpid();
  s.runtime = detail::own_state->runtime.load(std::memory_order_relaxed);
  s.deadline_ticks =
      ticks() + static_cast<std::int64_t>(static_cast<double>(limit_ns) / nanoseconds_per_tick());
  const std::int64_t began = now_ns(), cpu_before = cpu_ns();
  getcontext(&s.start);  // each further pass begins here
  if (s.state.load(std::memory_order_acquire) == Shared::kRuns) {
    twin_here = true;
    return std::nullopt;
  }
  const unsigned long held = hold_signals();
  const long twin = own_call(SYS_clone, 0);
  if (twin == 0) {
    become_twin();
    s.state.store(Shared::kRuns, std::memory_order_release);
    return std::nullopt;
  }
  if (twin > 0) own_call(SYS_setpgid, twin, twin);  // as it does itself: whoever is first
  hold_signals(held);
  Measured m;
  if (twin > 0) m = wait_for(static_cast<pid_t>(twin), began + 2 * limit_ns, longest_ns);
  m.cost_ns += cpu_ns() - cpu_before + s.waited_ns;
  return m;
}

void begin_pass() noexcept {
  Shared& s = *shared;
  s.pass_began_cpu_ns = cpu_ns();
  s.pass_began = ticks();
}

void end_pass() noexcept {
  Shared& s = *shared;
  const std::int64_t took = ticks() - s.pass_began;
  Pass& pass = s.pass[s.passes] = taken(took, cpu_ns() - s.pass_began_cpu_ns);
  const bool first = s.passes == 0, own_before = first || s.own;
  const CoreSpeed before = s.speed;
  look_at_core();
  pass.speed = s.speed;
  if (!first) {
    pass.speed.chain_ticks = (before.chain_ticks + s.speed.chain_ticks) / 2;
    pass.speed.loads_ticks = std::max(before.loads_ticks, s.speed.loads_ticks);
  }
  pass.shared = !s.own || !own_before;
  ++s.passes;
  getcontext(&s.between);
  s.between.uc_stack.ss_sp = s.stack;
  s.between.uc_stack.ss_size = sizeof(s.stack);
  s.between.uc_link = nullptr;
  makecontext(&s.between, between_passes, 0);
  setcontext(&s.between);
  leave(1);
}

}  // namespace nplus1::stubs::twin
