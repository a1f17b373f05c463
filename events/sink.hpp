// Where finished events go: the simulator emits them in the order in which it decides them, with their
// virtual times, to statistics, recording and analyses alike; a reader of a recording does the same. Called
// from one thread.
#pragma once

#include <limits>

#include "events/definitions.hpp"
#include "events/event.hpp"

namespace nplus1::events {

/// The exit of a call that had not returned when its process ended or was killed.
inline constexpr Time kUnfinished{Duration{std::numeric_limits<std::int64_t>::max()}};
inline constexpr Answer kNoAnswer{};

/// A call whose virtual times are known. References and spans are valid during the call to the sink only.
struct TimedEvent {
  RankId rank;
  const Event& event;  // comm, site, region and datatype ids are the global ones, entry_ps the virtual entry
  Extension extension;
  Time exit;                                      // when the call returned, or kUnfinished
  const Answer& answer = kNoAnswer;               // how it came out: docs/formats/events.md, "Answers"
  std::span<const std::uint32_t> completed = {};  // kAny, kSome: positions in the event's list that completed
  const Detail* detail = nullptr;                 // null where none was taken
  std::uint64_t ordinal = 0;  // place in the rank's own stream (of all its threads), from 0
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const TimedEvent& event) = 0;
  /// Receive `match.request` of `receiver` (a kIrecv) has met its message: source, tag, sequence, size,
  /// thread; `exit_ps`: when the data are there. After its kIrecv, as soon as it is certain, mostly before
  /// its wait.
  virtual void on_match(RankId /*receiver*/, const Answer& /*match*/) {}
  virtual void on_communicator(const Communicator& /*communicator*/) {}
  virtual void on_call_path(const CallPath& /*path*/) {}
  virtual void on_region(const Region& /*region*/) {}
  virtual void on_datatype(const Datatype& /*datatype*/) {}
};

}  // namespace nplus1::events
