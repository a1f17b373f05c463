#include "simnode/node/watch.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "events/limits.hpp"

namespace nplus1::simnode::node {
namespace {

using namespace std::chrono_literals;

/// A rank that uses no CPU outside MPI waits for something that we don't see.
constexpr auto kIdleGrace = 200ms;
/// A rank that waits inside the MPI library may wait for a rank that waits for us.
constexpr auto kNativeGrace = 50ms;
/// The same where compute times are given: who gives them wants the same answer on a busy machine too.
constexpr auto kSteadyNativeGrace = 1s;
/// With given compute times CPU time says nothing: a rank that spins this long waits for somebody.
constexpr auto kSpinGrace = 10s;
/// A thread that waits for another of its process (pthread_join) makes no event, while the other's are
/// awaited.
constexpr auto kThreadGrace = 20ms;
/// Programs that join threads join them again and again: the grace is halved after every so many
/// withdrawals, so many times at most.
constexpr int kWithdrawalsToHalve = 8, kMostHalvings = 4;
/// The same under given compute times where one of the rank's threads runs: it may be about to make a call. One that
/// spins until another has done something is not, and does so again and again.
constexpr auto kRunningThreadGrace = 100ms;
constexpr int kSpinsToHalve = 2, kMostSpinHalvings = 8;
constexpr auto kWatchdog = 10s;
/// A job whose ranks spin for each other on too few cores is starved for ever: half a patience so many times at most.
constexpr int kMostExtensions = 18;
/// CPU time sampled from outside may include a little of the stubs' own.
constexpr double kSafety = 0.9;

/// How long the thread ran, as the kernel says (nanoseconds); -1 if it is gone.
std::int64_t running_time_of(std::int32_t pid, std::int32_t tid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/schedstat"};
  std::int64_t ran = -1;
  return file >> ran ? ran : -1;
}

/// Calls `look` with the folder in /proc of each thread of the process until it returns false; false if there is none.
template <class Look>
bool each_thread(std::int32_t pid, Look&& look) {
  std::error_code error;
  bool any = false;
  for (auto it = std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    any = true;
    if (!look(it->path())) break;
  }
  return any;
}

/// Whether the thread runs, or could and has no core.
bool runs(const std::filesystem::path& thread) {
  std::ifstream file{thread / "stat"};
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] == 'R';
}

/// Then a wait outside MPI is not for another rank.
bool some_thread_runs(std::int32_t pid) {
  bool one_runs = false;
  each_thread(pid, [&](const std::filesystem::path& thread) { return !(one_runs = runs(thread)); });
  return one_runs;
}

/// How long the threads that a process has now ran, as the kernel says (nanoseconds).
std::int64_t running_time_of_all(std::int32_t pid) {
  std::int64_t sum = 0;
  each_thread(pid, [&](const std::filesystem::path& thread) {
    std::ifstream file{thread / "schedstat"};
    std::int64_t ran = 0;
    if (file >> ran) sum += ran;
    return true;
  });
  return sum;
}

}  // namespace

void Watch::add(RankId rank, std::int32_t pid, transport::RankBlock* block, bool threads, double scale) {
  ranks_[rank.index()].scale = scale;
  ranks_[rank.index()].several_threads = threads;
  ranks_[rank.index()].pid = pid;
  ranks_[rank.index()].block = block;
}

Watch::Sight Watch::sight_of(const Rank& rank, ThreadId thread) {
  if (rank.block == nullptr) return {};
  if (!rank.several_threads) return {rank.pid, &rank.block->activity};
  const transport::ThreadCell& cell = rank.block->threads[thread.index() % transport::kThreadCells];
  if (cell.owner.load(std::memory_order_acquire) != thread.value + 1U) return {};
  return {cell.tid.load(std::memory_order_acquire), &cell.activity};
}

bool Watch::may_spin(const Rank& rank, const Sight& sight) const {
  return rank.several_threads && !clock_.measured && sight.in_application() && some_thread_runs(rank.pid);
}

