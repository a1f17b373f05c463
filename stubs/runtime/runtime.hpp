// The rank's side of nplus1: one Runtime per process, alive between MPI_Init and MPI_Finalize, and one Call
// per modelled MPI call. A handler's shape is always the same:
//   Call call;                       // takes the lock, stops the thread's virtual clock
//   PMPI_I...                        // the real operation, its return code untouched
//   call.emit(event)                 // what the simulator must know
//   call.wait(...) / call.ask(...)   // sleep until the virtual outcome is known
//   native completion                // finds the data there
//   call.exit_at(time)               // the clock runs on from there
// Threads: any number; the lock is released while a call sleeps.
#pragma once

#include <mpi.h>
#include <sched.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "events/event.hpp"
#include "netmodel/network_model.hpp"
#include "stubs/clock/settings.hpp"
#include "stubs/clock/thread_clock.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/guard/lock.hpp"
#include "stubs/runtime/absorber.hpp"
#include "stubs/runtime/arguments/own_types.hpp"
#include "stubs/runtime/background.hpp"
#include "stubs/runtime/capture/capture.hpp"
#include "stubs/runtime/communicators/communicators.hpp"
#include "stubs/runtime/communicators/files.hpp"
#include "stubs/runtime/communicators/windows.hpp"
#include "stubs/runtime/environment.hpp"
#include "stubs/runtime/instruments.hpp"
#include "stubs/runtime/line/line.hpp"
#include "stubs/runtime/line/vain_looks.hpp"
#include "stubs/runtime/partition_channels.hpp"
#include "stubs/runtime/requests/collective_ends.hpp"
#include "stubs/runtime/requests/messages.hpp"
#include "stubs/runtime/requests/requests.hpp"
#include "stubs/runtime/system_clocks.hpp"
#include "stubs/runtime/system_io.hpp"
#include "stubs/runtime/thread_state.hpp"
#include "stubs/runtime/thread_states.hpp"

