#include "hypothesis/transform/rank_order.hpp"

#include <algorithm>

namespace nplus1::hypothesis::transform {
namespace {

constexpr std::size_t kMostHeld = 4096;
constexpr std::size_t kMostHeldOfOneThread = 64;

}  // namespace

void RankOrder::on_event(const events::TimedEvent& timed) {
  const std::size_t r = timed.rank.index();
  if (r >= ranks_.size()) ranks_.resize(r + 1);
  Rank& rank = ranks_[r];
  rank.threads = std::max(rank.threads, timed.event.thread.value + 1U);
  if (timed.ordinal < rank.next || (timed.ordinal == rank.next && rank.held.empty())) {
    rank.next = std::max(rank.next, timed.ordinal + 1);
    return next().on_event(timed);
  }
  rank.held[timed.ordinal].call.assign(timed);
  if (timed.event.kind == events::EventKind::kIrecv) rank.posted[timed.event.request.value] = timed.ordinal;
  release(timed.rank, false);
}

void RankOrder::on_match(RankId receiver, const events::Answer& match) {
  if (receiver.index() < ranks_.size()) {
    Rank& rank = ranks_[receiver.index()];
    if (const auto posted = rank.posted.find(match.request.value); posted != rank.posted.end()) {
      Held& held = rank.held[posted->second];
      held.matched = true;
      held.match = match;
      return;
    }
  }
  next().on_match(receiver, match);
}

void RankOrder::release(RankId rank, bool all) {
  Rank& r = ranks_[rank.index()];
  while (!r.held.empty()) {
    const auto first = r.held.begin();
    const std::size_t patience = r.threads == 1 ? kMostHeldOfOneThread : kMostHeld;
    if (first->first > r.next && !all && r.held.size() <= patience) return;
    const std::uint64_t ordinal = first->first;
    r.next = std::max(r.next, ordinal + 1);
    const Held held = std::move(first->second);
    r.held.erase(first);
    if (held.call.event.kind == events::EventKind::kIrecv) r.posted.erase(held.call.event.request.value);
    hand_on(next(), rank, held.call, ordinal);
    if (held.matched) next().on_match(rank, held.match);
  }
}

void RankOrder::finish() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) release(RankId{static_cast<std::int32_t>(r)}, true);
}

}  // namespace nplus1::hypothesis::transform
