// What a rank tells of its threads besides their MPI calls, so that the simulator knows of a thread before its first
// call, that one waits for the end of another, and that one has nothing to do until another gives it work (the members of
// a team between OpenMP's parallel regions).
#pragma once

#include <cstdint>

#include "events/event.hpp"

namespace nplus1::events {

/// Event::operation of a kLocal. Values are disjoint from OwnPart's and Access's.
enum class ThreadChange : std::uint8_t {
  kStart =
      32,  // the thread's first event: thread `tag` has created it, `aux` ps after that one's last call returned
  kJoin =
      33,  // the thread waits until thread `tag` of its rank has ended; `aux` > 0: or been idle so many times
  kFork =
      34,  // the thread gives work to thread `tag` of its rank, which is idle or about to be; or goes on by itself
  kIdle = 35,  // the thread waits until it is forked, once for each kFork
};

[[nodiscard]] inline bool is_thread_change(const Event& event, ThreadChange change) {
  return event.kind == EventKind::kLocal && event.operation == static_cast<std::uint8_t>(change);
}

/// Any of them: no call of the program's.
[[nodiscard]] inline bool is_thread_change(const Event& event) {
  return event.kind == EventKind::kLocal &&
         event.operation >= static_cast<std::uint8_t>(ThreadChange::kStart) &&
         event.operation <= static_cast<std::uint8_t>(ThreadChange::kIdle);
}

}  // namespace nplus1::events
