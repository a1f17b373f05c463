#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "events/clock_question.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/threads.hpp"
#include "stubs/runtime/twins.hpp"
#include "stubs/twin/twin.hpp"

namespace nplus1::stubs {
namespace {

constexpr int kLooksBeforeSleep = 16;
/// Events by which a rank may be ahead of the simulator, which keeps them in memory.
constexpr std::uint32_t kFarthestAdrift = 4096;
/// Bytes whose hash costs more than reading the CPU clock.
constexpr std::size_t kMuchToHash = 8192;

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// 0, 1, 2, 4, ... 64, then each 64th.
bool is_rare(int round) {
  constexpr int kLongest = 64;
  return (round & (round - 1)) == 0 || round % kLongest == 0;
}

}  // namespace

/// A twin's pass ends where a call begins.
Runtime& Call::observer() {
  if (twin::is_twin()) [[unlikely]]
    twin::end_pass();
  return *runtime();
}

Call::Call(bool first, Clock clock) : Call{observer(), first, clock} {}

Call::Call(Runtime& r, bool first, Clock clock)
    : rt{r}, saved_errno_{errno}, entry_tick_{ticks()}, held_{r.lock}, thread{r.threads.mine()} {
  if (Twins* twins = rt.twins())
    twins->called(thread.clock.was_given_time(), entry_tick_ - thread.clock.start_tick());
  end_idling(rt, thread);
  const Duration before = computed(first);
  now_ = thread.clock.base_and(before);
  if (rt.native()) {  // in this order: the wall clock does not run backwards
    began_ = real_time(thread.clock.start_tick());
    now_ = real_time(entry_tick_);
  }
  thread.in_call = true;
  thread.inside = now_;
  rt.threads.set_inside(true);
  if (thread.is_owed_an_answer) await_owed_answer();
  thread.miss_its_end();
  if (is_adrift() && (clock == Clock::kKnown || !may_drift() || thread.events_adrift >= kFarthestAdrift))
    ask_for_the_clock();
  site_ = rt.instruments.site_id();
  if (Accesses* accesses = rt.accesses()) accesses->begin_call(*this);
  if (rt.settings().riesen) cpu_at_entry_ = thread_cpu_seconds();
  call_state.waits_itself = true;
  if (rt.background.has_any()) rt.background.progress(2);
}

Call::~Call() {
  call_state.waits_itself = false;
  if (rt.native()) leave_natively();
  if (Accesses* accesses = rt.accesses()) accesses->end_call(*this);
  rt.threads.set_inside(false);
  thread.in_call = false;
  rt.threads.start_clock(
      thread, std::max(now_, thread.inside));  // a callback may have read the clock: it does not run back
  errno = saved_errno_;
}

Duration Call::computed(bool first) {
  const ComputeMode mode = rt.settings().compute;
  const bool table = mode == ComputeMode::kTable;
  const Duration rule = table ? rt.instruments.table_length(current_call(), call_site()) : Duration{-1};
  const Time base = thread.clock.base();
  const Duration shown = thread.clock.shown();
  const Duration measured = thread.clock.stop(rule, first, entry_tick_);
  if (mode != ComputeMode::kRecorded || !thread.recorded.follows()) return measured;
  const Duration given = std::max(shown, thread.recorded.passed(base, measured, current_call()));
  if (rt.accesses() != nullptr) access::settle(&thread.clock, base, measured, given);
  return given;
}

/// A callback of the program's has ended a call that waited for the simulator. What follows begins after it.
void Call::await_owed_answer() {
  if (!await_answer()) return;
  const Duration since = now_ - thread.reported;
  thread.reported = thread.answer->exit();
  thread.recorded.out(thread.reported);
  now_ = thread.reported + since;
  thread.inside = now_;
}

bool Call::may_drift() const {
  // A callback of the program's may ask what time it is, in the middle of the call.
  return rt.settings().late_clocks && !rt.degraded() && !callbacks_exist();
}

void Call::ask_for_the_clock() {
  events::Event question;
  question.kind = events::EventKind::kLocal;
  question.operation = events::kClockQuestion;
  question.flags = events::kNeedsAnswer;
  question.thread = thread.id;
  thread.answer.reset();
  thread.is_owed_an_answer = true;
  rt.line.write(question, nullptr);
  await_owed_answer();
  thread.events_adrift = 0;  // also where the simulator has died
}

Duration Call::native_cost() const {
  return rt.settings().riesen ? from_seconds(thread_cpu_seconds() - cpu_at_entry_) : Duration{};
}

events::Detail Call::detail(const CallData* data) {
  const double cpu = rt.settings().riesen ? thread_cpu_seconds() : 0;
  events::Detail detail;
  // The second event of a call comes right after the first.
  const std::int64_t before = emitted_ ? entry_tick_ : thread.clock.start_tick();
  detail.wall_before_ns = thread.wall.at(before);
  detail.wall_entry_ns = thread.wall.at(entry_tick_);
  std::size_t hashed = 0;
  if (data != nullptr) rt.capture()->describe(*data, detail, hashed);
  if (hashed > kMuchToHash) thread.clock.start_exactly();
  if (rt.settings().riesen) cpu_at_entry_ += thread_cpu_seconds() - cpu;  // not the native call's
  return detail;
}

void Call::emit(events::Event event, const void* extension, const CallData* data) {
  if (event.has(events::kNeedsAnswer)) {
    thread.answer.reset();
    thread.is_owed_an_answer = true;
  }
  event.thread = thread.id;
  // A part that is inferred within a call is no call.
  if (event.kind != events::EventKind::kLocal) event.call = static_cast<std::uint16_t>(current_call());
  event.site = site_;
  if (rt.settings().compute == ComputeMode::kRecorded && events::recording::ends_interval(event))
    now_ += thread.recorded.tell(event.call, now_);
  event.compute_ps = (now_ - thread.reported).count();
  event.entry_ps = follows_unanswered_ || is_adrift() ? 0 : now_.time_since_epoch().count();
  if (rt.native()) enter_natively(event);
  const bool recorded = rt.capture() != nullptr && rt.capture()->records();
  if (recorded) {
    events::Detail more = detail(data);
    const bool sends = event.kind == events::EventKind::kSend || event.kind == events::EventKind::kIsend;
    if (sends && data != nullptr && data->sent != nullptr) rt.capture()->note_sent(more, event.size);
    if (rt.native()) {
      more.wall_entry_ns = rt.native_zero() + event.entry_ps / 1000;
      more.wall_before_ns = more.wall_entry_ns - event.compute_ps / 1000;
    }
    rt.line.write(event, extension, &more);
  } else {
    rt.line.write(event, extension);
  }
  if (is_adrift()) ++thread.events_adrift;
  thread.reported = now_;
  thread.clock.next_begins_after(event.site.value, event.size);
  thread.has_called = true;
  emitted_ = true;
  if (Twins* twins = rt.twins()) twins->told(event);
  call_has_begun();
}

void Call::emit_next(events::Event event) {
  follows_unanswered_ = true;
  emit(event);
  follows_unanswered_ = false;
}

void Call::emit_access(events::Event event, Time at, std::int64_t tick, const std::int64_t* distance) {
  at = std::clamp(at, thread.reported, std::max(now_, thread.reported));
  event.kind = events::EventKind::kLocal;
  event.thread = thread.id;
  event.compute_ps = (at - thread.reported).count();
  event.entry_ps = at.time_since_epoch().count();
  std::int64_t slot[events::kSlotBytes / sizeof(std::int64_t)] = {};
  if (distance != nullptr) {
    slot[0] = *distance;
    event.flags = events::kHasBytesPerMember;
    event.extension = 1;
  }
  events::Detail detail;
  detail.wall_before_ns = detail.wall_entry_ns = thread.wall.at(tick);
  rt.line.write(event, distance == nullptr ? nullptr : slot, &detail);
  thread.reported = at;
}

Time Call::real_time(std::int64_t tick) {
  return Time{Duration{(thread.wall.at(tick) - rt.native_zero()) * 1000}};
}

/// Real times instead of virtual ones. The second event of a call begins where the first has ended.
void Call::enter_natively(events::Event& event) {
  if (emitted_) {
    leave_natively();
    began_ = now_;
  }
  event.compute_ps = (now_ - began_).count();
  event.entry_ps = now_.time_since_epoch().count();
  if (event.kind == events::EventKind::kUnmodelledExit) event.compute_ps = 0;  // it was in the call
  outcome_ = {};
  outcome_.answer.flag = 1;
}

void Call::leave_natively() {
  now_ = real_time(ticks());
  if (!emitted_) return;
  outcome_.answer.kind = events::AnswerKind::kExit;
  tell(outcome_.answer, outcome_.completed);
}

void Call::note_match(events::Answer match) {
  match.kind = events::AnswerKind::kMatch;
  now_ = real_time(ticks());
  tell(match, {});
}

void Call::tell(const events::Answer& answer, const std::vector<std::uint32_t>& completed) {
  constexpr std::size_t kWords = events::kSlotBytes / sizeof(std::uint32_t);
  std::vector<std::uint32_t> slots(kWords + (completed.size() + kWords - 1) / kWords * kWords);
  events::Answer whole = answer;
  whole.thread = thread.id;
  whole.exit_ps = now_.time_since_epoch().count();
  std::memcpy(slots.data(), &whole, sizeof(whole));
  std::copy(completed.begin(), completed.end(), slots.begin() + kWords);
  events::Event event;
  event.kind = events::EventKind::kOutcome;
  event.thread = thread.id;
  event.aux = completed.size();
  event.extension = static_cast<std::uint32_t>(slots.size() / kWords);
  rt.line.write(event, slots.data());
}

std::optional<events::Answer> Call::await_answer(bool ring) {
  if (ring && !rt.degraded()) rt.line.ring();
  const bool came = !rt.degraded() && wait([this] { return thread.answer.has_value(); });
  thread.is_owed_an_answer = false;
  if (came) thread.events_adrift = 0;
  return came ? thread.answer : std::nullopt;
}

std::optional<events::Answer> Call::ask(events::Event event, const void* extension, bool ring,
                                        const CallData* data) {
  event.flags |= events::kNeedsAnswer;
  emit(event, extension, data);
  return await_answer(ring);
}

void Call::exit_at(Time t) {
  now_ = t;
  thread.inside = std::max(thread.inside, t);
  if (!emitted_) return;
  thread.reported = t;
  thread.recorded.out(t);
}

void Call::poll_native(const std::function<bool()>& test, RankId peer, const Communicator* members) {
  for (int i = 0; !test(); ++i) {
    if (i == kLooksBeforeSleep) rt.threads.set_native_wait(thread, true);
    if (i < kLooksBeforeSleep) {
      held_.unlock();
      sched_yield();
    } else {
      rt.absorb();  // a match decided elsewhere may need its native receive posted now
      rt.line.nudge(peer);
      // All may have to push a collective; more and more seldom, as the one who is late may be computing.
      if (members != nullptr && is_rare(i - kLooksBeforeSleep)) rt.line.nudge(*members);
      held_.unlock();
      rt.idle();
    }
    held_.lock();
    if (i >= kLooksBeforeSleep) rt.look_for_simulator();
    if (i >= kLooksBeforeSleep && rt.background.has_any()) rt.background.progress(4);
  }
  rt.threads.set_native_wait(thread, false);
}

int Call::finish(MPI_Request& native, MPI_Status* status, RankId peer, const Communicator* members) {
  const QuietErrors errors;
  if (rt.native()) return unlocked([&] { return pmpi::Wait(&native, status); });
  int code = MPI_SUCCESS;
  poll_native(
      [&] {
        int flag = 0;
        code = pmpi::Test(&native, &flag, status);
        return flag != 0 || code != MPI_SUCCESS;
      },
      peer, members);
  return code;
}

void Call::await(MPI_Request native, RankId peer, const Communicator* members) {
  if (rt.native()) return;  // the call that frees it waits itself
  poll_native([&] { return is_complete(native); }, peer, members);
}

}  // namespace nplus1::stubs
