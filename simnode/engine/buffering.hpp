// Sends that only the network model's rendezvous holds back: where all ranks wait, a larger eager threshold would free
// them. Private to the engine.
#pragma once

#include <cstdint>
#include <optional>

#include "semantics/mailbox.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "support/ids.hpp"

namespace nplus1::simnode::engine {

class Buffering {
 public:
  explicit Buffering(const Parts& parts)
      : network_{parts.network},
        contention_{parts.contention != nullptr},
        lanes_{parts.lanes},
        agenda_{parts.agenda},
        point_to_point_{parts.point_to_point},
        counters_{parts.counters} {}

  /// The earliest such send goes through as if it were eager. False: there is none.
  bool release_earliest();

 private:
  /// An unmatched rendezvous message whose sender waits.
  struct Stuck {
    semantics::Message message;
    RankId destination;
    std::uint32_t lane;

    [[nodiscard]] bool before(const Stuck& other) const {
      return std::pair{message.at, message.source} < std::pair{other.message.at, other.message.source};
    }
  };

  [[nodiscard]] std::optional<Stuck> stuck_send(Lane& lane);

  const netmodel::NetworkModel& network_;
  const bool contention_;
  Lanes& lanes_;
  Agenda& agenda_;
  PointToPoint& point_to_point_;
  Counters& counters_;
};

}  // namespace nplus1::simnode::engine
