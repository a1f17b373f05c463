#include "detector/transfers.hpp"

#include <utility>

namespace nplus1::detector {
namespace {

using events::EventKind;

constexpr std::uint8_t kSent = 1;
constexpr std::uint8_t kCompleted = 2;

/// Ranks stay below 2^24, numbers of messages of a pair below 2^40 here: enough to be unique among what is
/// under way at the same time.
std::uint64_t message_key(std::int32_t source, std::int32_t destination, std::uint64_t sequence) {
  return (static_cast<std::uint64_t>(source) << 40U) ^ (static_cast<std::uint64_t>(destination) << 20U) ^
         (sequence * 0x9e3779b97f4a7c15U);
}

std::uint64_t request_key(std::int32_t rank, std::uint32_t request) {
  return static_cast<std::uint64_t>(rank) << 32U | request;
}

}  // namespace

TransferCollector::Index TransferCollector::meet(std::int32_t source, std::int32_t destination,
                                                 std::uint64_t sequence) {
  const auto fresh = static_cast<Index>(all_.size());
  const auto [place, first] = under_way_.try_emplace(message_key(source, destination, sequence), fresh);
  if (!first) {
    const Index index = place->second;
    under_way_.erase(place);
    return index;
  }
  Transfer& transfer = all_.emplace_back();
  transfer.source = source;
  transfer.destination = destination;
  ends_.push_back(0);
  return fresh;
}

void TransferCollector::on_send(const events::TimedEvent& event) {
  const events::Event& e = event.event;
  if (e.peer < 0 || event.exit == events::kUnfinished) return;
  const Index index = meet(event.rank.value, e.peer, event.answer.sequence);
  Transfer& transfer = all_[index];
  transfer.content = content_of(static_cast<std::uint64_t>(e.size), event.detail);
  if (event.detail != nullptr) {
    transfer.source_buffer = event.detail->buffer;
    transfer.datatype = event.detail->datatype;
  }
  transfer.tag = e.tag;
  transfer.comm = e.comm;
  transfer.send_site = e.site;
  transfer.send_ordinal = static_cast<std::uint32_t>(event.ordinal);
  ends_[index] |= kSent;
  halves_[event.rank.index()].push_back(index * 2);
}

void TransferCollector::arrive(Index index, std::uint64_t bytes, std::uint64_t buffer, CallSiteId site) {
  Transfer& transfer = all_[index];
  transfer.content.bytes = bytes;
  transfer.destination_buffer = buffer;
  transfer.receive_site = site;
}

void TransferCollector::on_receive(const events::TimedEvent& event) {
  const events::Event& e = event.event;
  const std::uint64_t buffer = event.detail == nullptr ? 0 : event.detail->buffer;
  if (e.kind == EventKind::kIrecv) {
    posted_[request_key(event.rank.value, e.request.value)] = {buffer, e.site};
    return;
  }
  if (event.exit == events::kUnfinished || event.answer.source < 0) return;
  const Index index = meet(event.answer.source, event.rank.value, event.answer.sequence);
  arrive(index, static_cast<std::uint64_t>(event.answer.size), buffer, e.site);
  ends_[index] |= kCompleted;
  halves_[event.rank.index()].push_back(index * 2 + 1);
}

void TransferCollector::on_match(RankId receiver, const events::Answer& match) {
  const std::uint64_t key = request_key(receiver.value, match.request.value);
  const auto posted = posted_.find(key);
  if (posted == posted_.end()) return;
  if (match.source >= 0) {
    const Index index = meet(match.source, receiver.value, match.sequence);
    arrive(index, static_cast<std::uint64_t>(match.size), posted->second.buffer, posted->second.site);
    arrived_.emplace(key, index);
  }
  posted_.erase(posted);
}

void TransferCollector::complete(std::int32_t rank, std::uint32_t request) {
  const auto found = arrived_.find(request_key(rank, request));
  if (found == arrived_.end()) return;
  ends_[found->second] |= kCompleted;
  halves_[static_cast<std::size_t>(rank)].push_back(found->second * 2 + 1);
  arrived_.erase(found);
}

void TransferCollector::on_completion(const events::TimedEvent& event) {
  const events::Event& e = event.event;
  if (event.exit == events::kUnfinished || (e.kind == EventKind::kTest && event.answer.flag == 0)) return;
  const auto requests = event.extension.words;
  const auto take = [&](std::size_t i) {
    if (i < requests.size()) complete(event.rank.value, requests[i]);
  };
  switch (e.completion_mode()) {
    case events::CompletionMode::kAll:
      for (std::size_t i = 0; i < requests.size(); ++i) take(i);
      break;
    case events::CompletionMode::kAny:
      if (event.answer.index >= 0) take(static_cast<std::size_t>(event.answer.index));
      break;
    case events::CompletionMode::kSome:
      for (const std::uint32_t i : event.completed) take(i);
      break;
  }
}

void TransferCollector::on_capture(const events::TimedEvent& event) {
  const auto index = static_cast<Index>(all_.size());
  Transfer& transfer = all_.emplace_back();
  transfer.content = content_of(static_cast<std::uint64_t>(event.event.size), event.detail);
  transfer.source_buffer = transfer.destination_buffer = event.detail->buffer;
  transfer.source = transfer.destination = event.rank.value;
  transfer.datatype = event.detail->datatype;
  transfer.send_site = transfer.receive_site = event.event.site;
  transfer.send_ordinal = static_cast<std::uint32_t>(event.ordinal);
  ends_.push_back(kSent | kCompleted);
  halves_[event.rank.index()].push_back(index * 2);
  halves_[event.rank.index()].push_back(index * 2 + 1);
}

void TransferCollector::on_event(const events::TimedEvent& event) {
  switch (event.event.kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
      return on_send(event);
    case EventKind::kRecv:
    case EventKind::kIrecv:
      return on_receive(event);
    case EventKind::kWait:
    case EventKind::kTest:
      return on_completion(event);
    case EventKind::kLocal:
      if (event.detail != nullptr && (event.detail->content & events::kHasCrc) != 0) on_capture(event);
      return;
    default:
      return;
  }
}

/// Gives each half its place: each rank's own order, and no receive before its send. A rank goes on until it meets
/// a receive whose send has no place yet; the send wakes it up.
void TransferCollector::order() {
  constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  std::uint32_t clock = 0;
  std::vector<std::size_t> next(halves_.size());
  std::vector<std::uint32_t> ready;
  for (Transfer& t : all_) t.sent_at = kNowhere;
  for (std::size_t r = halves_.size(); r-- > 0;) ready.push_back(static_cast<std::uint32_t>(r));
  std::vector<std::uint32_t> awaited(halves_.size(), kNowhere);  // transfer that a rank waits for
  while (!ready.empty()) {
    const std::uint32_t r = ready.back();
    ready.pop_back();
    for (std::size_t& i = next[r]; i < halves_[r].size(); ++i) {
      const Half half = halves_[r][i];
      Transfer& t = all_[half / 2];
      if (ends_[half / 2] != (kSent | kCompleted)) continue;
      if (half % 2 == 0) {
        t.sent_at = clock++;
        const auto other = static_cast<std::uint32_t>(t.destination);
        if (other != r && awaited[other] == half / 2) {
          awaited[other] = kNowhere;
          ready.push_back(other);
        }
      } else if (t.sent_at == kNowhere) {
        awaited[r] = half / 2;
        break;
      } else {
        t.received_at = clock++;
      }
    }
  }
}

Transfers TransferCollector::take() {
  Transfers result;
  result.ranks = static_cast<std::int32_t>(halves_.size());
  order();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (ends_[i] != (kSent | kCompleted) || all_[i].received_at <= all_[i].sent_at) {
      ++result.unmatched;
      continue;
    }
    if (all_[i].content.bytes > 0 && !all_[i].content.hashed()) ++result.without_hashes;
    all_[kept++] = all_[i];
  }
  all_.resize(kept);
  result.all = std::move(all_);
  halves_.clear();
  ends_.clear();
  return result;
}

}  // namespace nplus1::detector