namespace nplus1::stubs {

class Accesses;
class Call;
class Twins;

/// What the rank is made of, and how it waits. Its parts are used with the lock held, where they don't say otherwise.
class alignas(4096) Runtime {
 public:
  ~Runtime();
  /// Connects to the simulator and agrees with all ranks on what is used. Called at the end of MPI_Init, or of the first MPI_Session_init;
  /// null if this job runs as plain MPI.
  static std::unique_ptr<Runtime> connect(int threads_provided, int native_threads, Beginning beginning);

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const netmodel::NetworkModel& network() const { return *network_; }
  [[nodiscard]] RankId me() const { return me_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// What all ranks together may run on, of one host.
  [[nodiscard]] int cores() const { return cores_; }
  [[nodiscard]] int largest_tag() const { return largest_tag_; }
  [[nodiscard]] const std::string& output() const { return output_; }
  /// Threads that the MPI library had started when it was initialised.
  [[nodiscard]] int native_threads() const { return native_threads_; }
  /// Nothing is simulated: everything is passed through. From when the simulator died, or always.
  [[nodiscard]] bool degraded() const { return line.is_cut() || native_; }
  /// A native recording: nothing is simulated, and what MPI did is told with real times.
  [[nodiscard]] bool native() const { return native_; }
  /// Native recordings: nanoseconds since 1970 at which the job's time begins, the same on all ranks.
  [[nodiscard]] std::int64_t native_zero() const { return native_zero_; }
  /// What a recording needs; null in runs without.
  [[nodiscard]] Capture* capture() { return instruments.capture(); }
  /// What this library has read and written by itself.
  [[nodiscard]] SystemIo::Numbers own_io() const;
  /// The recording of accesses; null in runs without.
  [[nodiscard]] Accesses* accesses() { return instruments.accesses(); }
  /// What measures how long stretches take when they are warm; null in runs without.
  [[nodiscard]] Twins* twins() { return instruments.twins(); }

  /// Takes in answers and stamps that have come.
  void absorb();
  /// Whoever waits does this between two sleeps: where the simulator has died the rank becomes plain MPI, and the receives that
  /// waited for its decision are posted. With the lock, and where MPI may be called.
  void look_for_simulator();
  /// Sleeps until `done()`; false when the simulator has died meanwhile. Releases the lock while asleep.
  template <class Done>
  bool sleep_until(std::unique_lock<Lock>& held, Done&& done) {
    if (wait_awake_until(held, done)) return true;
    SleepState state;
    for (;;) {
      absorb();
      const bool ended = done();
      if (ended || !sleep_once(held, state)) {
        if (state.armed) line.awake();
        return ended;
      }
    }
  }
  /// For waits inside the MPI library (progress hook): a short sleep on the doorbell, the longer the more there were where
  /// whoever the thread waits for rings it (`is_woken`). Without the lock.
  void idle(bool is_woken = false);
  /// From here on this rank is plain MPI, and says so to the simulator, which then ends: a simulation that knows
  /// nothing of one rank would take the others for deadlocked. Without the lock.
  void give_up() noexcept;
  /// A callback of the program's has left this thread's last call by longjmp: gives back what that held. Without the lock.
  void recover() noexcept;

 private:
  // Parts below refer to these.
  Settings settings_;
  std::unique_ptr<netmodel::NetworkModel> network_;

 public:
  Lock lock;
  Communicators communicators;
  Windows windows;
  Files files;
  PartitionChannels partitions;
  RequestTable requests;
  Line line;                                    // to the simulator
  Messages messages{line, requests};            // the rank's own matching
  CollectiveEnds collective_ends;               // of those that nobody leaves before all have come
  Background background;                        // native sends that the program believes finished
  ThreadStates threads{lock, settings_, line};  // that have called MPI
  VainLooks vain_looks{lock, line};             // for the simulator's view of a standstill
  Instruments instruments{settings_, line};     // what looks at the program beside its messages
  OwnTypes own_types{[this](MPI_Datatype type) { instruments.forget(type); }};  // what requests need
  SystemIo system_io;   // what the process reads and writes by itself
  SystemClocks clocks;  // in virtual time

 private:
  struct SleepState {
    std::int64_t nanoseconds = 0;  // of the last sleep
    std::uint32_t ticket = 0;
    bool armed = false;  // a ticket is held: sleep next
  };

  Runtime() = default;
  void begin_native();
  void calibrate_measuring();
  /// A short look before sleeping, where nobody needs the core: to be woken on an idle one takes 20 to 50 us, longer than most
  /// messages and answers.
  template <class Done>
  bool wait_awake_until(std::unique_lock<Lock>& held, Done&& done) {
    constexpr double kLongestNs = 50'000;
    constexpr int kLooksBetweenYields = 16;  // about a microsecond
    const auto limit = static_cast<std::int64_t>(kLongestNs / nanoseconds_per_tick());
    for (const std::int64_t begin = ticks(); ticks() - begin < limit && line.may_wait_awake(cores_);) {
      for (int i = 0; i < kLooksBetweenYields; ++i) {
        absorb();
        if (done()) return true;
      }
      held.unlock();
      sched_yield();
      held.lock();
    }
    return false;
  }
  bool sleep_once(std::unique_lock<Lock>& held, SleepState& state);
  void take_answer(const events::Answer& answer, const std::vector<std::uint32_t>& words);
  void degrade();
  void leave(const char* why);

  RankId me_{};
  int ranks_ = 0;
  int largest_tag_ = 32767;  // what MPI promises at least
  int cores_ = 1;
  bool native_ = false;
  bool multiple_ = false;  // MPI_THREAD_MULTIPLE
  std::int64_t native_zero_ = 0;
  std::string output_;
  int native_threads_ = 0;
  events::Answer answer_{};  // scratch of absorb()
  std::vector<std::uint32_t> answer_words_;
  std::uint32_t looks_for_simulator_ = 0;
  Absorber absorber_{*this};
};

/// The process's runtime; null while inactive.
Runtime* runtime() noexcept;

/// What a call needs to know of its thread's clock.
enum class Clock : std::uint8_t {
  kKnown,   // the virtual time: the simulator is asked if need be
  kAdrift,  // how long the thread has computed; when its last call ended may be known later
};

/// One modelled call in progress. Constructed first in every handler.
class Call {
 public:
  /// `first`: a given compute time precedes it (not the second part of a call, nor a region's edge).
  explicit Call(bool first = true, Clock clock = Clock::kKnown);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Virtual time at which the call (or its next part) begins.
  [[nodiscard]] Time entry() const { return now_; }
  /// When the application goes on; also the entry of a second part of the call.
  void exit_at(Time t);

