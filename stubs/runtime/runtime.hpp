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

#include <array>
#include <atomic>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/event.hpp"
#include "netmodel/network_model.hpp"
#include "semantics/mailbox.hpp"
#include "stubs/runtime/call_paths.hpp"
#include "stubs/runtime/capture.hpp"
#include "stubs/runtime/communicators.hpp"
#include "stubs/runtime/detached_sends.hpp"
#include "stubs/runtime/guard.hpp"
#include "stubs/runtime/recorded_times.hpp"
#include "stubs/runtime/requests.hpp"
#include "stubs/runtime/settings.hpp"
#include "stubs/runtime/thread_clock.hpp"
#include "stubs/runtime/wall_clock.hpp"
#include "stubs/runtime/windows.hpp"
#include "stubs/transport/channel.hpp"
#include "stubs/transport/inbox.hpp"
#include "stubs/transport/last_words.hpp"

namespace nplus1::stubs {

/// The runtime's lock. Knows who holds it, because a callback of the program's may leave a call by longjmp, past all
/// destructors: the thread's next call then gives back what the abandoned one held.
class Lock {
 public:
  void lock() {
    mutex_.lock();
    holder_.store(&call_state, std::memory_order_relaxed);
  }
  bool try_lock() {
    if (!mutex_.try_lock()) return false;
    holder_.store(&call_state, std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    holder_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }
  /// Whether the calling thread does.
  [[nodiscard]] bool is_held_here() const { return holder_.load(std::memory_order_relaxed) == &call_state; }

 private:
  std::mutex mutex_;
  std::atomic<const CallState*> holder_{nullptr};
};

class Accesses;
struct ThreadState;

/// Something that the simulator is told once the MPI library waits for others in the call that the thread is in: until
/// then that call may still fail without them. By whoever makes it, with the lock held.
class LateWord {
 public:
  LateWord(std::function<void()> word, ThreadState& thread);
  ~LateWord();
  LateWord(const LateWord&) = delete;
  LateWord& operator=(const LateWord&) = delete;
  [[nodiscard]] bool said() const { return said_; }
  void say();

 private:
  std::function<void()> word_;
  ThreadState& thread_;
  bool said_ = false;
};

/// What a thread keeps between calls. In pages of its own: handlers read the clock (stubs/access/), and no buffer of the
/// program's may lie in a page that they need.
struct alignas(4096) ThreadState {
  ThreadId id{};
  ThreadClock clock;
  RecordedTimes recorded;  // --compute recorded:DIR
  WallClock wall;          // used by recorded runs only
  semantics::PollCost poll_cost;
  Time reported = kTimeZero;        // the exit of the last call that the simulator knows of
  Time interface_free = kTimeZero;  // semantics::send_eager: when its sends so far have left
  Time inside = kTimeZero;          // the virtual time while it is in a Call: callbacks may ask for it
  bool in_call = false;
  bool is_owed_an_answer = false;           // a call asked the simulator and ended before it had answered
  std::optional<events::Answer> answer;     // the answer this thread waits for
  std::vector<std::uint32_t> answer_words;  // its extension
  std::vector<Request*> selected;           // scratch of completing calls
  LateWord* late_word = nullptr;            // not said yet
  bool in_native_wait = false;              // counted in RankBlock::native_wait
  transport::ThreadCell* cell = nullptr;    // null where the rank has one thread, or nobody sees it
};

class Call;
class Twins;

class alignas(4096) Runtime {
 public:
  ~Runtime();
  /// Connects to the simulator and agrees with all ranks on what is used. Called at the end of MPI_Init;
  /// null if this job runs as plain MPI.
  static std::unique_ptr<Runtime> connect(int threads_provided, int native_threads);

