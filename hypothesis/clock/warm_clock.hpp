// A stage of a hypothesis: the recorded program with its computing as it would be with warm caches.
#pragma once

#include <memory>

#include "hypothesis/clock/stretches.hpp"
#include "hypothesis/transform/transform.hpp"

namespace nplus1::hypothesis::clock {

class WarmClock final : public transform::Transform {
 public:
  /// `stretches` are fitted.
  WarmClock(std::shared_ptr<const Stretches> stretches, Estimate estimate);

 private:
  void change(RankId rank, std::uint64_t ordinal, transform::Call& call) override;
  void restart() override { follower_ = {}; }

  std::shared_ptr<const Stretches> stretches_;
  Estimate estimate_;
  Follower follower_;
};

}  // namespace nplus1::hypothesis::clock
