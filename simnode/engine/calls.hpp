// How a lane's calls are carried out, one after the other, until it blocks; and how a blocked one goes on. Private to the
// engine.
#pragma once

#include "events/event.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/lanes.hpp"
#include "simnode/engine/parts.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Calls {
 public:
  explicit Calls(const Parts& parts);

  /// The next event of `rank`: carried out, or kept until its lane goes on.
  void push(RankId rank, const events::Event& event, const events::Extension& extension);
  /// `lane` cannot return from the call yet.
  void block(Lane& lane, const events::Event& event, const events::Extension& extension);
  /// The outcome of a lane that goes on, to be filled in for resume().
  [[nodiscard]] Outcome& waking() {
    waking_.reset();
    return waking_;
  }
  /// A blocked lane's call returns at out.exit.
  void resume(Lane& lane, Outcome& out);
  /// The call has returned: tells who listens.
  void finish(Lane& lane, const events::Event& event, const events::Extension& extension, Outcome& out);
  /// What others' calls have let go goes on.
  void drain();
  /// The rank makes no more events.
  void rank_gone(RankId rank);
  /// Entry is the last exit plus compute; an event that says otherwise is believed only where time does not run back.
  Time entry_of(Lane& lane, const events::Event& event);

 private:
  bool put_off(Lane& lane, const events::Event& event, const events::Extension& extension);
  void start(Lane& lane, const events::Event& event, const events::Extension& extension);
  bool dispatch(Lane& lane, const events::Event& event, const events::Extension& extension, Outcome& out);
  void drain_all();
  void carry_out_kept(Lane& lane);
  void leave(Lane& lane);

  Lanes& lanes_;
  Turns& turns_;
  Agenda& agenda_;
  Threads& threads_;
  PointToPoint& point_to_point_;
  Completions& completions_;
  Probes& probes_;
  CollectiveCalls& collectives_;
  OneSided& one_sided_;
  Files& files_;
  Progress& progress_;
  Listener& listener_;
  Counters& counters_;
  const bool trust_entry_;
  const bool weak_progress_;
  Outcome scratch_;  // of the call being dispatched
  Outcome waking_;   // of a lane being resumed
};

}  // namespace nplus1::simnode::engine
