// Threads that a rank's others make and wait for (events/thread_change.hpp). Private to the engine.
#pragma once

#include "events/event.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Threads {
 public:
  explicit Threads(const Parts& parts)
      : lanes_{parts.lanes}, calls_{parts.calls}, trust_entry_{parts.options.trust_entry} {}

  /// Who made the thread; null: not known.
  [[nodiscard]] Lane* creator_of(const Lane& lane, const events::Event& event);
  /// When a thread begins, whose own clock has come to `computed`: not before its creator has made it.
  [[nodiscard]] Time start(Lane& lane, const events::Event& event, Time computed);
  /// The creator of a thread has come to where it makes it. What the thread did has waited for that: messages that its
  /// creator sent before are before its own.
  void bear(Lane& born, const events::Event& event);
  /// Carries out what a thread tells of itself and others. False: it has to wait.
  bool change(Lane& lane, const events::Event& event, Outcome& out);
  void release_joiners(const Lane& ended);
  /// If the event is an end of being idle by the thread itself: it has ended, or found something to do.
  void end_idling(Lane& lane, const events::Event& event);
  /// The rank's main thread has ended: its idle ones will get no work any more, and have waited for none.
  void dismiss(const Lane& main);

 private:
  [[nodiscard]] static bool ends_idling(const Lane& lane, const events::Event& event);
  /// Who waits for a thread goes on when that one has ended, or has become idle, and not before that in virtual time.
  bool join(Lane& lane, const events::Event& event, Outcome& out);
  /// Who has nothing to do goes on when another gives it work, and not before that in virtual time.
  bool idle(Lane& lane, const events::Event& event, Outcome& out);
  void fork(Lane& forker, const events::Event& event);
  [[nodiscard]] Lane* named_by(const Lane& lane, const events::Event& event);

  Lanes& lanes_;
  Calls& calls_;
  const bool trust_entry_;
};

}  // namespace nplus1::simnode::engine
