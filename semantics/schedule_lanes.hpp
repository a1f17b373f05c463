// The members of one collective call on a contention-free network: each runs the steps of its schedule as a lane of its own,
// from its entry to its own end. One piece of code for the engine, which learns of the members one after another, and for
// the stubs, which compute the same ends where all have entered (docs/architecture.md, "Off the critical path").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "netmodel/collectives/schedule.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "semantics/timing.hpp"
#include "semantics/transfers.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::semantics {

struct ScheduleLane {
  std::vector<netmodel::Step> steps;
  std::size_t position = 0;
  Time clock{};
  Time interface_free{};
  bool entered = false;
  bool sent = false;  // the send of the step at `position`
  bool done = false;

  /// `steps` are the member's, and it has copied what is its own at `at`.
  void enter(Time at) {
    position = 0;
    clock = interface_free = at;
    entered = true;
  }
};

/// `Lane` is a ScheduleLane, or more. A view: what it names outlives it.
template <class Lane>
class ScheduleLanes {
 public:
  /// `members`: the lanes' world ranks. Lanes that may go on because of another's step are appended to `runnable`.
  ScheduleLanes(const netmodel::NetworkModel& network, const netmodel::Selection* selection,
                std::span<const RankId> members, std::vector<Lane>& lanes, Transfers& transfers,
                std::vector<std::int32_t>& runnable)
      : network_{network},
        selection_{selection},
        members_{members},
        lanes_{lanes},
        transfers_{transfers},
        runnable_{runnable} {}

  /// Runs a lane until it waits for a transfer that was not yet sent: false; or to its end.
  bool advance(std::int32_t me) {
    Lane& lane = lanes_[static_cast<std::size_t>(me)];
    for (; lane.position < lane.steps.size(); ++lane.position, lane.sent = false) {
      const netmodel::Step step = lane.steps[lane.position];
      if (!lane.sent && step.send_to != netmodel::kNoMember) send(lane, me, step);
      lane.sent = true;
      if (step.receive_from == netmodel::kNoMember) continue;
      const auto transfer = transfers_.pop(step.receive_from, me);
      if (!transfer) return false;
      lane.clock = std::max(lane.clock, transfer->arrival);
      if (step.transport == netmodel::Transport::kMessage)
        lane.clock += network_.receive_overhead(transfer->size);
      if (step.combines && selection_ != nullptr) lane.clock += selection_->combining(transfer->size);
    }
    return true;
  }

 private:
  /// When the transfer of `step` arrives. Copies leave when the last message left.
  Time depart(Lane& lane, RankId source, RankId destination, const netmodel::Step& step) const {
    if (step.transport == netmodel::Transport::kSignal) return lane.clock;
    if (step.transport == netmodel::Transport::kCopy)
      return lane.interface_free - network_.occupancy(step.size) +
             network_.transit(source, destination, step.size);
    const EagerSend sent =
        send_eager(network_, lane.clock, source, destination, step.size, lane.interface_free);
    lane.clock = sent.sender_free;
    return sent.arrival;
  }

  void send(Lane& lane, std::int32_t me, const netmodel::Step& step) {
    const auto to = static_cast<std::size_t>(step.send_to);
    transfers_.push(me, step.send_to,
                    {depart(lane, members_[static_cast<std::size_t>(me)], members_[to], step), step.size});
    const Lane& peer = lanes_[to];
    const bool waits = peer.entered && peer.sent && !peer.done && peer.position < peer.steps.size() &&
                       peer.steps[peer.position].receive_from == me;
    if (waits) runnable_.push_back(step.send_to);
  }

  const netmodel::NetworkModel& network_;
  const netmodel::Selection* selection_;
  std::span<const RankId> members_;
  std::vector<Lane>& lanes_;
  Transfers& transfers_;
  std::vector<std::int32_t>& runnable_;
};

}  // namespace nplus1::semantics
