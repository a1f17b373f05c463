// What the parts of the engine say to each other about a call: how it comes out, and whom a message or a member's part
// of a collective belongs to. Private to the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "events/event.hpp"
#include "netmodel/network_model.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

/// What a call's handler found out: when it returns, unless it blocks.
struct Outcome {
  Time exit{};
  events::Answer answer{};
  std::vector<std::uint32_t> completed;  // positions in the event's list

  void reset() {
    answer = {};
    completed.clear();
  }
};

/// A message or receive belongs to a request (its id) or to a lane blocked in the call itself.
using Token = std::uint64_t;
inline constexpr Token kLaneToken = Token{1} << 63U;
/// A message that is under way as a flow, by the flow's number.
inline constexpr Token kFlowToken = Token{1} << 62U;

[[nodiscard]] inline Token token_of_lane(std::uint32_t lane) {
  return kLaneToken | lane;
}
[[nodiscard]] inline bool is_of_lane(Token token) {
  return (token & kLaneToken) != 0;
}
[[nodiscard]] inline std::uint32_t lane_in(Token token) {
  return static_cast<std::uint32_t>(token & ~kLaneToken);
}
[[nodiscard]] inline RequestId request_in(Token token) {
  return RequestId{static_cast<std::uint32_t>(token)};
}

/// MPI_Mprobe, which waits for a message of its own.
[[nodiscard]] inline bool waits_for_its_own(const events::Event& event) {
  return event.kind == events::EventKind::kProbe && event.has(events::kTakesMessage);
}

/// One that looks at what waits; MPI_Mprobe waits among the receives.
[[nodiscard]] inline bool looks_at_messages(const events::Event& event) {
  return event.kind == events::EventKind::kIprobe ||
         (event.kind == events::EventKind::kProbe && !waits_for_its_own(event));
}

/// Whether a send completes without its receive.
[[nodiscard]] inline bool is_eager(const netmodel::NetworkModel& network, const events::Event& event) {
  const events::SendMode mode = event.send_mode();
  if (mode == events::SendMode::kBuffered) return true;
  return mode != events::SendMode::kSynchronous && network.eager(event.payload());
}

}  // namespace nplus1::simnode::engine
