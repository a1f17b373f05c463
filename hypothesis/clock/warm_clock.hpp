// A stage of a hypothesis: the recorded program with its computing as it would be with warm caches. Surveys the
// recording for it, unless the stretches are known already.
#pragma once

#include <memory>

#include "hypothesis/clock/stretches.hpp"
#include "hypothesis/transform/transform.hpp"

namespace nplus1::hypothesis::clock {

class WarmClock final : public transform::Transform {
 public:
  WarmClock(std::shared_ptr<Stretches> stretches, Stretches::Estimate estimate);
  [[nodiscard]] events::EventSink* survey() override {
    return stretches_->fitted() ? nullptr : survey_.get();
  }
  [[nodiscard]] Result<transform::Done> surveyed() override;

 private:
  class Survey;
  void change(RankId rank, std::uint64_t ordinal, transform::Call& call) override;
  void restart() override { follower_ = {}; }

  std::shared_ptr<Stretches> stretches_;
  Stretches::Estimate estimate_;
  std::shared_ptr<events::EventSink> survey_;
  Follower follower_;
};

}  // namespace nplus1::hypothesis::clock