std::chrono::microseconds Watch::patience(const Rank& rank, const Sight& sight, bool may_spin) const {
  const std::chrono::milliseconds inside = clock_.measured ? kNativeGrace : kSteadyNativeGrace;
  if (rank.several_threads) {
    // What waits for other threads of the process sleeps, or spins. Of other hosts nothing is seen.
    if (!sight.in_application()) return rank.block == nullptr ? kSteadyNativeGrace : inside;
    if (may_spin)
      return std::chrono::microseconds{kRunningThreadGrace} /
             (1 << std::min(rank.withdrawals / kSpinsToHalve, kMostSpinHalvings));
    return std::chrono::microseconds{kThreadGrace} /
           (1 << std::min(rank.withdrawals / kWithdrawalsToHalve, kMostHalvings));
  }
  if (rank.block == nullptr) return kSpinGrace;  // nothing is known of it
  if (rank.block->native_wait.load(std::memory_order_relaxed) != 0) return inside;
  return clock_.measured ? kIdleGrace : std::chrono::milliseconds{kSpinGrace};
}

/// Of all threads: it may be another than the main one that is waited for.
std::int64_t Watch::starved_of(std::int32_t pid) {
  std::int64_t sum = 0;
  const bool there = each_thread(pid, [&](const std::filesystem::path& thread) {
    std::ifstream file{thread / "schedstat"};
    std::int64_t ran = 0;
    std::int64_t waited = 0;
    if (file >> ran >> waited) sum += waited;
    return true;
  });
  return there ? sum : -1;
}

std::int64_t Watch::starved() const {
  std::int64_t sum = 0;
  for (const Rank& r : ranks_)
    if (r.block != nullptr) sum += std::max(std::int64_t{0}, starved_(r.pid));
  return sum;
}

/// A rank inside MPI waits for others of the job, so that all of them count. They are asked twice only, in the middle of
/// the patience and at its end: there may be many.
bool Watch::extend(Thread& r, std::chrono::microseconds patience, Instant now) {
  const bool over = now - r.moved >= patience;
  if (r.starved_ns < 0) {
    r.starved_ns = starved();
    r.starved_at = now;
    r.moved = std::max(r.moved, now - patience / 2);  // who was not looked at in the middle may have moved
    return true;
  }
  if (!over) return true;
  const std::int64_t since = starved();
  const auto without_core = std::chrono::nanoseconds{since - r.starved_ns};
  if (r.extensions >= kMostExtensions || without_core * 2 < now - r.starved_at) return false;
  ++r.extensions;
  r.starved_ns = since;
  r.starved_at = now;
  r.moved = now - patience / 2;
  return true;
}

std::uint64_t Watch::said_of(const Rank& r) {
  return r.block == nullptr ? 0
                            : r.block->event_head.load(std::memory_order_relaxed) +
                                  r.block->answer_head.load(std::memory_order_relaxed);
}

/// Who spins uses CPU time, and who has no core does not: its next call may come when it has one.
bool Watch::has_spun(const Rank& r, Thread& t, std::chrono::microseconds patience) {
  const std::int64_t ran = running_time_of_all(r.pid);
  if (t.spun_from_ns < 0) t.spun_from_ns = ran;
  return std::chrono::nanoseconds{ran - t.spun_from_ns} >= patience;
}

/// Whether one of its threads waits for others to end their part of an OpenMP region: what it takes meanwhile is not charged.
bool Watch::rank_waits_for_team(const Rank& r) {
  return r.block != nullptr && r.block->team_waits.load(std::memory_order_acquire) != 0;
}

