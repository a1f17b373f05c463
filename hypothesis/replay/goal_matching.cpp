#include "hypothesis/replay/goal_matching.hpp"

#include <array>

#include "events/goal/graph.hpp"

namespace nplus1::hypothesis {
namespace {

using events::goal::kAnybody;

/// The envelopes of receives that take the message.
std::array<GoalEnvelope, 4> takers(GoalEnvelope m) {
  return {{m, {m.source, kAnybody}, {kAnybody, m.tag}, {kAnybody, kAnybody}}};
}

GoalEntries::iterator first(GoalEntries& entries, GoalEnvelope e) {
  const auto found = entries.lower_bound({e.source, e.tag, 0});
  const bool fits =
      found != entries.end() && std::get<0>(found->first) == e.source && std::get<1>(found->first) == e.tag;
  return fits ? found : entries.end();
}

std::uint64_t order(GoalEntries::const_iterator entry) {
  return std::get<2>(entry->first);
}

}  // namespace

void PostedReceives::push(const GoalEntry& receive) {
  receives_.emplace(std::tuple{receive.envelope.source, receive.envelope.tag, posted_++}, receive);
}

std::optional<GoalEntry> PostedReceives::take(GoalEnvelope message) {
  auto earliest = receives_.end();
  for (const GoalEnvelope taker : takers(message)) {
    const auto found = first(receives_, taker);
    if (found != receives_.end() && (earliest == receives_.end() || order(found) < order(earliest)))
      earliest = found;
  }
  if (earliest == receives_.end()) return std::nullopt;
  const GoalEntry receive = earliest->second;
  receives_.erase(earliest);
  return receive;
}

void UnexpectedMessages::push(const GoalEntry& message) {
  for (const GoalEnvelope taker : takers(message.envelope))
    messages_.emplace(std::tuple{taker.source, taker.tag, arrived_}, message);
  ++arrived_;
  ++waiting_;
}

std::optional<GoalEntry> UnexpectedMessages::take(GoalEnvelope receive) {
  const auto found = first(messages_, receive);
  if (found == messages_.end()) return std::nullopt;
  const GoalEntry message = found->second;
  const std::uint64_t arrived = order(found);
  for (const GoalEnvelope taker : takers(message.envelope))
    messages_.erase({taker.source, taker.tag, arrived});
  --waiting_;
  return message;
}

}  // namespace nplus1::hypothesis
