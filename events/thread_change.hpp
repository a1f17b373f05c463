// What a rank tells of its threads besides their MPI calls, so that the simulator knows of a thread before its first
// call, and that one waits for the end of another.
#pragma once

#include <cstdint>

#include "events/event.hpp"

namespace nplus1::events {

/// Event::operation of a kLocal. Values are disjoint from OwnPart's and Access's.
enum class ThreadChange : std::uint8_t {
  kStart =
      32,  // the thread's first event: thread `tag` has created it, `aux` ps after that one's last call returned
  kJoin = 33,  // the thread waits until thread `tag` of its rank has ended
};

[[nodiscard]] inline bool is_thread_change(const Event& event, ThreadChange change) {
  return event.kind == EventKind::kLocal && event.operation == static_cast<std::uint8_t>(change);
}

}  // namespace nplus1::events
