#include "stubs/runtime/runtime.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "stubs/access/watch.hpp"
#include "stubs/library/library_of_mpi.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/hooks/progress_hook.hpp"
#include "stubs/runtime/send_hook.hpp"
#include "stubs/twin/own_call.hpp"

namespace nplus1::stubs {
namespace {

constexpr int kDeadlockExitCode = 86;  // documented in docs/cli.md
/// Whoever has something for a rank rings its bell; it looks by itself only in case nobody knew that it has to.
constexpr std::int64_t kFirstSleepNs = 3'200'000;
constexpr std::int64_t kLongestSleepNs = 20'000'000;
/// With native sends outstanding: they may need this process to push them.
constexpr std::int64_t kFirstBackgroundSleepNs = 200'000;
constexpr std::int64_t kLongestBackgroundSleepNs = 3'200'000;

constexpr unsigned kMostYields = 200;  // where nobody needs the core: some 50 us
constexpr std::int64_t kShortestIdleNs = 100'000;

/// Of many ranks on few cores, those that wait take time from those that compute, and push out their caches, each time they look:
/// so each time later, where whoever sends what they wait for wakes them.
std::int64_t idle_ns() noexcept {
  constexpr std::uint32_t kMostDoublings = 7;
  if (!native_sends_wake()) return kShortestIdleNs;
  return kShortestIdleNs << std::min(call_state.idle_sleeps++, kMostDoublings);
}

/// Hydra drops what it has not read when it ends a job: waits, not for ever, until it has read all, and
/// passed it on.
void await_empty_pipe(int descriptor) {
  int unread = 1;
  for (int i = 0; i < 200 && ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0; ++i)
    ::poll(nullptr, 0, 10);
  ::poll(nullptr, 0, 200);
}

void print_text(const std::vector<std::uint32_t>& words) {
  const char* text = reinterpret_cast<const char*>(words.data());
  const std::size_t length = strnlen(text, words.size() * sizeof(std::uint32_t));
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, length);
}

}  // namespace

Runtime::~Runtime() = default;

SystemIo::Numbers Runtime::own_io() const {
  const twin::OwnReads& reads = twin::own_reads();
  const std::uint64_t wakes = line.wakes();  // each a write of 8 bytes
  return {reads.bytes, 8 * wakes, reads.calls, wakes};
}

void Runtime::absorb() {
  while (line.read(answer_, answer_words_)) take_answer(answer_, answer_words_);
  if (line.spoilt()) return leave("an answer announces more than any has");
  if (!messages.absorb()) leave("the memory shared with the other ranks is damaged");
}

/// Who cannot go on in the simulation goes on as plain MPI, as all others then do.
void Runtime::leave(const char* why) {
  if (line.is_cut()) return;
  std::fprintf(stderr, "nplus1: rank %d leaves the simulation: %s\n  so:   the program goes on without it\n",
               me_.value, why);
  line.leave();
  degrade();
}

void Runtime::take_answer(const events::Answer& answer, const std::vector<std::uint32_t>& words) {
  switch (answer.kind) {
    case events::AnswerKind::kExit:
      return threads.take(answer, words);
    case events::AnswerKind::kMatch:
      return messages.matched_elsewhere(answer);
    case events::AnswerKind::kNotice:
      return print_text(words);
    case events::AnswerKind::kDeadlock:
      if (answer.flag == 0) return;  // another rank prints, and ends the job
      print_text(words);
      await_empty_pipe(STDERR_FILENO);
      pmpi::Abort(world(), kDeadlockExitCode);
      return;
    case events::AnswerKind::kNone:
      return;
  }
}

bool Runtime::sleep_once(std::unique_lock<Lock>& held, SleepState& state) {
  if (degraded()) return false;
  if (!state.armed) {  // take a ticket, then look once more before sleeping on it
    state.ticket = line.prepare_sleep();
    state.armed = true;
    return true;
  }
  const auto [first, longest] = background.has_any()
                                    ? std::pair{kFirstBackgroundSleepNs, kLongestBackgroundSleepNs}
                                    : std::pair{kFirstSleepNs, kLongestSleepNs};
  state.nanoseconds = state.nanoseconds == 0 ? first : std::min(longest, 2 * state.nanoseconds);
  held.unlock();
  line.sleep(state.ticket, state.nanoseconds);
  held.lock();
  line.awake();
  state.armed = false;
  vain_looks.note(!degraded());
  background.push();
  look_for_simulator();
  return !line.is_cut();
}

