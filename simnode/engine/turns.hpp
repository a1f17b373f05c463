// The order in which the calls of a rank's threads are carried out, where that is not the order in which the engine comes
// to them (stream_order.hpp): which calls are kept, and whose turn has come. Private to the engine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events/event.hpp"
#include "simnode/engine/lanes.hpp"

namespace nplus1::simnode::engine {

class Turns {
 public:
  explicit Turns(Lanes& lanes) : lanes_{lanes} {}

  /// The call is made later, after what is kept of its lane.
  void keep(Lane& lane, const events::Event& event, const events::Extension& extension);
  /// As keep(), for what is no send.
  void put_by(Lane& lane, const events::Event& event, const events::Extension& extension);
  /// Whether the lane's oldest kept call must wait for those of other threads.
  bool waits(Lane& lane);
  void set_waits(Lane& lane, bool waits);
  /// The oldest kept call of the lane is about to be carried out: others may have waited for that.
  void took(const Lane& lane, const events::Event& event);
  /// Whoever could still act waits for a turn, as happens where a replay's messages come in another order than in the
  /// recorded run: the earliest may go on. True if one may.
  bool let_one_go_out_of_turn();

 private:
  Lanes& lanes_;
  std::size_t waiting_ = 0;  // lanes
};

[[nodiscard]] inline bool is_send(const events::Event& event) {
  return event.kind == events::EventKind::kSend || event.kind == events::EventKind::kIsend;
}

}  // namespace nplus1::simnode::engine
