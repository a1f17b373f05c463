// Collective calls in progress: every member runs its schedule's steps as a small lane of its own, from its
// entry to its own end, so that a root leaves a broadcast before its peers come.
//
// Private to the engine. Memory of a call is reused when all its members are done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "events/event.hpp"
#include "netmodel/collectives/schedule.hpp"
#include "netmodel/network_model.hpp"
#include "semantics/schedule_lanes.hpp"
#include "semantics/transfers.hpp"
#include "simnode/engine/contention.hpp"
#include "simnode/engine/fifo.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Collectives {
 public:
  /// A member whose steps ended.
  struct Done {
    RankId rank;
    std::uint64_t token;
    Time at;
    Duration held_up{};  // by others on the links of its messages
  };

  /// `contention`: null on a network without.
  Collectives(const netmodel::NetworkModel& network, const netmodel::Selection* selection,
              Contention* contention)
      : network_{network}, selection_{selection}, contention_{contention} {}

  void define(CommId comm, std::vector<RankId> members, std::size_t local_members);
  /// All members have freed it: no call of theirs comes any more.
  void forget(CommId comm);

  /// Throws std::invalid_argument unless the communicator is defined and `rank` belongs to it.
  void require_member(CommId comm, RankId rank) const { (void)index_of(communicator(comm), rank); }
  /// In group order. Throws as require_member does.
  [[nodiscard]] const std::vector<RankId>& members(CommId comm) const { return communicator(comm).members; }
  /// `rank` enters its next collective on event.comm. Appends to `done` all members whose end became known.
  void enter(RankId rank, const events::Event& event, const events::Extension& extension, Time entry,
             std::uint64_t token, std::vector<Done>& done);
  /// A message's flow has ended. Appends to `done` as enter() does.
  void arrived(const CollectiveMessage& message, Time at, Duration held_up, std::vector<Done>& done);
  /// Whom the member that entered with `token` waits for.
  [[nodiscard]] std::vector<RankId> awaited(CommId comm, RankId rank, std::uint64_t token) const;

 private:
  using Transfers = semantics::Transfers;
  struct Member : semantics::ScheduleLane {
    std::uint64_t token = 0;
    // With contention:
    Time end{};                   // latest known end of what the steps before `position` started
    std::uint32_t pending = 0;    // ends not known yet
    Duration latest_held_up{};    // of what ended last: what the member waits for
    Duration held_up{};           // of all rounds so far
    std::uint32_t site = 0;       // its call
    std::optional<Time> crossed;  // when the latest message that it sent was there
  };
  struct Call {
    CommId comm;
    std::uint64_t number = 0;
    std::vector<Member> members;
    Transfers transfers;  // sent and not received; with contention: waiting for their receive
    Transfers receives;   // with contention: posted and not met
    Transfers arrivals;   // with contention: arrived and not received
    Transfers signals;    // with contention: those of Transport::kSignal, given and not awaited
    Transfers listening;  // with contention: awaited and not given
    std::vector<CollectiveMessage> copies;  // with contention: they arrive with their sender's message
    std::size_t finished = 0;
  };
  struct Communicator {
    CommId id;
    std::vector<RankId> members;
    std::vector<std::pair<RankId, std::int32_t>> order;  // member index by rank; empty: rank = index
    std::size_t local_members = 0;                       // of the first group; 0: not an intercommunicator
    std::vector<std::uint64_t> calls;                    // made so far, by member
    std::uint64_t first_call = 0;                        // number of the front of in_progress
    Fifo<std::unique_ptr<Call>> in_progress;
    bool forgotten = false;  // goes with its last call
  };

  Communicator& communicator(CommId comm);
  [[nodiscard]] const Communicator& communicator(CommId comm) const;
  [[nodiscard]] static std::int32_t index_of(const Communicator& c, RankId rank);
  Call& next_call(Communicator& c, std::int32_t me);
  /// Appends the member's steps; returns what it copies of its own before the first.
  [[nodiscard]] Duration schedule(const Communicator& c, std::int32_t me, const events::Event& event,
                                  const events::Extension& extension,
                                  std::vector<netmodel::Step>& steps) const;
  void advance(Communicator& c, Call& call, std::int32_t me, std::vector<Done>& done);
  void finish(const Communicator& c, Call& call, std::int32_t me, std::vector<Done>& done);
  void retire(Communicator& c);

  // collective_flows.cpp
  void run(const Communicator& c, Call& call, std::int32_t me, std::vector<Done>& done);
  void run_all(const Communicator& c, Call& call, std::vector<Done>& done);
  void start_steps(const Communicator& c, Call& call, std::int32_t me);
  void post_send(const Communicator& c, Call& call, std::int32_t me, const netmodel::Step& step,
                 bool blocking);
  void signal(Call& call, std::int32_t me, std::int32_t to);
  void make_copy(Call& call, std::int32_t me, const netmodel::Step& step);
  void copy_arrived(Call& call, const CollectiveMessage& copied, Time at);
  void crossed(Call& call, std::int32_t from, Time at);
  void post_receive(const Communicator& c, Call& call, std::int32_t me, const netmodel::Step& step);
  void start_flow(const Communicator& c, const Call& call, CollectiveMessage message, Time at);
  static void end_part(Member& member, Time at, Duration overhead, Duration held_up = {});
  [[nodiscard]] Duration receiving(const Member& member, std::int32_t from, Bytes size) const;

  const netmodel::NetworkModel& network_;
  const netmodel::Selection* selection_;
  Contention* contention_;
  std::unordered_map<CommId, Communicator> communicators_;  // of those that are forgotten nothing stays
  std::vector<std::unique_ptr<Call>> idle_;
  std::vector<std::int32_t> runnable_;
};

}  // namespace nplus1::simnode::engine