  /// Sends `event` after filling in compute time, entry, thread, call and site. `data`: what a recording
  /// describes; null if the call has none.
  void emit(events::Event event, const void* extension = nullptr, const CallData* data = nullptr);
  /// The same of a call that begins where the one before ends, of which no answer was asked for: only the simulator
  /// knows when that is.
  void emit_next(events::Event event);
  /// Tells of an access (events::Access). `at`: when, not after this call's entry; kLastTouch: with its distance.
  void emit_access(events::Event event, Time at, std::int64_t tick, const std::int64_t* distance);
  /// As emit() with kNeedsAnswer, then sleeps until the answer; nullopt when the simulator has died.
  /// `ring` = false where the simulator cannot answer before others have spoken anyway.
  std::optional<events::Answer> ask(events::Event event, const void* extension = nullptr, bool ring = true,
                                    const CallData* data = nullptr);
  /// The answer to an event that was emitted with kNeedsAnswer.
  std::optional<events::Answer> await_answer(bool ring = true);
  /// Whether a call whose outcome MPI alone decides may go on without being told when it ended (docs/architecture.md, "Late
  /// clocks").
  [[nodiscard]] bool may_drift() const;
  /// The event just emitted ends the call when only the simulator knows.
  void drift_off() { ++thread.events_adrift; }
  /// Whether times of other events can be compared with entry(), which may be too early.
  [[nodiscard]] bool is_adrift() const { return thread.events_adrift > 0; }
  /// Lets the clock run on by `d` without the simulator's knowledge: it becomes part of the next compute
  /// interval.
  void drift(Duration d) {
    now_ += d;
    thread.inside = now_;
  }
  /// Sleeps until the (local) condition holds; false when the simulator has died.
  template <class Done>
  bool wait(Done&& done) {
    return rt.sleep_until(held_, done);
  }
  /// Waits until `native` is complete and frees it; `peer`, or all `members` of a collective, are rung, as
  /// they may have to push the message.
  int finish(MPI_Request& native, MPI_Status* status, RankId peer = kAnySource,
             const Communicator* members = nullptr);
  /// Waits until `native` is complete without freeing it.
  void await(MPI_Request native, RankId peer = kAnySource, const Communicator* members = nullptr);
  /// Waits in the MPI library until `test()` returns true.
  void poll_native(const std::function<bool()>& test, RankId peer = kAnySource,
                   const Communicator* members = nullptr);
  /// Runs a blocking MPI function with the lock released, so that other threads go on.
  template <class Function>
  auto unlocked(Function&& function) {
    held_.unlock();
    call_state.waits_itself = false;
    const auto result = function();
    call_state.waits_itself = true;
    held_.lock();
    return result;
  }
  /// Native recordings: how the last event emitted came out, told when the call ends or emits another.
  struct Outcome {
    events::Answer answer;
    std::vector<std::uint32_t> completed;
  };
  [[nodiscard]] Outcome& outcome() { return outcome_; }
  /// Native recordings: a receive of mine has its message.
  void note_match(events::Answer match);
  /// CPU time that this call has taken so far; measured under --protocol riesen only, else zero.
  [[nodiscard]] Duration native_cost() const;
  /// The path to this call.
  [[nodiscard]] CallSiteId site() const { return site_; }

  Runtime& rt;

 private:
  [[nodiscard]] static Runtime& observer();
  Call(Runtime& r, bool first, Clock clock);
  /// What the thread has computed since its clock was started.
  [[nodiscard]] Duration computed(bool first);
  /// The recording's part of an event.
  [[nodiscard]] events::Detail detail(const CallData* data);
  void await_owed_answer();
  void ask_for_the_clock();
  [[nodiscard]] Time real_time(std::int64_t tick);
  void enter_natively(events::Event& event);
  void leave_natively();
  void tell(const events::Answer& answer, const std::vector<std::uint32_t>& completed);

  int saved_errno_;
  std::int64_t entry_tick_;  // only where the run is recorded
  std::unique_lock<Lock> held_;

 public:
  ThreadState& thread;

 private:
  CallSiteId site_;
  Time now_{};
  double cpu_at_entry_ = 0;
  bool follows_unanswered_ = false;
  bool emitted_ = false;
  Time began_{};  // native recordings: when the thread's last call had returned
  Outcome outcome_;
};

/// Null for a window that the simulator was not told of. Takes the runtime's lock.
[[nodiscard]] inline Window* find_window(MPI_Win handle) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  return rt.windows.find(handle);
}

}  // namespace nplus1::stubs
