#include "patterns/own_overhead.hpp"

namespace nplus1::patterns {
namespace {

using events::EventKind;

/// Overheads grow with the size (a law that every model obeys): one that is 0 for much is always 0.
bool charges(const netmodel::NetworkModel& network) {
  constexpr Bytes kMuch = bytes(std::int64_t{1} << 40);
  return network.send_overhead(kMuch) + network.receive_overhead(kMuch) > Duration::zero();
}

}  // namespace

OwnOverhead::OwnOverhead(std::size_t ranks, const netmodel::NetworkModel* network)
    : network_{network != nullptr && charges(*network) ? network : nullptr} {
  if (network_ != nullptr) matched_.resize(ranks);
}

void OwnOverhead::on_match(RankId receiver, const events::Answer& match) {
  if (network_ == nullptr || match.source == kProcNull.value) return;
  matched_.at(receiver.index())[match.request.value] = network_->receive_overhead(bytes(match.size));
}

Duration OwnOverhead::charged(const events::TimedEvent& timed) {
  switch (timed.event.kind) {
    case EventKind::kSend:
      return timed.event.peer < 0 ? Duration::zero() : network_->send_overhead(timed.event.payload());
    case EventKind::kRecv:
      // One from any source may have told its match, too.
      if (timed.event.request != kNoRequest) take(timed.rank, timed.event.request.value);
      return timed.answer.source < 0 ? Duration::zero()
                                     : network_->receive_overhead(bytes(timed.answer.size));
    case EventKind::kWait:
      return completed(timed);
    case EventKind::kTest:
      return timed.event.has(events::kKeepsRequests) || timed.answer.flag == 0 ? Duration::zero()
                                                                               : completed(timed);
    case EventKind::kCancelled:
    case EventKind::kRequestFree:
      take(timed.rank, timed.event.request.value);
      return Duration::zero();
    default:
      return Duration::zero();
  }
}

Duration OwnOverhead::completed(const events::TimedEvent& timed) {
  Duration sum{};
  const auto ids = timed.extension.words;
  if (timed.event.completion_mode() == events::CompletionMode::kAll) {
    for (const std::uint32_t id : ids) sum += take(timed.rank, id);
    return sum;
  }
  for (const std::uint32_t position : timed.completed)
    if (position < ids.size()) sum += take(timed.rank, ids[position]);
  return sum;
}

Duration OwnOverhead::take(RankId rank, std::uint32_t request) {
  auto& matched = matched_.at(rank.index());
  const auto found = matched.find(request);
  if (found == matched.end()) return Duration::zero();
  const Duration overhead = found->second;
  matched.erase(found);
  return overhead;
}

}  // namespace nplus1::patterns
