// Probes: what a rank can see of its waiting messages without receiving them (MPI 4.0, section 3.8). Private to the
// engine.
#pragma once

#include <optional>

#include "events/event.hpp"
#include "semantics/mailbox.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Probes {
 public:
  explicit Probes(const Parts& parts)
      : lanes_{parts.lanes},
        agenda_{parts.agenda},
        calls_{parts.calls},
        point_to_point_{parts.point_to_point} {}

  /// A call; false: the lane is blocked in it.
  bool probe(Lane& lane, const events::Event& event, Outcome& out);
  /// As Completions::decision_time. A named source sends in order: its first message decides at once.
  [[nodiscard]] std::optional<Time> decision_time(Lane& lane, const events::Event& event, bool& certain);
  void conclude(Lane& lane, const events::Event& event, Outcome& out);
  /// A matched probe has its message, which is kept for the receive that names it.
  void matched(RankId receiver, const semantics::Receive& probe, const semantics::Message& message);

 private:
  void post(Lane& lane, const events::Event& event);

  Lanes& lanes_;
  Agenda& agenda_;
  Calls& calls_;
  PointToPoint& point_to_point_;
};

}  // namespace nplus1::simnode::engine
