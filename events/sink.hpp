// Where finished events go: the simulator emits them in the order in which it decides them, with their
// virtual times, to statistics, recording and analyses alike. Called from one thread.
#pragma once

#include "events/event.hpp"

namespace nplus1::events {

/// A call whose virtual times are known.
struct TimedEvent {
  RankId rank;
  const Event& event;   // comm is the global id, entry_ps the virtual entry
  Extension extension;  // valid during the call only
  Time exit;            // when the call returned
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const TimedEvent& event) = 0;
};

}  // namespace nplus1::events
