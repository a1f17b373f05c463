// A rank that has not been told when its calls ended asks for its clock. Between rank and simulator only: it is no call, and
// nobody else sees it.
#pragma once

#include <cstdint>

#include "events/event.hpp"

namespace nplus1::events {

/// Event::operation of a kLocal without computing: the answer's exit is the end of the thread's last call. Disjoint from
/// OwnPart's, Access's and ThreadChange's values.
inline constexpr std::uint8_t kClockQuestion = 48;

[[nodiscard]] inline bool is_clock_question(const Event& event) {
  return event.kind == EventKind::kLocal && event.operation == kClockQuestion;
}

}  // namespace nplus1::events
