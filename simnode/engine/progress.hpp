// Weak progress (Options::weak_progress): a rendezvous transfer is started by its two ranks, and a rank starts nothing
// unless it is inside MPI. The rules are in progress.cpp. Private to the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "events/event.hpp"
#include "semantics/mailbox.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Progress {
 public:
  explicit Progress(const Parts& parts);

  /// Whether the transfer needs both ranks: not where the message is buffered or under way already.
  [[nodiscard]] bool needed_by(const semantics::Message& message) const {
    if (!weak_ || !message.rendezvous) return false;
    return !contention_ || (message.user != 0 && (message.user & kFlowToken) == 0);
  }
  /// Such a message has met its receive.
  void shake_hands(RankId receiver, const semantics::Receive& receive, const semantics::Message& message);

  /// A call of the lane has returned at `exit`.
  void was_inside(const Lane& lane, events::EventKind kind, Time exit);
  /// The lane has entered a call that blocks.
  void is_inside(const Lane& lane);
  /// Whether something waited for lanes that have moved on; stir() lets it go on.
  [[nodiscard]] bool any_stirred() const { return !stirred_.empty(); }
  void stir();

  /// When the earliest blocked lane that something waits for is told; kNever if there is none.
  [[nodiscard]] Time next() const { return asleep_.empty() ? kNever : asleep_.begin()->first; }
  /// It is still in its call at next().
  void wake();

 private:
  /// A rendezvous message that has met its receive, and whose transfer has not begun.
  struct Handshake {
    RankId receiver{};
    semantics::Receive receive{};
    semantics::Message message{};
    Time at{};              // the thread that it waits for has been told by then
    Time begin{};           // of the transfer, as far as is known
    bool answered = false;  // by the receiver: the sender's turn
    std::uint32_t lane = 0;
  };
  /// A stay of a thread inside MPI.
  struct Inside {
    Time entry, exit;
  };
  struct OfLane {
    std::vector<Inside> calls;           // since the rank last had no request
    std::vector<std::uint32_t> waiting;  // handshakes that wait for the thread, by place in the table
  };

  [[nodiscard]] OfLane& of(std::uint32_t lane);
  [[nodiscard]] std::optional<Time> inside_from(std::uint32_t index, Time at, Token token);
  void shaken(Handshake& handshake, Time when);
  void go_on(Handshake handshake);
  void park(const Handshake& handshake);
  void begin_transfer(Handshake& handshake);

  const netmodel::NetworkModel& network_;
  Lanes& lanes_;
  PointToPoint& point_to_point_;
  FlowTransfers& flows_;
  const bool weak_;
  const bool contention_;
  std::vector<OfLane> of_lanes_;
  std::vector<Handshake> table_;
  std::vector<std::uint32_t> free_;
  std::set<std::pair<Time, std::uint32_t>>
      asleep_;                          // handshakes whose thread was blocked in a call when it came
  std::vector<std::uint32_t> stirred_;  // lanes that have moved on
};

}  // namespace nplus1::simnode::engine
