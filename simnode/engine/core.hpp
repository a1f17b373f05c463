// The engine's inside. Each thread of a rank is a lane that runs until it blocks; what depends on who is
// first is a decision, kept in a heap by virtual time, and made when no running lane can still act early
// enough.
//
// Why that is safe: whatever happens later is caused by a running lane, which acts no earlier than its bound,
// or by a decision, none of which comes before the earliest one. Either way a message takes the network's
// minimum latency. So the earliest decision stands once every running lane's bound plus that latency lies
// behind it; lanes blocked on named messages need not be asked. (What a rank itself does at an earlier time,
// such as posting another receive, needs no message: its own running lanes must have come as far as the
// decision.) Ties among decisions (possible without latency) go by a fixed order.
//
// On a network with contention a message arrives when its flow ends, and that is known only when no flow can
// start before: flows advance to the earliest running lane or decision, and messages are announced without
// latency (contended.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "simnode/engine/collectives.hpp"
#include "simnode/engine/contention.hpp"
#include "simnode/engine/engine.hpp"
#include "simnode/engine/indexed_heap.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/progress.hpp"
#include "simnode/engine/windows.hpp"

namespace nplus1::simnode::engine {

class Core {
 public:
  Core(int ranks, const netmodel::NetworkModel& network, Listener& listener, Options options);

  void push(RankId rank, const events::Event& event, const events::Extension& extension);
  void decide();
  void set_bound(RankId rank, Time time, ThreadId thread);
  void withdraw(RankId rank);
  void rank_gone(RankId rank);
  State state();
  std::optional<RankId> awaited();
  ThreadId awaited_thread();
  std::vector<BlockedThread> blocked();
  std::vector<BlockedThread> outside() const;
  bool release_rendezvous(bool whatever_runs);
  bool somebody_asks() const { return asking_ > 0; }
  Counters counters() const;
  Time clock(RankId rank) const;
  Time clock(RankId rank, ThreadId thread) const;
  bool ready(RankId rank) const;
  std::optional<RankId> next_woken();
  Collectives& collectives() { return collectives_; }
  Windows& windows() { return windows_; }
  std::optional<netmodel::LinkUsage> link_usage() const;

 private:
  using Event = events::Event;
  using Extension = events::Extension;
  using Message = semantics::Message;
  using Receive = semantics::Receive;

  /// What a call's handler found out: when it returns, unless it blocks.
  struct Outcome {
    Time exit{};
    events::Answer answer{};
    std::vector<std::uint32_t> completed;  // positions in the event's list

    void reset() {
      answer = {};
      completed.clear();
    }
  };

  /// An unmatched rendezvous message whose sender waits.
  struct Stuck {
    Message message;
    RankId destination;
    std::uint32_t lane;

    [[nodiscard]] bool before(const Stuck& other) const {
      return std::pair{message.at, message.source} < std::pair{other.message.at, other.message.source};
    }
  };

  // core.cpp: lanes, clocks and the run-to-block loop
  Rank& rank_of(RankId rank) {
    if (rank.index() >= ranks_.size()) reject(rank);  // a negative rank becomes a large index
    return ranks_[rank.index()];
  }
  [[noreturn]] void reject(RankId rank) const;
  [[noreturn]] static void reject(Time clock);
  Rank& rank_of(const Lane& lane) { return ranks_[lane.rank.index()]; }
  Lane& lane_of(RankId rank, ThreadId thread) {
    if (thread.value == 0 && rank.index() < ranks_.size()) [[likely]]
      return lanes_[rank.index()];
    return lane_of_thread(rank, thread);
  }
  Lane& lane_of_thread(RankId rank, ThreadId thread);
  std::uint32_t index_of(const Lane& lane) const { return static_cast<std::uint32_t>(&lane - lanes_.data()); }
  Lane& add_lane(RankId rank, ThreadId thread);
  bool put_off(Lane& lane, const Event& event, const Extension& extension);
  void is_back(Rank& rank);
  void keep(Lane& lane, const Event& event, const Extension& extension);
  void put_by(Lane& lane, const Event& event, const Extension& extension);
  bool waits_its_turn(Lane& lane);
  void set_waits_turn(Lane& lane, bool waits);
  void took(const Lane& lane, const Event& event);
  bool let_go_out_of_turn();
  void start(Lane& lane, const Event& event, const Extension& extension);
  bool dispatch(Lane& lane, const Event& event, const Extension& extension, Outcome& out);
  Time thread_start(Lane& lane, const Event& event, Time computed);
  Time entry_of(Lane& lane, const Event& event);
  void block(Lane& lane, const Event& event, const Extension& extension);
  void resume(Lane& lane, Outcome& out);
  void finish(Lane& lane, const Event& event, const Extension& extension, Outcome& out);
  /// What others' calls have let go goes on.
  void drain() {
    if (!runnable_.empty() || !progress_.stirred.empty()) drain_all();
  }
  void drain_all();
  void woke(const Lane& lane);
  void set_run(Lane& lane, Run run);
  void leave(Lane& lane);
  Lane* creator_of(const Lane& lane, const Event& event);
  void bear(Lane& born, const Event& event);
  bool join(Lane& lane, const Event& event, Outcome& out);
  void release_joiners(const Lane& ended);

