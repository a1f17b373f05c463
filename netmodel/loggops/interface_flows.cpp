#include "netmodel/loggops/interface_flows.hpp"

#include <algorithm>

#include "netmodel/loggops/loggops.hpp"

namespace nplus1::netmodel {

Time& InterfaceFlows::of(std::vector<Time>& free_from, RankId rank) {
  if (rank.index() >= free_from.size()) free_from.resize(rank.index() + 1);
  return free_from[rank.index()];
}

/// One that lies behind starts after what has happened, and not after the instant up to which the engine has looked: how far
/// that is depends on which rank was heard of first (a send that was released, Buffering, lies behind).
void InterfaceFlows::start(FlowId id, RankId source, RankId destination, Bytes size, Time at,
                           std::uint32_t cause) {
  const Duration handshake = model_.eager(size) ? Duration{} : model_.handshake();
  waiting_.push({std::max(at, happened_) + handshake, order_++, id, source, destination, size, cause});
}

void InterfaceFlows::leave(const FlowStart& start) {
  Time& free = of(sends_from_, start.source);
  const Time leaves = std::max(start.at, free);
  free = leaves + model_.occupancy(start.size);
  const Duration alone = model_.transit(start.source, start.destination, start.size);
  on_their_way_.push(
      {leaves + model_.latency(), left_++, start.id, start.destination, start.size, start.at + alone});
}

void InterfaceFlows::take(Due due) {
  Time& free = of(receives_from_, due.destination);
  const Time taken = std::max(due.at, free);
  free = taken + model_.occupancy(due.size);
  due.at = taken + model_.bytes_take(due.size);
  ending_.push(due);
}

/// At an instant, what arrives is taken before what starts there leaves: then it makes no difference at which instants
/// the engine stops, as it may only start messages at those where it has.
void InterfaceFlows::advance(Time until, std::vector<Completion>& completions) {
  const auto first = [](const auto& queue) { return queue.empty() ? kNever : queue.top().at; };
  while (!idle()) {
    const Time begins = first(waiting_);
    const Time arrives = first(on_their_way_);
    const Time ends = first(ending_);
    if (arrives <= until && arrives <= begins && arrives <= ends) {
      happened_ = std::max(happened_, arrives);
      take(on_their_way_.top());
      on_their_way_.pop();
      continue;
    }
    if (begins < until && begins <= ends) {
      happened_ = std::max(happened_, begins);
      leave(waiting_.top());
      waiting_.pop();
      continue;
    }
    if (ends > until) break;
    now_ = std::max(now_, ends);
    happened_ = std::max(happened_, ends);
    for (; !ending_.empty() && ending_.top().at == ends; ending_.pop())
      completions.push_back({ending_.top().id, ends, ends - ending_.top().alone});
    return;
  }
  if (until != kNever) now_ = std::max(now_, until);
}

}  // namespace nplus1::netmodel