void stop_observing(const char* why) noexcept {
  static std::atomic<bool> said{false};
  Runtime* rt = runtime();
  if (rt == nullptr || rt->degraded() || said.exchange(true)) return;
  char text[256];
  const int length =
      std::snprintf(text, sizeof(text),
                    "nplus1: rank %d: %s: the program goes on without us, and the simulation ends here\n",
                    static_cast<int>(rt->me().value), why);
  [[maybe_unused]] const ssize_t n =
      ::write(STDERR_FILENO, text, static_cast<std::size_t>(std::max(0, length)));
  rt->give_up();
}

void Runtime::give_up() noexcept {
  try {
    const std::lock_guard guard{lock};
    if (line.is_cut()) return;
    line.tell_of_giving_up();
    degrade();
  } catch (...) {  // not even that: the end of the socket tells the simulator, when the process ends
    line.cut();
  }
}

void recover_from_longjmp() noexcept {
  if (Runtime* rt = runtime()) rt->recover();
}

void Runtime::recover() noexcept {
  ThreadState* thread = ThreadStates::mine_if_known();
  if (thread == nullptr || !thread->in_call) return;
  threads.set_native_wait(*thread, false);
  threads.set_inside(false);
  thread->late_word = nullptr;
  thread->miss_its_end();
  thread->in_call = false;
  threads.start_clock(*thread, thread->inside);  // what was computed since the jump is not known
  if (lock.is_held_here()) lock.unlock();
}

void Runtime::look_for_simulator() {
  constexpr std::uint32_t kSeldom = 8;  // it costs a system call
  if (++looks_for_simulator_ % kSeldom == 0 && !degraded() && line.simulator_gone()) degrade();
}

/// The simulator has died: from here on the job is plain MPI.
void Runtime::degrade() {
  line.cut();
  access::end();
  messages.post_all_held();
}

void idle_wait() noexcept {
  if (Runtime* rt = runtime())
    guarded([rt] { rt->idle(!call_state.waits_itself); });
  else
    ::usleep(50);
}

void Runtime::idle(bool is_woken) {
  // Inside a blocking MPI call nobody else reads the answers. A match may post its receive from here: we are
  // between two polls of MPI's progress loop, where MPICH's own schedules post theirs.
  if (!call_state.waits_itself) {
    const std::unique_lock held{lock, std::try_to_lock};
    const ThreadState* const thread = ThreadStates::mine_if_known();
    is_woken = is_woken && held.owns_lock() && !background.has_any();
    if (held.owns_lock() && thread != nullptr && thread->late_word != nullptr) thread->late_word->say();
    // Where threads may call MPI beside each other it holds its own lock here, and must not be called.
    if (held.owns_lock() && multiple_ && messages.wait_for_decisions()) {
      absorber_.want();
    } else if (held.owns_lock()) {
      absorb();
      look_for_simulator();
    }
  }
  wake_target();
  if (!call_state.waits_itself && call_state.idle_polls < kMostYields && line.may_wait_awake(cores_)) {
    sched_yield();
    return;
  }
  const std::uint32_t ticket = line.prepare_sleep();
  if (library::kMessagesMayFollowTheirBell && std::exchange(call_state.bell, ticket) != ticket)
    call_state.idle_sleeps = 0;
  line.sleep(ticket, is_woken ? idle_ns() : kShortestIdleNs);
  line.awake();
  vain_looks.note(!degraded());
}

/// What is measured of a thread that leaves one call and enters the next at once.
void Runtime::calibrate_measuring() {
  constexpr int kTries = 64;
  ThreadState& mine = threads.locked_mine();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    {
      const std::lock_guard guard{lock};
      mine.clock.start(kTimeZero);
    }
    least = std::min(least, ticks() - mine.clock.start_tick());
  }
  set_ticks_of_measuring(least);
}

}  // namespace nplus1::stubs
