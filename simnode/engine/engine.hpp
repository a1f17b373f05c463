// The engine: MPI semantics in virtual time. It consumes the events of all ranks, in any interleaving, and
// says when each call returns, which message each receive gets, and who waits for whom.
//
// It serves live runs, where events trickle in and ranks wait for answers, and replays from memory. It has
// no clock, no thread and no MPI of its own: the same events and network give the same answers to the last
// picosecond, whatever the order in which different ranks' events are pushed. A named receive is answered as
// soon as its message is known; what depends on who is first (any source, Waitany, Waitsome, Test, probes)
// waits until no rank can still act early enough to change it (docs/architecture.md, conservative protocol).
//
// One thread at a time may call an Engine. Linear in events; memory per rank, per unmatched message, per
// unfinished request and per collective call in progress. Events that contradict the protocol
// (docs/formats/events.md), such as a collective on an unknown communicator, throw std::invalid_argument.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "events/event.hpp"
#include "events/sink.hpp"
#include "netmodel/collectives/schedule.hpp"
#include "netmodel/network_model.hpp"
#include "netmodel/storage/storage.hpp"
#include "semantics/timing.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

/// Told what the engine decides, in the order decided; per thread in program order. Must not call the engine.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Every event with its virtual entry and exit; without `detail` and `ordinal`. Its `answer` is kExit with
  /// `exit_ps`, and by kind: source, tag, size, sequence (kRecv, successful probes), flag (kTest, kProbe,
  /// kIprobe), index (any: position or -1; some: how many or -1). `completed`: positions in the event's list
  /// of what a kAny or kSome completed.
  virtual void on_exit(const events::TimedEvent& event) = 0;
  /// A receive with kReportMatch (then `flag` is 1), or any kIrecv under Options::report_all_matches, has met
  /// its message: source, tag, sequence, size, request, thread. Comes as soon as it is certain, maybe before
  /// its wait. `exit_ps`: when the message is there.
  virtual void on_match(RankId receiver, const events::Answer& answer) = 0;
  /// On networks with contention: a receive with kReportMatch has a message that is still on its way. As on_match,
  /// without `exit_ps` and with `flag` kOnItsWay; in the order of the matches, which on_match may not keep there. on_match follows.
  virtual void on_meeting(RankId /*receiver*/, const events::Answer& /*answer*/) {}
};

struct Options {
  semantics::PollCost poll_cost{};
  /// Take an event's entry_ps where it is later than the engine's own clock (live). Replays on another
  /// network turn this off: entry is then always the last exit plus compute.
  bool trust_entry = true;
  /// Which algorithm each collective uses; null: the default. Must outlive the engine.
  const netmodel::Selection* collectives = nullptr;
  /// Listener::on_match for each kIrecv: for recordings.
  bool report_all_matches = false;
  /// Rendezvous transfers begin when both ranks have been inside MPI (progress.cpp); false: the network moves them
  /// whatever the ranks do. For replays.
  bool weak_progress = false;
  /// Keeps account of the links of a network with contention, for link_usage().
  bool watch_links = false;
  /// On networks with contention: ends of messages as soon as they are certain, so that more ranks go on at once. For live
  /// runs; no time is another.
  bool look_ahead = false;
  /// What files lie on.
  netmodel::StorageModel storage{};
};

enum class State : std::uint8_t {
  kRunning,     // ranks run, nobody waits for a decision
  kWaiting,     // something can only be decided after awaited() has moved on
  kAllBlocked,  // every thread of every rank waits, nothing can be decided: deadlock
  kFinished,    // every rank has finalized or is gone
};

/// A thread that cannot go on, and what would free it.
struct BlockedThread {
  RankId rank;
  ThreadId thread;
  events::Event event;  // call, site, peer, tag, comm; entry_ps is its virtual entry
  std::vector<RankId>
      awaits;               // ranks of which any (a receive, Waitany) or each (Waitall, collective) is needed
  bool any_source = false;  // waits for a message from whomever
  bool rendezvous = false;  // waits in a send that the network model makes wait for its receive
};

struct Counters {
  std::uint64_t events = 0;
  std::uint64_t order_inversions = 0;     // came earlier than a decision had assumed possible
  std::uint64_t clock_mismatches = 0;     // entry_ps differed from the engine's clock plus compute_ps
  std::uint64_t forced_decisions = 0;     // made although a withdrawn rank could still have acted earlier
  std::uint64_t relies_on_buffering = 0;  // rendezvous sends that had to be completed as eager
  std::uint64_t unmatched_messages = 0;   // now
  std::uint64_t unmatched_receives = 0;   // now
};

class Core;

class Engine {
 public:
  /// Communicator 0 is the world of all ranks. `network` and `listener` must outlive the engine.
  Engine(int ranks, const netmodel::NetworkModel& network, Listener& listener, Options options = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Members in group order, as world ranks. Before the first collective call on it.
  void define_communicator(CommId comm, std::vector<RankId> members);
  /// An intercommunicator of two groups.
  void define_communicator(CommId comm, std::vector<RankId> group, std::vector<RankId> remote_group);
  /// All its members have freed it, and make no more calls on it. Its number is not used again.
  void forget_communicator(CommId comm);

  /// The next event of `rank`. Copies what it keeps and runs every thread it wakes until that blocks.
  void push(RankId rank, const events::Event& event, const events::Extension& extension = {});
  /// Settles what became safe: any-source matches, Waitany, Waitsome, Test, probes.
  void decide();
  /// `thread` of `rank`, which runs, makes no event before `time`. Never lowers.
  void set_bound(RankId rank, Time time, ThreadId thread = ThreadId{0});
  /// `rank` holds nobody back until its next event (unmodelled call, stall).
  void withdraw(RankId rank);
  /// `rank` makes no more events (death); its messages stay.
  void rank_gone(RankId rank);

  [[nodiscard]] State state() const;
  /// Whether a rank sleeps in a call (not a collective) that somebody else's event may decide.
  [[nodiscard]] bool somebody_asks() const;
  /// The running rank that the next decision waits for (the watchdog's), if any.
  [[nodiscard]] std::optional<RankId> awaited() const;
  /// Its thread that holds the decision back.
  [[nodiscard]] ThreadId awaited_thread() const;
  [[nodiscard]] std::vector<BlockedThread> blocked() const;
  /// The threads in a call that is not modelled: whom they wait for only MPI knows.
  [[nodiscard]] std::vector<BlockedThread> outside() const;
  /// If all are blocked (or `whatever_runs`: the caller knows that nobody moves): completes the earliest send that only
  /// the network model's rendezvous holds back as if it were eager. True if there was one; then call decide().
  bool release_rendezvous(bool whatever_runs = false);
  [[nodiscard]] Counters counters() const;
  /// The virtual time of the rank's last exit, over its threads.
  [[nodiscard]] Time clock(RankId rank) const;
  /// Of one of its threads; zero if it has made no event.
  [[nodiscard]] Time clock(RankId rank, ThreadId thread) const;
  /// With Options::watch_links: what has crossed the links so far, by the call sites of the sends; none where the network
  /// has no links, or SimGrid keeps them.
  [[nodiscard]] std::optional<netmodel::LinkUsage> link_usage() const;

  /// For replays: whether a thread of `rank` would process an event now, rather than have it kept for later.
  [[nodiscard]] bool ready(RankId rank) const;
  /// For replays: a rank of which a thread became ready since it blocked, each once; empty if none.
  [[nodiscard]] std::optional<RankId> next_woken();

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace nplus1::simnode::engine
