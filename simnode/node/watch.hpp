// What the simulator knows about ranks that run without speaking: how far their virtual clock has moved at
// least, and whether they are stuck outside the simulator's view. Reads /proc and the shared activity words
// of this host's ranks.
//
// A running rank that another waits for gets a better bound from its CPU time since its last call. One that
// uses no CPU, or waits inside the MPI library, is withdrawn after a grace period: the decision is then
// forced and counted. What the job's ranks wait for a core meanwhile is no part of that period.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simnode/engine/engine.hpp"
#include "stubs/transport/segment.hpp"

namespace nplus1::simnode::node {

class Watch {
 public:
  struct Clock {
    bool measured = true;  // compute is measured: CPU or wall time bounds the virtual clock
    bool wall = false;
    double scale = 1.0;
  };

  /// Nanoseconds for which the threads of a process could have run and had no core, so far; -1 if that is not known.
  using Starved = std::function<std::int64_t(std::int32_t pid)>;
  static std::int64_t starved_of(std::int32_t pid);

  Watch(int ranks, Clock clock, Starved starved = starved_of)
      : clock_{clock}, starved_{std::move(starved)}, ranks_(static_cast<std::size_t>(ranks)) {}

  /// `block`: null for a rank that is out of sight. `threads`: it may call MPI from several threads. `scale`:
  /// of its simulated host, beside the clock's.
  void add(RankId rank, std::int32_t pid, transport::RankBlock* block, bool threads = false,
           double scale = 1.0);
  /// Patience with a rank begins when the engine begins to wait for it: to be called whenever that may have changed.
  void follow(engine::Engine& engine);
  /// Looks at the rank that the engine awaits, while there is one and looking helps.
  void look(engine::Engine& engine);
  /// The rank that has been awaited for long, once each; for the watchdog's line.
  [[nodiscard]] std::optional<RankId> long_awaited();
  /// The first whose decision was not waited for any longer, and how long it had seemed to stand still by then.
  struct Withdrawn {
    RankId rank;
    ThreadId thread;
    bool inside_mpi = false;
    std::chrono::milliseconds waited{};
  };
  [[nodiscard]] const std::optional<Withdrawn>& first_withdrawn() const { return first_withdrawn_; }
  /// Where the rank is, as far as it can be seen.
  enum class Place : std::uint8_t { kUnknown, kApplication, kMpiCall, kNativeWait };
  [[nodiscard]] Place place(RankId rank) const;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  /// A thread of a rank that the engine has awaited, and what it was seen to do.
  struct Thread {
    bool sampled = false;
    std::uint32_t activity = 1;    // at the last sample
    std::uint64_t said = 0;        // events and answers of its rank, by then
    std::int64_t cpu_ns = 0;       // from here on it is credited
    bool based = false;            // what `cpu_ns` says is of after `activity` was sampled
    std::int64_t credited_ns = 0;  // since the sample, by which its bound was raised
    Instant seen{};                // when `activity` was sampled first
    Instant moved{};               // when CPU time or activity last changed, or it began to be awaited
    std::int64_t starved_ns = -1;  // of all ranks, half of its patience ago; -1: not read yet
    Instant starved_at{};
    int extensions = 0;  // of its patience
    std::int64_t spun_from_ns =
        -1;  // CPU time of its process when it was first looked at since `moved`; -1: not yet

    /// Its stillness so far says nothing: it may be that it was answered just now, or is about to be.
    void wait_anew(Instant now) {
      moved = now;
      starved_ns = -1;
      spun_from_ns = -1;
    }
  };
  struct Rank {
    std::int32_t pid = 0;
    transport::RankBlock* block = nullptr;
    bool several_threads = false;
    double scale = 1.0;
    int withdrawals = 0;  // so far
    std::map<ThreadId, Thread> threads;
  };
  /// What of a thread can be seen.
  struct Sight {
    std::int32_t tid = -1;  // unknown
    const std::atomic<std::uint32_t>* activity = nullptr;

    [[nodiscard]] bool in_application() const {
      return activity != nullptr && activity->load(std::memory_order_acquire) % 2 == 0;
    }
  };
  [[nodiscard]] static Sight sight_of(const Rank& rank, ThreadId thread);

  [[nodiscard]] bool waits_inside_mpi(RankId rank, const Sight& sight) const;
  /// How often it has looked for progress inside MPI, and found nothing.
  [[nodiscard]] std::uint32_t looks_of(std::optional<RankId> rank) const;
  /// Events that it has written and answers that it was given, so far.
  [[nodiscard]] static std::uint64_t said_of(const Rank& rank);
  [[nodiscard]] static bool rank_waits_for_team(const Rank& rank);
  /// Whether the thread, or another of its rank, may be waiting for one of the rank's by looking again and again.
  [[nodiscard]] bool may_spin(const Rank& rank, const Sight& sight) const;
  [[nodiscard]] static bool has_spun(const Rank& rank, Thread& thread, std::chrono::microseconds patience);
  /// How long the thread may seem idle before its rank is withdrawn.
  [[nodiscard]] std::chrono::microseconds patience(const Rank& rank, const Sight& sight, bool may_spin) const;
  /// Of all ranks of this host together.
  [[nodiscard]] std::int64_t starved() const;
  /// Near the end of the patience with a rank: whether there was no core for its job for so long that more is due.
  bool extend(Thread& thread, std::chrono::microseconds patience, Instant now);
  /// Whether the engine learned something.
  bool look_at(RankId rank, ThreadId thread, engine::Engine& engine);

  Clock clock_;
  Starved starved_;
  std::vector<Rank> ranks_;
  std::optional<RankId> awaited_;
  ThreadId awaited_thread_{};
  Instant awaited_since_{};
  std::uint32_t awaited_looks_ = 0;  // of it inside MPI, when it began to be awaited
  bool said_ = false;
  std::optional<Withdrawn> first_withdrawn_;
};

}  // namespace nplus1::simnode::node
