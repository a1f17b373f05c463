// Teams of threads that execute OpenMP's parallel regions: each member computes on a core of its own, in virtual time, and the
// region ends when the last of them has. On the host they may share fewer cores, and wait for each other by spinning, at the
// region's end and at barriers in it: of that nothing is charged. A member that calls MPI waits for its work between regions, and
// who waits for its end waits for its virtual end (events/thread_change.hpp).
//
// Pieces of work that members take when they are free (loops with a dynamic schedule, sections) go to whom the host lets run. On
// cores of their own each member would take a share: the team is done with them when their sum and all members' own work, divided
// by the members, is, but not before the longest piece, and not before who has most work of his own (R. Graham, Bounds on
// multiprocessing timing anomalies, 1969).
//
// Where a program has explicit tasks, members work on while they wait: then what each thread took is charged. So is what waits
// otherwise: critical sections, locks, flags. Nothing fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "stubs/runtime/thread_state.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

class Runtime;
class Team;

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
  bool takes = false;           // it is at one
  std::int64_t takes_since_ps = 0;
  std::int64_t read_ps = 0;    // the last reading of its clock
  std::int64_t unread_ps = 0;  // of short pieces since
  std::int64_t piece_tick = 0;
};

/// The members' coming together, at a barrier or at the region's end.
class Meeting {
 public:
  /// A member comes, `since_ps` after the last meeting; of that it has taken `taken_ps`, and the longest piece was `longest_ps`.
  void come(std::int64_t since_ps, std::int64_t taken_ps, std::int64_t longest_ps);
  /// How long after the last meeting all go on.
  [[nodiscard]] std::int64_t end_ps() const;
  void reset();

 private:
  std::atomic<std::int64_t> latest_ps_{0};  // with what he did not take
  std::atomic<std::int64_t> longest_ps_{0};
  std::atomic<double> all_ps_{0};  // sum over the members
  std::atomic<std::int32_t> members_{0};
  std::atomic<bool> takes_{false};
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
  /// At a barrier of the team's, which is `wait`.
  void meet(Part& part, void (*wait)());
  /// The member has done what it was at, and has taken `another` of the pieces for whoever is free.
  void take(Part& part, bool another);

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
  void come(Meeting& meeting, Part& part, std::int64_t now_ps);
  void begin_member(ThreadState& state);
  void end_member(ThreadState& state, Part& part);
  void await_members(unsigned others);
  void leave_out_fork();
  void begin_to_wait(Part& part);
  void end_on_clock(Runtime& rt);
  void end_without_clock() const;
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
  bool alone_ = true;         // the forker alone knows
  bool waits_ = false;        // since own_end_ the forker has had nothing to do
  Time forked_{};
  double forked_ns_ = 0;  // of a forker without a clock
  std::int64_t fork_tick_ = 0;
  Time own_end_{};           // with what it did not take
  std::int64_t taken_ps_ = 0;
  std::int64_t met_ps_ = 0;  // the forker's last barrier
  double own_ns_ = 0;  // of a forker without a clock
  double own_end_ns_ = 0;
  std::int64_t own_end_tick_ = 0;
  std::vector<Caller> callers_;           // whose end will be told; with the runtime's lock, as the next
  std::vector<Caller> ended_callers_;     // whose end was told
  std::vector<Caller> joined_early_;      // by the forker
  std::atomic<bool> has_callers_{false};  // there is something in one of the first two
  std::atomic<std::uint32_t> begun_{0};  // members besides the forker; kAwaited more once he waits for them
  Meeting barriers_[3];                       // barrier i at i modulo 3
  Meeting end_;                               // of those members whose end is not told
  std::atomic<bool> ready_{false};            // orders what is above for the members
  std::atomic<std::uint32_t> ended_{0};       // and what they wrote, for the forker
};

/// At a barrier, which is `wait`, of the region that the thread is in, if it is in one.
void meet_team(void (*wait)());

/// The thread has done what it was at, and has taken `another` of the pieces that are for whichever member is free.
void take_piece(bool another);
/// Whether it is at one.
[[nodiscard]] bool has_piece() noexcept;

/// The program has made an explicit task: from here on members are charged for what they do while they wait.
void note_tasks() noexcept;
/// Threads of teams for whose waiting nothing is charged.
[[nodiscard]] int members_of_teams() noexcept;

}  // namespace nplus1::stubs