  /// The calling thread's state, made at its first call (with the lock held).
  ThreadState& thread();
  /// The same, taking the lock only if it must.
  ThreadState& locked_thread();
  [[nodiscard]] static ThreadState* thread_if_known() noexcept;
  /// The calling thread ends.
  void end_thread();
  /// That have called MPI.
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const netmodel::NetworkModel& network() const { return *network_; }
  [[nodiscard]] RankId me() const { return me_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int largest_tag() const { return largest_tag_; }
  [[nodiscard]] bool direct() const { return direct_; }
  /// Set when the simulator died: everything is passed through from then on.
  [[nodiscard]] bool degraded() const { return degraded_ || native_; }
  /// A native recording: nothing is simulated, and what MPI did is told with real times.
  [[nodiscard]] bool native() const { return native_; }
  /// Native recordings: nanoseconds since 1970 at which the job's time begins, the same on all ranks.
  [[nodiscard]] std::int64_t native_zero() const { return native_zero_; }
  [[nodiscard]] const std::string& output() const { return output_; }
  /// From here on this rank is plain MPI, and says so to the simulator, which then ends: a simulation that knows
  /// nothing of one rank would take the others for deadlocked.
  void give_up() noexcept;

  Lock lock;
  Communicators communicators;
  Windows windows;
  RequestTable requests;

  // --- the line to the simulator (with the lock held) ---
  void write(const events::Event& event, const void* extension, const events::Detail* detail = nullptr);
  void ring() {
    // Who only writes down what happened is in no hurry; over TCP nothing is sent without.
    if (!native_ || !segment_) channel_->ring();
  }
  /// Takes in answers and stamps that have come.
  void absorb();
  /// Sleeps until `done()`; false when the simulator has died meanwhile. Releases the lock while asleep.
  template <class Done>
  bool sleep_until(std::unique_lock<Lock>& held, Done&& done) {
    if (spins_ && spin_until(done)) return true;
    SleepState state;
    for (;;) {
      absorb();
      const bool ended = done();
      if (ended || !sleep_once(held, state)) {
        if (state.armed) channel_->awake();
        return ended;
      }
    }
  }
  /// With a core for each rank: a short look before sleeping, as waking up costs more than most messages
  /// take.
  template <class Done>
  bool spin_until(Done&& done) {
    constexpr double kSpinNs = 10'000;
    const auto limit = static_cast<std::int64_t>(kSpinNs / nanoseconds_per_tick());
    for (const std::int64_t begin = ticks(); ticks() - begin < limit;) {
      absorb();
      if (done()) return true;
    }
    return false;
  }
  /// The process ends without MPI_Finalize: whether all ranks do so within that time.
  [[nodiscard]] bool end_together(int milliseconds) {
    channel_->ring();
    return channel_->end_together(milliseconds);
  }
  /// For waits inside the MPI library (progress hook): a short sleep on the doorbell.
  void idle();

  // --- messages (with the lock held) ---
  /// Numbers a message to `destination` and, in direct mode, sends its stamp there.
  std::uint64_t publish_message(const Communicator& comm, RankId destination, std::int32_t tag, Bytes size,
                                bool rendezvous, Time at);
  semantics::Mailbox& mailbox() { return mailbox_; }
  /// Removes a message that the simulator gave to a matched probe; its stamp may still be on its way.
  void take_message(const Communicator& comm, RankId source, std::uint64_t sequence);
  /// A receive of mine, known to the mailbox under its request id, has met `message`.
  void settle(Request& request, const semantics::Message& message) const;
  /// Posts the native receive of a held request: from (source, tag), ranks in its communicator.
  void post_held(Request& request, int source, std::int32_t tag);
  /// Rings `source`, which may have to push a long message.
  void nudge(RankId source);
  /// Rings the members that sleep on the simulator's answer: MPI may need them to push a collective.
  void nudge(const Communicator& comm);

  /// Native sends that the application believes finished.
  void leave_in_background(MPI_Request native, PrivateCopy&& copy,
                           std::vector<std::shared_ptr<void>> keep = {});
  void progress_background(std::size_t at_most);
  void finish_background();
  /// Before MPI_Finalize: what still runs in the background comes to its end.
  void end_progress();
  [[nodiscard]] bool has_background() const { return !background_.empty() || detached_sends() > 0; }

  [[nodiscard]] RequestId next_request_id() { return RequestId{++last_request_}; }
  /// `is_address`: the name is MODULE+0xOFFSET, to be resolved after the run.
  std::uint64_t region_id(const std::string& name, bool is_address = false);
  /// The path to the current call.
  CallSiteId site_id() { return call_paths_->id(call_site(), call_frame()); }
  CallPaths& call_paths() { return *call_paths_; }
  /// The program reads a clock: `virtual_one`, MPI_Wtime's, or the system's. From any thread.
  void note_clock_read(bool virtual_one) {
    (virtual_one ? reads_virtual_clock_ : reads_system_clock_).fetch_add(1, std::memory_order_relaxed);
  }
  /// How often it read the system's, if it never asked for MPI_Wtime.
  [[nodiscard]] std::int64_t reads_of_other_clocks() const {
    return reads_virtual_clock_.load(std::memory_order_relaxed) == 0
               ? reads_system_clock_.load(std::memory_order_relaxed)
               : 0;
  }
  /// What the system's clock `id` shows at virtual time zero: the same for CLOCK_REALTIME on all ranks.
  [[nodiscard]] std::int64_t origin_ns(clockid_t id) const;
  /// A callback of the program's has left this thread's last call by longjmp: gives back what that held.
  void recover() noexcept;
  /// What a recording needs; null in runs without.
  [[nodiscard]] Capture* capture() { return capture_.get(); }
  /// The recording of accesses; null in runs without.
  [[nodiscard]] Accesses* accesses() { return accesses_.get(); }
  /// What measures how long stretches take when they are warm; null in runs without.
  [[nodiscard]] Twins* twins() { return twins_.get(); }
  /// Threads that the MPI library had started when it was initialised.
  [[nodiscard]] int native_threads() const { return native_threads_; }
  /// The place that the next event will have in this rank's stream.
  [[nodiscard]] std::uint64_t next_ordinal() const { return next_ordinal_; }
  /// Length of the interval before `call` at `return_address` by the compute table; negative if there is
  /// none.
  Duration table_length(MpiCall call, const void* return_address);
  /// Starts the thread's clock at `now`: the program goes on.
  void start_clock(ThreadState& thread, Time now) const;
  /// The threads whose calls are not those of the recording that gives the compute times.
  void tell_departures(transport::LastWords& words) const;
  void define(const Communicator& comm);
  /// Tells the simulator that this rank makes no more calls on it.
  void forget(const Communicator& comm);

  /// While the rank waits for the MPI library itself, the simulator must not wait for the rank. By the thread itself.
  void set_native_wait(ThreadState& thread, bool on);
  /// Where the simulator sees what the thread does.
  void take_cell(ThreadState& thread);
  /// The rank waits, and has just looked in vain: for the simulator's view of a standstill inside MPI.
  void note_vain_look();
  /// absorb() by a thread of ours, soon; with the lock held.
  void absorb_beside();
  void absorb_for_others();
  /// The same over TCP, where it is told at intervals.
  void tell_vain_looks();
  /// Somebody outside of the job may from now on end a call that waits inside MPI (a process that was spawned, a disk).
  void expect_others() { expects_others_.store(true, std::memory_order_relaxed); }
  /// Marks the change between application and MPI, for the simulator's bound on a running rank.
  void set_inside(bool inside);
  /// The same of the calling thread alone, without a lock.
  static void show_thread(bool inside);
  /// Whether receives of this rank wait for the simulator to match them.
  [[nodiscard]] bool waits_for_decisions() const { return undecided_ > 0; }
  void count_undecided(Communicator& comm, int change);
  /// Frees natively what the application freed while receives on it were undecided, once none is.
  void free_if_due(Communicator& comm);
  /// Counts this rank's arrival at the next collective on `comm`; true if all members have arrived (or it is
  /// not known): only then is there something for the simulator to answer.
  bool last_to_arrive(Communicator& comm);

 private:
  struct SleepState {
    std::int64_t nanoseconds = 0;  // of the last sleep
    std::uint32_t sleeps = 0;
    std::uint32_t ticket = 0;
    bool armed = false;  // a ticket is held: sleep next
  };
  struct Background {
    MPI_Request native;
    PrivateCopy copy;
    std::vector<std::shared_ptr<void>> keep;
  };

  Runtime() = default;
  void begin_clocks();
  void begin_native();
  bool sleep_once(std::unique_lock<Lock>& held, SleepState& state);
  void take_stamp(const transport::Stamp& stamp);
  void take_answer(const events::Answer& answer);
  void take_extension(const transport::Slot& slot);
  void matched_elsewhere(const events::Answer& match);
  void print_text() const;
  void begin_progress();
  void make_progress();
  void push_native();
  void degrade();
  void leave(const char* why);
  void write_text(events::Event event, const std::string& text);
  void begin_capture();
  void begin_accesses();
  void begin_twins();
  void calibrate_measuring();

  RankId me_{};
  int ranks_ = 0;
  int largest_tag_ = 32767;  // what MPI promises at least
  bool direct_ = false;
  bool spins_ = false;
  bool degraded_ = false;
  bool native_ = false;
  std::int64_t native_zero_ = 0;
  std::string output_;
  Settings settings_;
  std::unique_ptr<netmodel::NetworkModel> network_;
  std::unique_ptr<transport::Channel> channel_;
  transport::Segment segment_;
  std::optional<transport::StampSender> stamps_out_;
  std::optional<transport::StampReceiver> stamps_in_;
  semantics::Mailbox mailbox_;
  std::vector<std::uint64_t> sent_to_;                   // messages so far, by destination
  std::unordered_map<std::uint64_t, bool> taken_early_;  // (source, sequence) matched before the stamp came
  std::uint32_t last_request_ = 0;
  std::uint32_t undecided_ = 0;  // over all communicators
  std::vector<Background> background_;
  std::size_t next_background_ = 0;
  MPI_Request never_complete_ = MPI_REQUEST_NULL;
  std::unique_ptr<CallPaths> call_paths_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<Accesses> accesses_;
  std::unique_ptr<Twins> twins_;
  int native_threads_ = 0;
  std::uint64_t next_ordinal_ = 0;
  std::atomic<bool> expects_others_{false};
  bool multiple_ = false;         // MPI_THREAD_MULTIPLE
  bool several_threads_ = false;  // may call MPI: MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE
  bool absorb_wanted_ = false;    // of the thread of ours, if it runs
  std::atomic<bool> absorber_runs_{false};
  std::atomic<std::uint32_t> vain_looks_{0};  // over TCP
  std::atomic<std::int64_t> looks_told_ns_{0};
  std::atomic<std::int64_t> reads_virtual_clock_{0};
  std::atomic<std::int64_t> reads_system_clock_{0};
  std::unordered_map<std::string, std::uint64_t> regions_;
  std::int64_t origin_ns_ = 0;                    // CLOCK_REALTIME's
  std::array<std::int64_t, 16> clock_lead_ns_{};  // of each system clock before CLOCK_REALTIME
  std::vector<std::unique_ptr<ThreadState>> threads_;
  events::Answer pending_{};  // answer whose extension is still coming
  std::uint32_t pending_slots_ = 0;
  std::vector<std::uint32_t> pending_words_;
};

/// The process's runtime; null while inactive.
Runtime* runtime() noexcept;

/// One modelled call in progress. Constructed first in every handler.
class Call {
 public:
  /// `first`: a given compute time precedes it (not the second part of a call, nor a region's edge).
  explicit Call(bool first = true);
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
  Call(Runtime& r, bool first);
  /// What the thread has computed since its clock was started.
  [[nodiscard]] Duration computed(bool first);
  /// The recording's part of an event.
  [[nodiscard]] events::Detail detail(const CallData* data);
  void await_owed_answer();
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
