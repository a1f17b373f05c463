// The CPU time that the network model charges for a call itself: what is left of a blocking call's time is
// waiting (docs/formats/patterns.md, "Waiting"). Free where the model charges nothing; else it remembers the
// receives that have met their message and are not completed yet. Not thread-safe.
#pragma once

#include <unordered_map>
#include <vector>

#include "events/sink.hpp"
#include "netmodel/network_model.hpp"

namespace nplus1::patterns {

class OwnOverhead {
 public:
  /// Without a network nothing is charged. `network` must outlive this.
  OwnOverhead(std::size_t ranks, const netmodel::NetworkModel* network);

  /// To be called for each match, before of().
  void on_match(RankId receiver, const events::Answer& match);
  /// What this call costs its rank; for calls that never wait, nothing. Call it once for each event.
  [[nodiscard]] Duration of(const events::TimedEvent& event) {
    return network_ == nullptr ? Duration::zero() : charged(event);
  }
  /// Receives of `rank` that are remembered.
  [[nodiscard]] std::size_t remembered(RankId rank) const {
    return network_ == nullptr ? 0 : matched_.at(rank.index()).size();
  }

 private:
  [[nodiscard]] Duration charged(const events::TimedEvent& event);
  [[nodiscard]] Duration completed(const events::TimedEvent& event);
  Duration take(RankId rank, std::uint32_t request);

  const netmodel::NetworkModel* network_;  // null if it never charges anything
  std::vector<std::unordered_map<std::uint32_t, Duration>> matched_;
};

}  // namespace nplus1::patterns