  // point_to_point.cpp
  void approach(const Rank& rank) const;
  void approach_tables(RankId rank, const Message& message) const;
  std::uint64_t number_of(Lane& lane, const Event& event);
  bool send(Lane& lane, const Event& event, Outcome& out);
  void send_rendezvous(Lane& lane, const Event& event, Message& message, Outcome& out);
  bool receive(Lane& lane, const Event& event, Outcome& out);
  void post(RankId receiver, const Receive& receive);
  [[nodiscard]] bool is_of_probe(const Receive& receive) const;
  void receive_taken(Lane& lane, const Event& event);
  bool cancelled(Lane& lane, const Event& event, Outcome& out);
  void deliver(RankId destination, const Message& message);
  void matched(RankId receiver, const Receive& receive, const Message& message);
  void arrived(RankId receiver, const Receive& receive, const Message& message, Time at,
               Duration held_up = {});
  void settle(RankId receiver);
  Time transferred(RankId receiver, const Receive& receive, const Message& message);
  void report_meeting(RankId receiver, const Receive& receive, const Message& message);
  void report_match(RankId receiver, ThreadId thread, bool asked, RequestId request, const Message& message,
                    Time at);
  void complete_token(RankId rank, std::uint64_t token, Time at, Duration held_up = {});

  // progress.cpp: who moves a rendezvous transfer
  bool needs_progress(const Message& message) const;
  std::uint32_t lane_of_token(RankId rank, std::uint64_t token);
  static bool waits_for(const Lane& lane, std::uint64_t token);
  std::optional<Time> inside_from(std::uint32_t index, Time at, std::uint64_t token);
  void shake_hands(RankId receiver, const Receive& receive, const Message& message);
  void shaken(Handshake& handshake, Time when);
  void go_on(Handshake handshake);
  void park(const Handshake& handshake);
  void begin_transfer(Handshake& handshake);
  void was_inside(const Lane& lane, events::EventKind kind, Time exit);
  void is_inside(const Lane& lane);
  void stir();
  bool wake_handshake();

  // contended.cpp: transfers whose end is known later
  void send_flow(Lane& lane, const Event& event, Message& message, Outcome& out);
  void transfer(RankId receiver, const Receive& receive, const Message& message);
  bool advance_flows();
  void flow_ended(const netmodel::Flows::Completion& completion);
  void end_transfer(const Transfer& transfer, Time at, Duration held_up);

  // completion.cpp: requests, waits and tests
  void add_request(Lane& lane, const Event& event, Request::Kind kind);
  void complete_request(RankId rank, RequestId id, Time at, Duration overhead, Duration held_up = {});
  [[nodiscard]] Duration take_held_up(RankId rank, RequestId id);
  bool wait(Lane& lane, const Event& event, const Extension& extension, Outcome& out);
  bool free_request(Lane& lane, const Event& event, Outcome& out);
  Tally tally(Lane& lane, std::span<const std::uint32_t> ids);
  void await(Lane& lane, const Event& event, std::span<const std::uint32_t> ids);
  void forget(Lane& lane, std::span<const std::uint32_t> ids);
  void conclude(Lane& lane, const Event& event, std::span<const std::uint32_t> ids, Outcome& out);
  void conclude_all(Lane& lane, const Event& event, std::span<const std::uint32_t> ids, const Tally& tally,
                    Outcome& out);
  void complete_all(Lane& lane, std::span<const std::uint32_t> ids, Outcome& out);
  void conclude_any(Lane& lane, const Event& event, std::span<const std::uint32_t> ids, const Tally& tally,
                    Outcome& out);
  void conclude_some(Lane& lane, const Event& event, std::span<const std::uint32_t> ids, const Tally& tally,
                     Outcome& out);
  void failed_poll(Lane& lane, Outcome& out);
  static std::optional<Time> decision_time(const Lane& lane, const Event& event, const Tally& tally,
                                           bool& certain);

  // probe.cpp
  bool probe(Lane& lane, const Event& event, Outcome& out);
  std::optional<Time> probe_decision_time(Lane& lane, const Event& event, bool& certain);
  void conclude_probe(Lane& lane, const Event& event, Outcome& out);
  void post_probe(Lane& lane, const Event& event);
  void probed(RankId receiver, const Receive& probe, const Message& message);

  // collective calls
  bool collective(Lane& lane, const Event& event, const Extension& extension, Outcome& out);
  void complete_members();

