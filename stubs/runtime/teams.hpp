// Teams of threads that execute OpenMP's parallel regions: each member computes on a core of its own, in virtual time, and the
// region ends when the last of them has. On the host they may share fewer cores, and wait for each other by spinning, at the
// region's end and at barriers in it: of that nothing is charged. A member that calls MPI waits for its work between regions, and
// who waits for its end waits for its virtual end (events/thread_change.hpp).
//
// Pieces of work that members take when they are free (loops with a dynamic schedule, sections, explicit tasks) go to whom the host
// lets run. On cores of their own each member would take a share: the team is done with them when their sum and all members' own
// work, divided by the members, is, but not before the longest piece, not before who has most work of his own, and with tasks not
// before as many of them, one behind the other, as there must be: as the longest chain of dependences has, and of so many that one
// member waits for at once their number divided by the members, rounded up (R. Graham, Bounds on multiprocessing timing anomalies,
// 1969; of tasks, whose lengths nobody reads, with their mean). What members execute while they wait is what they take then, which
// is why tasks are right only where waiting takes nothing: where they sleep.
//
// What waits otherwise (critical sections, locks, flags) is charged as each thread took it. Nothing fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "stubs/runtime/thread_state.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

class Runtime;
class Team;

/// Of tasks that depend on something: how many are one behind the other, up to the last that writes it and to those that read it.
struct Chains {
  std::int64_t writes = 0, reads = 0;
};

/// What a task depends on.
struct Dependence {
  const void* address;
  bool only_reads;
};
using Dependences = std::span<const Dependence>;

/// What a thread does in a region. Times are virtual picoseconds since the region's beginning.
struct Part {
  Team& team;
  ThreadState* state;          // null: the thread has no clock, or its forker has none
  double begin_ns = 0;         // then: what it had been charged before
  std::uint32_t meetings = 0;  // at the team's barriers
  std::int64_t met_ps = 0;     // the last of them
  // Of the pieces that whoever is free takes, since then:
  std::int64_t taken_ps = 0;    // what this member did of them
  std::int64_t longest_ps = 0;  // the longest
  std::int64_t taken_at = 0;    // the beginning of its clock's interval in which it did
  std::int64_t tasks = 0;       // it has made
  std::int64_t direct = 0;      // of these, not within another, since it last waited for them
  std::int64_t chain = 0;       // the longest of these that depend on each other
  std::unordered_map<const void*, Chains> chains{};  // by what they depend on
  std::int64_t rounds = 0;    // as many have to be one behind the other, for those that it has waited for
  bool takes = false;         // it is at one
  bool makes_slowly = false;  // when it made a task last, it executed it
  std::int64_t takes_since_ps = 0;
  std::int64_t read_ps = 0;       // the last reading of its clock
  std::int64_t unread_ticks = 0;  // of short pieces since
  std::int64_t piece_tick = 0;
};

/// The members' coming together, at a barrier or at the region's end. Any thread; what they told is known when all have come.
class Meeting {
 public:
  /// A member comes, `since_ps` after the last meeting; of that `taken_ps` are what it has taken.
  void come(const Part& part, std::int64_t since_ps, std::int64_t taken_ps);
  /// Tasks that were executed meanwhile.
  void add_taken(std::int64_t taken_ps);
  [[nodiscard]] std::int32_t members() const { return members_.load(std::memory_order_relaxed); }
  /// How long after the last meeting all go on.
  [[nodiscard]] std::int64_t end_ps() const;
  void reset();

  std::atomic<bool> has_tasks{false};  // as members knew who have come

 private:
  std::atomic<std::int64_t> latest_ps_{0};  // with what he did not take
  std::atomic<std::int64_t> longest_ps_{0};
  std::atomic<double> all_ps_{0}, taken_ps_{0};  // sums over the members
  std::atomic<std::int64_t> tasks_{0}, rounds_{0};
  std::atomic<std::int32_t> members_{0};
};

/// A region, from its beginning to its end, on its forker's stack.
class Team {
  static constexpr std::uint32_t kAwaited = 1U << 31U;

 public:
  using Body = void(void*);
  using Size = int();

  /// Whether regions are looked at here and now.
  [[nodiscard]] static bool are_seen();

  /// A region of the calling thread, for whose team `body(data)` is executed; `size`: says inside of it how many members there are.
  /// `may_be_several`: more than the calling thread.
  Team(Body* body, void* data, Size* size, bool may_be_several);
  /// By the forker, when the region has ended.
  void end();
  /// What each member executes, with its team as argument.
  static void run(void* team) { static_cast<Team*>(team)->run_part(); }
  /// At a barrier of the team's, which is `wait`; `again` is another.
  void meet(Part& part, void (*wait)(), void (*again)());
  /// The member has done what it was at, and has taken `another` of the pieces for whoever is free.
  void take(Part& part, bool another);
  /// What the member does from here on, until the end of that, whoever is free might do as well. Not while it does already.
  void begin_taking(Part& part);
  void end_taking(Part& part);
  /// From inside of it.
  [[nodiscard]] std::int64_t members() const;
  /// The member has waited for all tasks that it has made.
  void end_round(Part& part) const;
  [[nodiscard]] bool charges() const { return charges_; }

