// Puts each rank's calls into the order in which its process made them: a recording has them in the order in
// which they were decided, which differs where a rank has several threads. A call that never comes is waited
// for by as many later ones as hypothesis/replay/event_feed.hpp has it; then they go on without. One thread.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "hypothesis/transform/transform.hpp"

namespace nplus1::hypothesis::transform {

class RankOrder final : public Transform {
 public:
  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  void finish() override;

 private:
  void restart() override { ranks_.clear(); }
  struct Held {
    RecordedCall call;
    bool matched = false;  // its match came meanwhile, and follows it
    events::Answer match;
  };
  struct Rank {
    std::uint64_t next = 0;
    std::uint32_t threads = 0;
    std::map<std::uint64_t, Held> held;                       // by ordinal
    std::unordered_map<std::uint32_t, std::uint64_t> posted;  // held kIrecv by request
  };
  void change(RankId, std::uint64_t, Call&) override {}
  void release(RankId rank, bool all);

  std::vector<Rank> ranks_;
};

}  // namespace nplus1::hypothesis::transform