  // one_sided.cpp
  bool one_sided(Lane& lane, const Event& event, Outcome& out);
  bool window_sync(Lane& lane, const Event& event, const Extension& extension, Outcome& out);
  bool post_window(Lane& lane, const Event& event, const Extension& extension, Outcome& out);
  void look_at_syncs(RankId rank, CommId window);
  void go_on_in_sync(Lane& lane);
  void wait_for_notices(Lane& lane, WindowLeg::What what);
  void take_notices(Lane& lane, WindowLeg::What what);
  void end_test(Lane& lane, bool succeeds);
  void end_transfers(Lane& lane);
  void enter_fence(const Lane& lane, Time at);
  void return_from_sync(Lane& lane);
  bool holds_lock(CommId window, RankId origin, RankId target);
  void ask_for_locks(Lane& lane);
  void granted(const WindowLeg& leg, Time at);
  void grant_lock(CommId window, RankId target, Time at);
  bool decide_one_sided();
  [[nodiscard]] std::vector<RankId> window_awaits(const Lane& lane);
  Time send_leg(Lane& lane, WindowLeg leg, Time at);
  void answer_leg(const WindowLeg& leg, Time at);
  void start_leg(const WindowLeg& leg, Time at);
  void landed(const WindowLeg& leg, Time at, Duration held_up = {});
  void transfer_landed(const WindowLeg& leg, Time at, Duration held_up);

  // decisions.cpp
  void touch(RankId rank);
  void refresh();
  void refresh_rank(RankId rank);
  void reconsider(Lane& lane);
  Time running_bound();
  bool safe(const IndexedHeap::Entry& decision);
  RankId rank_of_decision(const IndexedHeap::Entry& decision) const;
  void keep_order(RankId receiver);
  void make(const IndexedHeap::Entry& decision);
  void decide_lane(Lane& lane);
  std::uint64_t tie_of(const Lane& lane) const;
  std::uint32_t decision_of(const Lane& lane) const {
    return static_cast<std::uint32_t>(ranks_.size()) + index_of(lane);
  }

  // diagnosis.cpp
  BlockedThread explain(Lane& lane);
  void explain_requests(Lane& lane, BlockedThread& blocked);
  std::optional<Stuck> stuck_send(Lane& lane);
  std::size_t outside_or_withdrawn() const;
  [[nodiscard]] bool waits_for_time() const;

  const netmodel::NetworkModel& network_;
  Listener& listener_;
  const Options options_;
  std::unique_ptr<Contention> contention_;  // null on a network without
  const Duration latency_;
  std::vector<Rank> ranks_;
  std::vector<Lane> lanes_;  // lane i is thread 0 of rank i; other threads follow
  Collectives collectives_;
  IndexedHeap decisions_;  // rank r: its next any-source match; ranks + lane: its wait, test or probe
  IndexedHeap running_;    // lanes that ran when last looked at, by a lower bound of their next action
  std::vector<RankId> dirty_;
  std::vector<std::uint32_t> runnable_;  // lanes that woke and have a backlog
  std::vector<RankId> woken_;            // ranks with lanes that woke and have none, each once
  std::size_t active_ = 0;               // lanes running or outside
  std::size_t blocked_ = 0;
  std::size_t asking_ = 0;         // blocked lanes whose ranks sleep until something is decided
  std::size_t outside_ = 0;        // of the active lanes
  std::size_t withdrawn_ = 0;      // ranks
  std::size_t waiting_turns_ = 0;  // lanes
  Counters counters_;
  Windows windows_;             // one-sided communication
  Progress progress_;           // with Options::weak_progress
  std::uint64_t numbered_ = 0;  // of the send being started: its number + 1, if it has one already
  Outcome scratch_;             // of the call being dispatched
  Outcome waking_;              // of a lane being resumed
  std::vector<semantics::Completion> completions_;
  std::vector<semantics::Match> settled_;
  std::vector<Collectives::Done> done_;
  /// Of requests whose transfer others have held up, until they are completed: by rank and number.
  std::unordered_map<std::uint64_t, Duration> held_up_;
};

/// No clock goes further: that leaves room for adding a time to it. 53 days.
inline constexpr Time kEndOfTime{Duration{(std::int64_t{1} << 62U) - 1}};

/// MPI_Mprobe, which waits for a message of its own.
[[nodiscard]] inline bool waits_for_its_own(const events::Event& event) {
  return event.kind == events::EventKind::kProbe && event.has(events::kTakesMessage);
}

/// Whether a send completes without its receive.
[[nodiscard]] inline bool is_eager(const netmodel::NetworkModel& network, const events::Event& event) {
  const events::SendMode mode = event.send_mode();
  if (mode == events::SendMode::kBuffered) return true;
  return mode != events::SendMode::kSynchronous && network.eager(event.payload());
}

/// A message or receive belongs to a request (its id) or to a lane blocked in the call itself.
inline constexpr std::uint64_t kLaneToken = std::uint64_t{1} << 63U;
/// A message that is under way as a flow, by the flow's number.
inline constexpr std::uint64_t kFlowToken = std::uint64_t{1} << 62U;

}  // namespace nplus1::simnode::engine
