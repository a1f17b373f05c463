// What depends on who is first: decided in virtual time, earliest first, once nobody can still act before it. Private to
// the engine.
//
// Why that is safe: whatever happens later is caused by a running lane, which acts no earlier than its bound, or by a
// decision, none of which comes before the earliest one. Either way a message takes the network's minimum latency. So the
// earliest decision stands once every running lane's bound plus that latency lies behind it; lanes blocked on named
// messages need not be asked. (What a rank itself does at an earlier time, such as posting another receive, needs no
// message: its own running lanes must have come as far as the decision.) Ties among decisions (possible without latency)
// go by a fixed order.
//
// On a network with contention a message arrives when its flow ends, and that is known only when no flow can start
// before: flows advance to the earliest running lane or decision, and messages are announced without latency
// (flow_transfers.hpp).
#pragma once

#include "simnode/engine/agenda.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "support/ids.hpp"

namespace nplus1::simnode::engine {

class Decisions {
 public:
  explicit Decisions(const Parts& parts)
      : contention_{parts.contention != nullptr},
        lanes_{parts.lanes},
        turns_{parts.turns},
        agenda_{parts.agenda},
        calls_{parts.calls},
        point_to_point_{parts.point_to_point},
        completions_{parts.completions},
        probes_{parts.probes},
        progress_{parts.progress},
        flows_{parts.flows},
        one_sided_{parts.one_sided},
        files_{parts.files},
        counters_{parts.counters} {}

  /// Makes all decisions that stand.
  void decide();
  /// Plans anew what mailboxes that have changed decide.
  void refresh();
  /// A blocked wait, test or probe knows more than before.
  void reconsider(Lane& lane);
  /// The outcome of a blocked lane's call is fixed.
  void decide_lane(Lane& lane);

 private:
  void refresh(RankId rank);
  bool make_one();
  bool advance_flows();
  bool decide_one_sided();
  bool serve_storage();
  bool wake_handshake();
  void make(const Agenda::Item& decision);

  const bool contention_;
  Lanes& lanes_;
  Turns& turns_;
  Agenda& agenda_;
  Calls& calls_;
  PointToPoint& point_to_point_;
  Completions& completions_;
  Probes& probes_;
  Progress& progress_;
  FlowTransfers& flows_;
  OneSided& one_sided_;
  Files& files_;
  Counters& counters_;
};

}  // namespace nplus1::simnode::engine