 private:
  /// A member that calls MPI, and how often it will have been idle when its part has ended.
  struct Caller {
    ThreadState* state;
    std::uint32_t idles;
    Time end;
  };

  void run_part();
  void run_own();
  void run_member();
  [[nodiscard]] std::int64_t so_far_ps(const Part& part) const;
  [[nodiscard]] std::int64_t taken_ps(const Part& part) const;
  void go_on(Part& part, std::int64_t came_ps, std::int64_t met_ps, std::int64_t since_tick);
  void note_end();
  [[nodiscard]] std::int64_t executed_at_end_ps() const;
  void come(Meeting& meeting, Part& part, std::int64_t now_ps);
  void begin_member(ThreadState& state);
  void end_member(ThreadState& state, Part& part);
  void await_members(unsigned others);
  void leave_out_fork();
  void begin_to_wait(Part& part);
  void end_on_clock(Runtime& rt);
  void end_without_clock();
  void join_early(Runtime& rt);
  [[nodiscard]] Time join_callers(Runtime& rt, Time end);
  [[nodiscard]] bool is_joined_early(const ThreadState& state) const;

  Body* const body_;
  void* const data_;
  Size* const size_;
  const void* const forker_ = &call_state;
  ThreadState* const state_;  // the forker's; null: its thread has none
  bool charges_ = false;      // what members take is their CPU time
  bool tells_ = false;        // members may call MPI
  /// They probably do: all begin together, so that no decision depends on whom the machine runs first.
  bool awaits_ = false;
  bool alone_ = true;   // the forker alone knows
  bool waits_ = false;  // since own_end_ the forker has had nothing to do
  Time forked_{};
  double forked_ns_ = 0;  // of a forker without a clock
  std::int64_t fork_tick_ = 0;
  Time own_end_{};  // with what it did not take
  std::int64_t taken_ps_ = 0;
  std::int64_t met_ps_ = 0;  // the forker's last barrier
  double own_ns_ = 0;        // of a forker without a clock
  double own_end_ns_ = 0;
  std::int64_t own_end_tick_ = 0;
  std::vector<Caller> callers_;           // whose end will be told; with the runtime's lock, as the next
  std::vector<Caller> ended_callers_;     // whose end was told
  std::vector<Caller> joined_early_;      // by the forker
  std::atomic<bool> has_callers_{false};  // there is something in one of the first two
  /// A member whose part has ended, and its CPU time then.
  struct Ended {
    clockid_t clock;
    std::int64_t cpu_ns;
  };
  std::vector<Ended> ended_members_;     // where there are tasks; with the runtime's lock
  std::atomic<std::uint32_t> begun_{0};  // members besides the forker; kAwaited more once he waits for them
  Meeting barriers_[3];                  // barrier i at i modulo 3
  Meeting end_;                          // of those members whose end is not told
  std::atomic<bool> ready_{false};       // orders what is above for the members
  std::atomic<std::uint32_t> ended_{0};  // and what they wrote, for the forker
};

/// At a barrier, which is `wait`, of the region that the thread is in, if it is in one; `again` is another barrier.
void meet_team(void (*wait)(), void (*again)());

/// The thread has done what it was at, and has taken `another` of the pieces that are for whichever member is free.
void take_piece(bool another);
/// Whether it was at one, a short one, and this is all that has to be known of the next.
[[nodiscard]] bool goes_on_with_short_pieces() noexcept;
/// Whether it is at one.
[[nodiscard]] bool has_piece() noexcept;

/// While the program makes an explicit task. `deferred`: whoever is free executes it.
class MakingTask {
 public:
  MakingTask(bool deferred, Dependences dependences);
  ~MakingTask();
  MakingTask(const MakingTask&) = delete;
  MakingTask& operator=(const MakingTask&) = delete;

 private:
  Part* part_ = nullptr;  // where there is something to do
  std::int64_t tick_ = 0;
};

/// While the program waits for tasks, and executes some. `makes_them`: there, too, as many as the team has members at least.
class AwaitingTasks {
 public:
  explicit AwaitingTasks(bool makes_them);
  ~AwaitingTasks();
  AwaitingTasks(const AwaitingTasks&) = delete;
  AwaitingTasks& operator=(const AwaitingTasks&) = delete;

 private:
  Part* part_ = nullptr;
};
/// Threads of teams for whose waiting nothing is charged.
[[nodiscard]] int members_of_teams() noexcept;

}  // namespace nplus1::stubs
