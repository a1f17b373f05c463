#include "stubs/runtime/teams.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include <pthread.h>

#include "events/limits.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/threads.hpp"
#include "stubs/transport/segment.hpp"
#include "stubs/twin/twin.hpp"

namespace nplus1::stubs {
namespace {

std::atomic<int> team_members{0};
std::atomic<bool> tasks_were_made{false};
/// A member is taken for one that calls MPI in the first of its regions, and for good when it has.
constexpr std::uint32_t kRegionsToTell = 4;
/// A member that has no core would else be waited for for ever.
constexpr int kMostLooks = 100;
constexpr std::int64_t kLookNs = 10'000'000;

/// Of pieces shorter than that the CPU clock, a system call, is not read: they are timed by the time stamp counter.
constexpr double kShortPieceNs = 20'000;

constinit thread_local Part* own_part = nullptr;
constinit thread_local bool is_counted = false;  // as a member of teams

/// Makes it the thread's own for a while; null: a team of one.
class Within {
 public:
  explicit Within(Part* part) : outer_{std::exchange(own_part, part)} {}
  ~Within() { own_part = outer_; }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  Part* outer_;
};

/// What a thread without a clock of its own has to be charged, beside its CPU time, for the regions within its part.
constinit thread_local double beside_own_ns = 0;

double own_cpu_ns() {
  return static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

/// What a thread without a clock is charged so far.
double charged_ns() {
  return own_cpu_ns() + beside_own_ns;
}

void raise(std::atomic<std::int64_t>& highest, std::int64_t value) {
  for (std::int64_t seen = highest.load(std::memory_order_relaxed);
       value > seen && !highest.compare_exchange_weak(seen, value, std::memory_order_relaxed);) {
  }
}

/// Of CPU time.
Duration virtual_time(double cpu_ns) {
  return events::rounded_within(cpu_ns * 1000.0 * runtime()->settings().scale);
}

/// The thread has waited since the tick, and its clock has run by so much meanwhile: that is not the program's.
void leave_out(ThreadState& thread, Duration waited, std::int64_t since_tick) {
  const double scale = runtime()->settings().scale;
  if (scale <= 0) return;
  thread.clock.exclude(static_cast<double>(waited.count()) / (1000.0 * scale),
                       static_cast<double>(ticks() - since_tick) * nanoseconds_per_tick());
}

/// So much of what the thread did is other members' part.
void leave_out(ThreadState& thread, std::int64_t taken_ps) {
  const double scale = runtime()->settings().scale;
  const double ns = scale > 0 ? static_cast<double>(taken_ps) / (1000.0 * scale) : 0;
  thread.clock.exclude(ns, ns);
}

/// What a thread takes while it waits bounds nothing, for who watches it; behind that it counts again. Null: it has no clock.
void show_waiting(const ThreadState* thread, bool waits) {
  transport::RankBlock* block = thread == nullptr ? nullptr : runtime()->line.block();
  if (block == nullptr) return;
  block->team_waits.fetch_add(waits ? 1U : -1U, std::memory_order_release);
  if (!waits) ThreadStates::show_new_beginning(*thread, *block);
}

bool has_tasks() {
  return tasks_were_made.load(std::memory_order_relaxed);
}

void note_tasks() {
  if (!has_tasks()) tasks_were_made.store(true, std::memory_order_relaxed);
}

template <class T>
void add(std::atomic<T>& sum, T value) {
  sum.fetch_add(value, std::memory_order_relaxed);
}

/// How many tasks are one behind the other up to one more (OpenMP 5.0, 2.17.11: it follows who wrote what it reads, and who read or
/// wrote what it writes).
std::int64_t chain_with(std::unordered_map<const void*, Chains>& chains, Dependences dependences) {
  std::int64_t before = 0;
  for (const auto& [address, only_reads] : dependences) {
    const Chains& known = chains[address];
    before = std::max({before, known.writes, only_reads ? 0 : known.reads});
  }
  for (const auto& [address, only_reads] : dependences) {
    Chains& known = chains[address];
    std::int64_t& longest = only_reads ? known.reads : known.writes;
    longest = std::max(longest, before + 1);
  }
  return dependences.empty() ? 0 : before + 1;
}

}  // namespace

void Meeting::come(const Part& part, std::int64_t since_ps, std::int64_t taken_ps) {
  raise(latest_ps_, since_ps - taken_ps);
  raise(longest_ps_, part.longest_ps);
  raise(rounds_, part.rounds);
  add(tasks_, part.tasks);
  add(all_ps_, static_cast<double>(since_ps));
  add(taken_ps_, static_cast<double>(taken_ps));
  add(members_, 1);
  if (nplus1::stubs::has_tasks()) has_tasks.store(true, std::memory_order_relaxed);
}

void Meeting::add_taken(std::int64_t taken_ps) {
  add(all_ps_, static_cast<double>(taken_ps));
  add(taken_ps_, static_cast<double>(taken_ps));
}

std::int64_t Meeting::end_ps() const {
  constexpr auto kOrder = std::memory_order_relaxed;
  const std::int64_t latest = latest_ps_.load(kOrder);
  const double taken = taken_ps_.load(kOrder);
  if (taken <= 0) return latest;
  const double share = all_ps_.load(kOrder) / std::max(1, members());
  const double tasks = static_cast<double>(std::max<std::int64_t>(1, tasks_.load(kOrder)));
  const double in_rounds = taken * static_cast<double>(rounds_.load(kOrder)) / tasks;
  return std::max({latest, longest_ps_.load(kOrder), static_cast<std::int64_t>(std::max(share, in_rounds))});
}

void Meeting::reset() {
  constexpr auto kOrder = std::memory_order_relaxed;
  for (std::atomic<std::int64_t>* number : {&latest_ps_, &longest_ps_, &tasks_, &rounds_})
    number->store(0, kOrder);
  for (std::atomic<double>* sum : {&all_ps_, &taken_ps_}) sum->store(0, kOrder);
  has_tasks.store(false, kOrder);
  members_.store(0, kOrder);
}

bool Team::are_seen() {
  return active() && call_state.depth == 0 && !twin::is_twin() && runtime() != nullptr &&
         !runtime()->degraded();
}

Team::Team(Body* body, void* data, Size* size, bool may_be_several)
    : body_{body}, data_{data}, size_{size}, state_{ThreadStates::mine_if_known()} {
  const Settings& settings = runtime()->settings();
  if (may_be_several) {
    charges_ = settings.compute == ComputeMode::kMeasured && !settings.wall_clock && !settings.instructions;
    tells_ = state_ != nullptr && threads_may_call();
    awaits_ = tells_ && (state_->members_call || state_->forks++ < kRegionsToTell);
  }
  fork_tick_ = ticks();
  if (state_ != nullptr && (tells_ || charges_)) forked_ = now_of(*state_);
  if (state_ == nullptr && charges_) forked_ns_ = charged_ns();
  if (charges_) show_waiting(state_, true);
  ready_.store(true, std::memory_order_release);
}

void Team::run_part() {
  if (forker_ == &call_state) return run_own();
  run_member();
  ended_.fetch_add(1, std::memory_order_release);
}

void Team::run_member() {
  (void)ready_.load(std::memory_order_acquire);
  ThreadState* const state = tells_ ? ThreadStates::mine_if_known() : nullptr;
  if (state != nullptr) guarded([&] { begin_member(*state); });
  const bool awaited = begun_.fetch_add(1, std::memory_order_seq_cst) >= kAwaited;
  if (awaited) transport::futex_wake(begun_);
  if (charges_ && !std::exchange(is_counted, true)) team_members.fetch_add(1, std::memory_order_relaxed);
  const bool counts = charges_ && state == nullptr;
  Part part{*this, state, counts ? charged_ns() : 0};
  {
    const Within within{&part};
    body_(data_);
  }
  ThreadState* const known =
      tells_ ? ThreadStates::mine_if_known() : nullptr;  // it may have made its first call
  if (known != nullptr && active())
    guarded([&] { end_member(*known, part); });
  else if (counts && active())
    come(end_, part, so_far_ps(part));
  if (charges_ && has_tasks()) guarded([&] { note_end(); });
}

/// From here on the member only executes tasks, until the region ends.
void Team::note_end() {
  clockid_t clock{};
  if (pthread_getcpuclockid(pthread_self(), &clock) != 0) return;
  const std::lock_guard guard{runtime()->lock};
  ended_members_.push_back({clock, clock_ns(clock)});
}

/// What members have executed behind their parts. A thread that is gone has told nothing.
std::int64_t Team::executed_at_end_ps() const {
  double ns = 0;
  for (const Ended& member : ended_members_)
    ns += std::max(0.0, static_cast<double>(clock_ns(member.clock) - member.cpu_ns));
  return virtual_time(ns).count();
}

/// The forker's part. The others may be at work before it is.
void Team::run_own() {
  const int members = size_ == nullptr ? 1 : size_();
  alone_ = members <= 1;
  if (alone_) {
    if (charges_) show_waiting(state_, false);
    const Within within{nullptr};
    return body_(data_);
  }
  if (awaits_) await_members(static_cast<unsigned>(members - 1));
  if (charges_) leave_out_fork();
  Part part{*this, state_, forked_ns_};
  {
    const Within within{&part};
    body_(data_);
  }
  if (state_ == nullptr && charges_) own_ns_ = charged_ns() - part.begin_ns;
  own_end_ns_ = part.begin_ns + own_ns_;
  begin_to_wait(part);
}

/// The team begins when all members have come from the region before: what the forker takes until then is not charged.
void Team::leave_out_fork() {
  if (state_ == nullptr) {
    beside_own_ns -= charged_ns() - forked_ns_;
    return;
  }
  leave_out(*state_, now_of(*state_) - forked_, fork_tick_);
  show_waiting(state_, false);
}

/// Virtual picoseconds since the region's beginning.
std::int64_t Team::so_far_ps(const Part& part) const {
  if (part.state != nullptr) return (now_of(*part.state) - forked_).count();
  return virtual_time(charged_ns() - part.begin_ns).count();
}

void Team::begin_taking(Part& part) {
  const std::int64_t interval = part.state == nullptr ? 0 : part.state->clock.start_tick();
  if (std::exchange(part.taken_at, interval) != interval) part.taken_ps = 0;
  part.takes_since_ps = part.read_ps = so_far_ps(part);
  part.unread_ticks = 0;
  part.takes = true;
}

void Team::end_taking(Part& part) {
  part.read_ps = so_far_ps(part);
  part.taken_ps += part.read_ps - part.takes_since_ps;
  part.takes = false;
}

void Team::take(Part& part, bool another) {
  if (!charges_ || !active() || (!part.takes && !another)) return;
  if (!part.takes) {
    begin_taking(part);
  } else {
    const auto unread = virtual_time(static_cast<double>(part.unread_ticks) * nanoseconds_per_tick());
    const std::int64_t before = part.read_ps + unread.count();
    if (another)
      part.read_ps = so_far_ps(part);
    else
      end_taking(part);
    part.longest_ps = std::max(part.longest_ps, part.read_ps - before);
    part.unread_ticks = 0;
  }
  part.piece_tick = ticks();
}

void Team::end_round(Part& part) const {
  part.rounds += std::max((part.direct + members() - 1) / members(), part.chain);
  part.direct = part.chain = 0;
  part.chains.clear();
}

std::int64_t Team::members() const {
  return size_ == nullptr ? 1 : std::max(1, size_());
}

/// What others might have done as well. Where the member has called MPI since, all that it did was told as its own.
std::int64_t Team::taken_ps(const Part& part) const {
  if (part.state != nullptr && part.state->clock.start_tick() != part.taken_at) return 0;
  return part.taken_ps;
}

/// The member has come so long after the region's beginning.
void Team::come(Meeting& meeting, Part& part, std::int64_t now_ps) {
  take(part, false);
  end_round(part);
  meeting.come(part, now_ps - part.met_ps, taken_ps(part));
}

void Team::meet(Part& part, void (*wait)(), void (*again)()) {
  if (!charges_ || !active()) return wait();
  ThreadState* const state = part.state;
  const std::int64_t tick = ticks();
  const std::int64_t came = so_far_ps(part);
  Meeting& meeting = barriers_[part.meetings % 3];
  come(meeting, part, came);
  show_waiting(state, true);
  wait();
  // All who have come see the same here, so that nobody waits alone for the second time.
  if (meeting.has_tasks && again != nullptr && meeting.members() == members()) {
    meeting.add_taken(std::max(std::int64_t{0}, so_far_ps(part) - came));
    again();
  }
  // All have read the last barrier's, and nobody can be at the next but one.
  barriers_[(part.meetings++ + 2) % 3].reset();
  go_on(part, came, part.met_ps + meeting.end_ps(), tick);
  show_waiting(state, false);
}

/// The member, which has come at `came_ps` and waited since the tick, goes on with the others.
void Team::go_on(Part& part, std::int64_t came_ps, std::int64_t met_ps, std::int64_t since_tick) {
  const std::int64_t waited = so_far_ps(part) - came_ps;
  if (part.state != nullptr) {
    leave_out(*part.state, Duration{waited}, since_tick);
    if (met_ps < came_ps) leave_out(*part.state, came_ps - met_ps);
    if (met_ps > came_ps) part.state->clock.add(Duration{met_ps - came_ps});
  } else if (const double scale = runtime()->settings().scale; scale > 0) {
    beside_own_ns += static_cast<double>(met_ps - came_ps - waited) / (1000.0 * scale);
  }
  part.met_ps = met_ps;
  part.taken_ps = part.longest_ps = part.tasks = part.rounds = 0;
}

void Team::await_members(unsigned others) {
  show_waiting(state_, true);
  std::uint32_t begun = begun_.fetch_add(kAwaited, std::memory_order_seq_cst) + kAwaited;
  for (int i = 0; i < kMostLooks && begun < kAwaited + others; ++i) {
    transport::futex_wait(begun_, begun, kLookNs);
    begun = begun_.load(std::memory_order_acquire);
  }
  show_waiting(state_, false);
}

void Team::begin_member(ThreadState& state) {
  Runtime& rt = *runtime();
  if (rt.degraded() || state.in_call) return;
  if (awaits_ && (!state.is_idle || state.has_called || state.regions < kRegionsToTell)) {
    const std::lock_guard guard{rt.lock};
    if (std::exchange(state.is_idle, false)) {
      tell_change(rt, *state_, events::ThreadChange::kFork, forked_, state.id);
      state.reported = std::max(state.reported, forked_);
    }
    callers_.push_back({&state, state.idles + 1, {}});
    has_callers_.store(true, std::memory_order_relaxed);
  }
  ++state.regions;
  rt.threads.start_clock(state, std::max(state.reported, forked_));
}

void Team::end_member(ThreadState& state, Part& part) {
  Runtime& rt = *runtime();
  if (rt.degraded() || state.in_call) return;
  const Time now = now_of(state);
  come(end_, part, (now - forked_).count());
  if (state.is_idle) return;
  const Time end = part.state == nullptr ? now : std::max(state.reported, now - Duration{taken_ps(part)});
  const std::lock_guard guard{rt.lock};
  if (state.has_called) state_->members_call = true;
  has_callers_.store(true, std::memory_order_relaxed);
  state.is_idle = true;
  ended_callers_.push_back({&state, ++state.idles, end});
  tell_change(rt, state, events::ThreadChange::kIdle, end, {});
}

/// The forker has done its part. As in pthread_join, the simulator knows whom it waits for before it does.
void Team::begin_to_wait(Part& part) {
  own_end_tick_ = ticks();
  if (!active()) return;
  if (state_ != nullptr || charges_) come(end_, part, so_far_ps(part));
  met_ps_ = part.met_ps;
  Runtime& rt = *runtime();
  if (state_ == nullptr || rt.degraded()) return;
  const Time now = now_of(*state_);
  own_end_ = std::max(state_->reported, now - Duration{taken_ps(part)});
  taken_ps_ = (now - own_end_).count();
  if (has_callers_.load(std::memory_order_relaxed)) guarded([&] { join_early(rt); });
  waits_ = charges_ || !joined_early_.empty();
  if (waits_) show_waiting(state_, true);
}

void Team::join_early(Runtime& rt) {
  const std::lock_guard guard{rt.lock};
  for (const Caller& caller : callers_) {
    tell_change(rt, *state_, events::ThreadChange::kJoin, own_end_, caller.state->id, caller.idles,
                !joined_early_.empty());
    joined_early_.push_back(caller);
  }
}

void Team::end() {
  if (alone_) return;
  (void)ended_.load(std::memory_order_acquire);
  if (state_ == nullptr) return end_without_clock();
  Runtime& rt = *runtime();
  guarded([&] { end_on_clock(rt); });
  if (waits_) show_waiting(state_, false);
}

/// For a region within another thread's part: what the thread did while it waited is left out, what it waited for counts.
void Team::end_without_clock() {
  const double scale = runtime()->settings().scale;
  if (!charges_ || scale <= 0) return;
  end_.add_taken(executed_at_end_ps() + virtual_time(charged_ns() - own_end_ns_).count());
  const auto longest = static_cast<double>(met_ps_ + end_.end_ps()) / (1000.0 * scale);
  beside_own_ns += longest - own_ns_ - (charged_ns() - own_end_ns_);
}

void Team::end_on_clock(Runtime& rt) {
  if (rt.degraded() || state_->in_call) return;
  const Settings& settings = rt.settings();
  const Time waited = now_of(*state_);  // as if it had worked all the time
  if (charges_ && waits_ && has_tasks())
    end_.add_taken(executed_at_end_ps() + (waited - own_end_).count() - taken_ps_);
  const Time end = waits_ ? own_end_ : waited;
  const bool joins = has_callers_.load(std::memory_order_relaxed);
  const Time joined = joins ? join_callers(rt, end) : end;
  Time until = std::max(joined, charges_ && waits_ ? end : waited);
  until =
      std::max(until, kTimeZero + events::sum_within(forked_ - kTimeZero, Duration{met_ps_ + end_.end_ps()}));
  if (joins) {
    rt.threads.start_clock(*state_, joined);
    if (settings.compute == ComputeMode::kMeasured) state_->clock.add(until - joined);
  } else if (charges_ && waits_) {
    leave_out(*state_, waited - end - Duration{taken_ps_}, own_end_tick_);
    leave_out(*state_, taken_ps_);
    state_->clock.add(until - end);
  }
}

bool Team::is_joined_early(const ThreadState& state) const {
  return std::any_of(joined_early_.begin(), joined_early_.end(),
                     [&](const Caller& caller) { return caller.state == &state; });
}

/// When the forker, which was done at `end`, and those of its members that call MPI have ended.
Time Team::join_callers(Runtime& rt, Time end) {
  const std::lock_guard guard{rt.lock};
  Time joined = end;
  for (const Caller& caller : ended_callers_)
    if (is_joined_early(*caller.state)) joined = std::max(joined, caller.end);
  if (!joined_early_.empty()) state_->reported = joined;
  for (const Caller& caller : ended_callers_) {
    if (is_joined_early(*caller.state)) continue;
    tell_change(rt, *state_, events::ThreadChange::kJoin, joined, caller.state->id, caller.idles);
    joined = std::max(joined, caller.end);
    state_->reported = joined;
  }
  return joined;
}

void meet_team(void (*wait)(), void (*again)()) {
  if (own_part == nullptr) return wait();
  own_part->team.meet(*own_part, wait, again);
}

void take_piece(bool another) {
  if (own_part != nullptr) own_part->team.take(*own_part, another);
}

bool goes_on_with_short_pieces() noexcept {
  Part* const part = own_part;
  if (part == nullptr || !part->takes) return false;
  const std::int64_t tick = ticks();
  const std::int64_t took = tick - part->piece_tick;
  if (static_cast<double>(took) * nanoseconds_per_tick() >= kShortPieceNs) return false;
  part->unread_ticks += took;
  part->piece_tick = tick;
  return true;
}

bool has_piece() noexcept {
  return own_part != nullptr && own_part->takes;
}

MakingTask::MakingTask(bool deferred, Dependences dependences) {
  note_tasks();
  if (own_part == nullptr || !own_part->team.charges() || !deferred || !active()) return;
  ++own_part->tasks;
  if (own_part->takes) return;
  part_ = own_part;
  ++part_->direct;
  part_->chain = std::max(part_->chain, chain_with(part_->chains, dependences));
  tick_ = ticks();
  if (part_->makes_slowly) part_->team.begin_taking(*part_);
}

/// Where too many tasks wait already, who makes one executes it at once; to read the CPU clock each time would cost more than most
/// tasks.
MakingTask::~MakingTask() {
  if (part_ == nullptr) return;
  const bool slowly = static_cast<double>(ticks() - tick_) * nanoseconds_per_tick() > kShortPieceNs;
  if (part_->makes_slowly) part_->team.end_taking(*part_);
  part_->makes_slowly = slowly;
}

AwaitingTasks::AwaitingTasks(bool makes_them) {
  if (makes_them) note_tasks();
  if (own_part == nullptr || !own_part->team.charges() || own_part->takes || !active()) return;
  part_ = own_part;
  part_->team.begin_taking(*part_);
  if (!makes_them) return;
  const std::int64_t members = part_->team.members();
  part_->tasks += members;
  part_->direct += members;
}

AwaitingTasks::~AwaitingTasks() {
  if (part_ == nullptr) return;
  part_->team.end_taking(*part_);
  part_->team.end_round(*part_);
}

int members_of_teams() noexcept {
  return team_members.load(std::memory_order_relaxed);
}

}  // namespace nplus1::stubs
