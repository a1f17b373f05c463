// A flow that is about to start. Flows of one instant start in the order of their ranks: which of them is heard of first is
// the host's accident, and shares depend on the order (SimGrid's) or on it in their last digits (netmodel/flows).
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "netmodel/flows.hpp"

namespace nplus1::netmodel {

struct FlowStart {
  Time at;
  std::uint64_t order;  // of start()
  Flows::FlowId id;
  RankId source;
  RankId destination;
  Bytes size;
  std::uint32_t cause;
  friend bool operator>(const FlowStart& a, const FlowStart& b) {
    return std::tie(a.at, a.source, a.destination, a.order) >
           std::tie(b.at, b.source, b.destination, b.order);
  }
};

/// The first to start on top.
using FlowStarts = std::priority_queue<FlowStart, std::vector<FlowStart>, std::greater<>>;

}  // namespace nplus1::netmodel
