// Messages on a network with contention. Matching goes as ever; a transfer starts when its message has met its receive
// (small ones may travel before), and its end is known when the flows have advanced that far. Source of the protocol:
// SMPI (SimGrid 3.32), smpi_request.cpp, Request::start and finish_wait. Private to the engine; not used on networks
// without contention.
#pragma once

#include "events/event.hpp"
#include "netmodel/flows.hpp"
#include "semantics/mailbox.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/contention.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/parts.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class FlowTransfers {
 public:
  explicit FlowTransfers(const Parts& parts)
      : network_{parts.network},
        contention_{parts.contention},
        lanes_{parts.lanes},
        calls_{parts.calls},
        completions_{parts.completions},
        point_to_point_{parts.point_to_point},
        collectives_{parts.collectives},
        one_sided_{parts.one_sided},
        counters_{parts.counters} {}

  /// All messages are announced when they are sent, without latency: no flow may start before a decision about them has
  /// been made.
  void send(Lane& lane, const events::Event& event, semantics::Message& message, Outcome& out);
  /// The message has met its receive.
  void start(RankId receiver, const semantics::Receive& receive, const semantics::Message& message);
  /// Lets flows go on to the next end of some, if that is not after `until`. True if some ended.
  bool advance(Time until);

 private:
  void ended(const netmodel::Flows::Completion& completion);
  void end(const Transfer& transfer, Time at, Duration held_up);

  const netmodel::NetworkModel& network_;
  Contention* const contention_;
  Lanes& lanes_;
  Calls& calls_;
  Completions& completions_;
  PointToPoint& point_to_point_;
  CollectiveCalls& collectives_;
  OneSided& one_sided_;
  Counters& counters_;
};

}  // namespace nplus1::simnode::engine