bool Watch::look_at(RankId rank, ThreadId thread, engine::Engine& engine) {
  Rank& r = ranks_[rank.index()];
  const Sight sight = sight_of(r, thread);
  const auto activity_now = [&] {
    // Over TCP only its events show that it moves.
    return sight.activity == nullptr
               ? static_cast<std::uint32_t>(engine.clock(rank, thread).time_since_epoch().count())
               : sight.activity->load(std::memory_order_acquire);
  };
  const std::uint32_t activity = activity_now();
  const std::int64_t cpu = sight.tid < 0 ? 0 : running_time_of(r.pid, sight.tid);
  const Instant now = std::chrono::steady_clock::now();
  const bool waits_for_team = rank_waits_for_team(r);
  // A call made in between would lie before the bound, had the computing up to now been credited.
  if (activity_now() != activity) return false;
  Thread& t = r.threads[thread];
  if (!t.sampled || activity != t.activity) {
    t = {.sampled = true,
         .activity = activity,
         .said = said_of(r),
         .cpu_ns = cpu,
         .based = clock_.wall,
         .seen = now,
         .moved = now};
    return false;
  }
  // Of several threads one may have been answered just now, while the process has slept for long.
  if (const std::uint64_t said = said_of(r); said != t.said) {
    t.said = said;
    t.wait_anew(now);
    return false;
  }
  // The kernel brings a running thread's CPU time up to date at its ticks: what is read first may be of
  // before the last call, what has changed since is not.
  if (!t.based && cpu != t.cpu_ns) {
    t.based = true;
    t.cpu_ns = cpu;
    t.moved = now;
    return false;
  }
  const std::int64_t since = !t.based ? 0 : clock_.wall ? (now - t.seen) / 1ns : cpu - t.cpu_ns;
  // As it was sampled: who has left MPI since has used some of that time there.
  const bool computes = clock_.measured && sight.activity != nullptr && activity % 2 == 0 && !waits_for_team;
  if (computes && since > t.credited_ns) {
    t.credited_ns = since;
    const Duration before = engine.clock(rank, thread) - kTimeZero;
    const Duration computed =
        events::rounded_within(static_cast<double>(since) * 1000.0 * clock_.scale * r.scale * kSafety);
    engine.set_bound(rank, kTimeZero + events::sum_within(before, computed), thread);
    t.moved = now;
    return true;
  }
  if (waits_for_team && some_thread_runs(r.pid)) {
    t.wait_anew(now);
    return false;
  }
  const bool spins = may_spin(r, sight);
  const auto most = patience(r, sight, spins);
  if (spins && !has_spun(r, t, most)) return false;
  if (now - t.moved < most / 2 || extend(t, most, now) || now - t.moved < most) return false;
  if (computes && runs("/proc/" + std::to_string(r.pid) + "/task/" + std::to_string(sight.tid))) {
    t.wait_anew(now);  // for a core
    return false;
  }
  engine.withdraw(rank);
  ++r.withdrawals;
  if (!first_withdrawn_)
    first_withdrawn_ = {rank, thread, waits_inside_mpi(rank, sight),
                        std::chrono::duration_cast<std::chrono::milliseconds>(now - awaited_since_)};
  t.extensions = 0;
  t.wait_anew(now);
  return true;
}

void Watch::follow(engine::Engine& engine) {
  const auto awaited = engine.awaited();
  const ThreadId thread = engine.awaited_thread();
  if (awaited == awaited_ && thread == awaited_thread_) return;
  awaited_ = awaited;
  awaited_thread_ = thread;
  awaited_since_ = std::chrono::steady_clock::now();
  awaited_looks_ = looks_of(awaited);
  said_ = false;
  if (awaited) ranks_[awaited->index()].threads[thread].wait_anew(awaited_since_);
}

void Watch::look(engine::Engine& engine) {
  for (std::size_t i = 0; i <= ranks_.size(); ++i) {
    follow(engine);
    if (!awaited_ || !look_at(*awaited_, awaited_thread_, engine)) return;
    engine.decide();
  }
}

/// Of several threads each shows for itself where it is: that the rank waits inside MPI may be another's wait.
bool Watch::waits_inside_mpi(RankId rank, const Sight& sight) const {
  if (!sight.in_application()) return true;
  return !(ranks_[rank.index()].several_threads && sight.activity != nullptr) &&
         place(rank) == Place::kNativeWait;
}

std::uint32_t Watch::looks_of(std::optional<RankId> rank) const {
  const transport::RankBlock* block = rank ? ranks_[rank->index()].block : nullptr;
  return block == nullptr ? 0 : block->native_polls.load(std::memory_order_relaxed);
}

Watch::Place Watch::place(RankId rank) const {
  const transport::RankBlock* block = ranks_[rank.index()].block;
  if (block == nullptr) return Place::kUnknown;
  if (block->native_wait.load(std::memory_order_relaxed) != 0) return Place::kNativeWait;
  if (rank == awaited_ && looks_of(rank) != awaited_looks_) return Place::kNativeWait;
  return block->activity.load(std::memory_order_relaxed) % 2 == 0 ? Place::kApplication : Place::kMpiCall;
}

std::optional<RankId> Watch::long_awaited() {
  if (!awaited_ || said_ || std::chrono::steady_clock::now() - awaited_since_ < kWatchdog)
    return std::nullopt;
  said_ = true;
  return awaited_;
}

}  // namespace nplus1::simnode::node
