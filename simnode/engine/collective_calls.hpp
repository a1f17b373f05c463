// The ranks' calls of collectives: they enter a Collectives, and go on when their member's end is known. Private to the
// engine.
#pragma once

#include <vector>

#include "events/event.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/collectives.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class CollectiveCalls {
 public:
  explicit CollectiveCalls(const Parts& parts)
      : lanes_{parts.lanes},
        calls_{parts.calls},
        completions_{parts.completions},
        point_to_point_{parts.point_to_point},
        files_{parts.files},
        members_{parts.network, parts.options.collectives, parts.contention} {}

  /// A call; false: the lane is blocked in it.
  bool enter(Lane& lane, const events::Event& event, const events::Extension& extension, Outcome& out);
  /// The blocked lane's call ends with a barrier, from `at` on.
  void enter_barrier(const Lane& lane, Time at);
  /// The rank enters a barrier of the call's communicator; `token`: what waits for its end.
  void enter_barrier(RankId rank, const events::Event& call, Time at, Token token);
  /// A message of a collective has arrived.
  void arrived(const CollectiveMessage& part, Time at, Duration held_up);

  [[nodiscard]] Collectives& members() { return members_; }

 private:
  void complete_members();

  Lanes& lanes_;
  Calls& calls_;
  Completions& completions_;
  PointToPoint& point_to_point_;
  Files& files_;
  Collectives members_;
  std::vector<Collectives::Done> done_;
};

}  // namespace nplus1::simnode::engine
