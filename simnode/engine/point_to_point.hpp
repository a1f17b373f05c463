// Sends, receives and their matches. Matching never looks at arrival times except for any-source decisions, so a network
// that learns arrivals later than the send has one place to hook into: transferred(). Private to the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "events/event.hpp"
#include "semantics/mailbox.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class PointToPoint {
 public:
  explicit PointToPoint(const Parts& parts);

  /// Calls; false: the lane is blocked in it, or its end has been told.
  bool send(Lane& lane, const events::Event& event, Outcome& out);
  bool receive(Lane& lane, const events::Event& event, Outcome& out);
  bool cancelled(Lane& lane, const events::Event& event, Outcome& out);

  /// The next send that is started has been numbered already; 0: it has not.
  void has_number(std::uint64_t number_and_one) { numbered_ = number_and_one; }
  /// The sender waits: in its call, or later for its request.
  void send_rendezvous(Lane& lane, const events::Event& event, semantics::Message& message, Outcome& out);
  void deliver(RankId destination, const semantics::Message& message);
  void post(RankId receiver, const semantics::Receive& receive);
  /// `receive` has its message, at `at`.
  void arrived(RankId receiver, const semantics::Receive& receive, const semantics::Message& message, Time at,
               Duration held_up = {});
  /// When the receive is complete, never before it was posted; frees a rendezvous sender.
  Time transferred(RankId receiver, const semantics::Receive& receive, const semantics::Message& message);
  /// A rendezvous send or a member's part of a collective, by its token.
  void complete(RankId rank, Token token, Time at, Duration held_up = {});
  /// The next of the rank's receives from any source gets its message.
  void decide(RankId receiver);
  /// The lane that a request, or a call of its own, belongs to.
  [[nodiscard]] std::uint32_t lane_of(RankId rank, Token token);

 private:
  std::uint64_t number_of(Lane& lane, const events::Event& event);
  [[nodiscard]] bool is_of_probe(const semantics::Receive& receive) const;
  void receive_taken(Lane& lane, const events::Event& event);
  void matched(RankId receiver, const semantics::Receive& receive, const semantics::Message& message);
  void report_meeting(RankId receiver, const semantics::Receive& receive, const semantics::Message& message);
  void report_match(RankId receiver, ThreadId thread, bool asked, RequestId request,
                    const semantics::Message& message, Time at);
  void keep_order(RankId receiver);
  void settle(RankId receiver);

  const netmodel::NetworkModel& network_;
  Lanes& lanes_;
  Agenda& agenda_;
  Calls& calls_;
  Completions& completions_;
  Probes& probes_;
  Progress& progress_;
  FlowTransfers& flows_;
  Listener& listener_;
  Counters& counters_;
  const bool contention_;
  const bool report_all_matches_;
  std::uint64_t numbered_ = 0;  // of the send being started: its number + 1, if it has one already
  std::vector<semantics::Match> settled_;
};

}  // namespace nplus1::simnode::engine
