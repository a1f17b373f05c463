// Files in virtual time. Equations, their sources and what is assumed of the storage: docs/files.md. Private to the engine.
//
// Whoever asks first is served first, so that each request is a decision: it stands once no running lane has a clock that
// is not beyond it. A request travels no network, so that, other than for messages, no latency lies between.
#pragma once

#include <vector>

#include "events/event.hpp"
#include "simnode/engine/call.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"
#include "simnode/engine/storage_queue.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::simnode::engine {

class Files {
 public:
  explicit Files(const Parts& parts)
      : lanes_{parts.lanes},
        calls_{parts.calls},
        completions_{parts.completions},
        point_to_point_{parts.point_to_point},
        collectives_{parts.collectives},
        storage_{parts.options.storage} {}

  /// A call: its lane is blocked in it, or its end has been told.
  void access(Lane& lane, const events::Event& event, Outcome& out);
  /// The members that a request waits for have met. False: it was another collective.
  bool met(RankId rank, Token token, Time at) {
    return !storage_.nobody_meets() && storage_.met(rank, token, at);
  }
  /// When the next request is made; kNever if there is none.
  [[nodiscard]] Time next() const { return storage_.next_due(); }
  /// It is served.
  void serve_next();
  /// Whom a blocked call waits for.
  [[nodiscard]] std::vector<RankId> awaited(const Lane& lane);

 private:
  [[nodiscard]] StorageRequest request_of(const Lane& lane, const events::Event& event) const;

  Lanes& lanes_;
  Calls& calls_;
  Completions& completions_;
  PointToPoint& point_to_point_;
  CollectiveCalls& collectives_;
  StorageQueue storage_;
};

}  // namespace nplus1::simnode::engine
