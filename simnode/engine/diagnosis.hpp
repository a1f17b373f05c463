// Who waits for whom. Private to the engine.
#pragma once

#include <vector>

#include "simnode/engine/engine.hpp"
#include "simnode/engine/lane.hpp"
#include "simnode/engine/parts.hpp"

namespace nplus1::simnode::engine {

class Diagnosis {
 public:
  explicit Diagnosis(const Parts& parts)
      : lanes_{parts.lanes},
        collectives_{parts.collectives},
        one_sided_{parts.one_sided},
        files_{parts.files} {}

  /// By rank and thread.
  [[nodiscard]] std::vector<BlockedThread> blocked();
  [[nodiscard]] std::vector<BlockedThread> outside() const;

 private:
  BlockedThread explain(Lane& lane);
  void explain_requests(Lane& lane, BlockedThread& blocked);

  Lanes& lanes_;
  CollectiveCalls& collectives_;
  OneSided& one_sided_;
  Files& files_;
};

}  // namespace nplus1::simnode::engine
