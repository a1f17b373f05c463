// All ranks and their threads ("lanes"): who runs, is blocked, is outside of what is modelled, or gone; and no earlier
// than when the running ones act next. Private to the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "events/event.hpp"
#include "semantics/timing.hpp"
#include "simnode/engine/lane.hpp"
#include "support/ids.hpp"
#include "support/indexed_heap.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Lanes {
 public:
  /// `latency`: no message takes less, so that lanes announce what they do by so much.
  Lanes(int ranks, Duration latency, const semantics::PollCost& poll_cost);

  [[nodiscard]] std::size_t ranks() const { return ranks_.size(); }
  [[nodiscard]] const std::vector<Rank>& all_ranks() const { return ranks_; }
  [[nodiscard]] auto begin() { return lanes_.begin(); }
  [[nodiscard]] auto end() { return lanes_.end(); }
  [[nodiscard]] auto begin() const { return lanes_.begin(); }
  [[nodiscard]] auto end() const { return lanes_.end(); }

  /// Throws std::invalid_argument if there is no such rank.
  Rank& rank_of(RankId rank) {
    if (rank.index() >= ranks_.size()) [[unlikely]]  // a negative rank becomes a large index
      reject(rank);
    return ranks_[rank.index()];
  }
  Rank& rank_of(const Lane& lane) { return ranks_[lane.rank.index()]; }
  /// The lane of a rank's thread; made if it has not been seen.
  Lane& of(RankId rank, ThreadId thread) {
    if (thread.value == 0 && rank.index() < ranks_.size()) [[likely]]
      return lanes_[rank.index()];
    return of_thread(rank, thread);
  }
  Lane& operator[](std::uint32_t index) { return lanes_[index]; }
  const Lane& operator[](std::uint32_t index) const { return lanes_[index]; }
  /// Null if it has not been seen.
  [[nodiscard]] Lane* find(RankId rank, std::size_t thread) {
    const std::vector<std::uint32_t>& lanes = ranks_[rank.index()].lanes;
    return thread < lanes.size() && lanes[thread] != kNoLane ? &lanes_[lanes[thread]] : nullptr;
  }
  [[nodiscard]] std::uint32_t index_of(const Lane& lane) const {
    return static_cast<std::uint32_t>(&lane - lanes_.data());
  }

  /// Asks the memory for a rank that a message will go to, if there is one.
  void approach(RankId rank) const {
    if (rank.index() >= ranks_.size()) return;
    prefetch_lines<4>(&ranks_[rank.index()]);
    prefetch_lines<1>(&lanes_[rank.index()]);
  }
  /// And for its tables, once it is there.
  void approach_tables(RankId rank, const semantics::Message& message) const {
    const Rank& r = ranks_[rank.index()];
    r.mailbox.approach(message.comm, message.source);
    r.requests.approach();
  }

  void set_run(Lane& lane, Run run);
  /// The rank's lane `lane` makes no event before `time`. Never lowers.
  void set_bound(RankId rank, Time time, ThreadId thread);
  /// The rank holds nobody back until its next event.
  void withdraw(RankId rank);
  /// Who was withdrawn has made a call, or is gone for good.
  void is_back(Rank& rank);
  void no_longer_withdrawn(Rank& rank);

  /// No running lane acts before this; kNever if none runs.
  [[nodiscard]] Time running_bound();
  /// The lane that running_bound() is of.
  [[nodiscard]] const Lane& front_runner() const { return lanes_[running_.top().item]; }
  /// Whether a running lane can still cause something at `at`, or before.
  [[nodiscard]] bool may_act_until(Time at) {
    const Time bound = running_bound();
    return bound != kNever && bound + latency_ <= at;
  }

  /// Whether one can still do something at `at`, or before.
  [[nodiscard]] bool may_be_at(Time at) {
    const Time bound = running_bound();
    return bound != kNever && bound <= at;
  }

  /// The lane has gone on, and has nothing kept.
  void woke(const Lane& lane);
  [[nodiscard]] std::optional<RankId> next_woken();
  /// The lane has gone on, and has calls that were kept.
  void has_kept_calls(std::uint32_t index) { runnable_.push_back(index); }
  [[nodiscard]] bool any_kept_calls() const { return !runnable_.empty(); }
  Lane& take_one_with_kept_calls() {
    Lane& lane = lanes_[runnable_.back()];
    runnable_.pop_back();
    return lane;
  }

  [[nodiscard]] std::size_t active() const { return active_; }    // running or outside
  [[nodiscard]] std::size_t blocked() const { return blocked_; }  // in a call
  [[nodiscard]] std::size_t asking() const { return asking_; }    // blocked, and their ranks sleep meanwhile
  [[nodiscard]] std::size_t outside_or_withdrawn() const { return outside_ + withdrawn_; }
  [[nodiscard]] Time clock(RankId rank) const;
  [[nodiscard]] Time clock(RankId rank, ThreadId thread) const;
  /// Whether a thread of the rank would process an event now.
  [[nodiscard]] bool ready(RankId rank) const;

 private:
  [[noreturn]] void reject(RankId rank) const;
  Lane& of_thread(RankId rank, ThreadId thread);
  Lane& add(RankId rank, ThreadId thread);

  const Duration latency_;
  const semantics::PollCost poll_cost_;
  std::vector<Rank> ranks_;
  std::vector<Lane> lanes_;  // lane i is thread 0 of rank i; other threads follow
  IndexedHeap running_;      // lanes that ran when last looked at, by a lower bound of their next action
  std::vector<std::uint32_t> runnable_;  // lanes that woke and have calls that were kept
  std::vector<RankId> woken_;            // ranks with lanes that woke and have none, each once
  std::size_t active_ = 0;
  std::size_t blocked_ = 0;
  std::size_t asking_ = 0;
  std::size_t outside_ = 0;    // of the active lanes
  std::size_t withdrawn_ = 0;  // ranks
};

}  // namespace nplus1::simnode::engine
