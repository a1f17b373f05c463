// Drives an engine from streams that are all there already (a recording, a synthetic workload): run-to-block,
// so that no rank's events pile up in the engine.
#pragma once

#include "simnode/engine/engine.hpp"

namespace nplus1::simnode::engine {

/// The events of all ranks, in each rank's order.
class Streams {
 public:
  virtual ~Streams() = default;
  /// The next event of `rank`; null at the end of its stream. `extension` and the event are valid until the
  /// next call.
  virtual const events::Event* next(RankId rank, events::Extension& extension) = 0;
};

/// Pushes every event of ranks 0..ranks-1 and decides what can be decided. If all are blocked, completes
/// rendezvous sends as eager where that helps. Returns the engine's state at the end: kFinished, kRunning if
/// streams end without kFinalize, or kAllBlocked: a deadlock.
State replay(Engine& engine, int ranks, Streams& streams);

}  // namespace nplus1::simnode::engine
