#include "detector/transfers.hpp"

#include <algorithm>
#include <utility>

namespace nplus1::detector {
namespace {

using events::EventKind;

/// Ranks stay below 2^24, numbers of messages of a pair below 2^40 here: enough to be unique among what is
/// under way at the same time.
std::uint64_t message_key(std::int32_t source, std::int32_t destination, std::uint64_t sequence) {
  return (static_cast<std::uint64_t>(source) << 40U) ^ (static_cast<std::uint64_t>(destination) << 20U) ^
         (sequence * 0x9e3779b97f4a7c15U);
}

std::uint64_t request_key(std::int32_t rank, std::uint32_t request) {
  return static_cast<std::uint64_t>(rank) << 32U | request;
}

/// Where the data lie as one piece; 0: nowhere, or not known.
std::uint64_t place_of(const events::Detail* detail) {
  return detail == nullptr || (detail->content & events::kScattered) != 0 ? 0 : detail->buffer;
}

/// In place: a second copy would be the largest thing in memory. Afterwards item i is what item `from[i]` was.
void permute(std::vector<Transfer>& items, std::vector<std::uint32_t> from) {
  for (std::uint32_t start = 0; start < items.size(); ++start) {
    if (from[start] == start) continue;
    const Transfer first = items[start];
    std::uint32_t hole = start;
    for (std::uint32_t next = from[hole]; next != start; next = from[hole]) {
      items[hole] = items[next];
      from[hole] = hole;
      hole = next;
    }
    items[hole] = first;
    from[hole] = hole;
  }
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
  return fresh;
}

/// Bytes of one number of a basic type; 0 of others.
std::uint8_t TransferCollector::element_of(DatatypeId id) const {
  const events::Datatype* type = datatype(id);
  return type != nullptr && type->bytes <= 8 ? static_cast<std::uint8_t>(type->bytes) : std::uint8_t{0};
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
    transfer.content.element = element_of(transfer.datatype);
  }
  transfer.tag = e.tag;
  transfer.comm = e.comm;
  transfer.send_site = e.site;
  transfer.send_ordinal = static_cast<std::uint32_t>(event.ordinal);
  order_.send(index, event.rank.value, e.peer);
}

void TransferCollector::arrive(Index index, std::uint64_t bytes, std::uint64_t buffer, CallSiteId site) {
  Transfer& transfer = all_[index];
  transfer.content.bytes = bytes;
  transfer.destination_buffer = buffer;
  transfer.receive_site = site;
}

void TransferCollector::on_receive(const events::TimedEvent& event) {
  const events::Event& e = event.event;
  const std::uint64_t buffer = place_of(event.detail);
  if (e.kind == EventKind::kIrecv) {
    posted_[request_key(event.rank.value, e.request.value)] = {buffer, e.site};
    return;
  }
  if (event.exit == events::kUnfinished || event.answer.source < 0) return;
  const Index index = meet(event.answer.source, event.rank.value, event.answer.sequence);
  arrive(index, static_cast<std::uint64_t>(event.answer.size), buffer, e.site);
  order_.receive(index, event.rank.value);
  Poll& poll = polls_[event.rank.index()];
  all_[index].polled = poll.open && poll.source == e.peer && poll.tag == e.tag;
  poll.open = false;
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
  order_.receive(found->second, rank);
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
  transfer.content.element = element_of(transfer.datatype);
  transfer.send_site = transfer.receive_site = event.event.site;
  transfer.send_ordinal = static_cast<std::uint32_t>(event.ordinal);
  order_.send(index, event.rank.value, event.rank.value);
  order_.receive(index, event.rank.value);
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
    case EventKind::kIprobe:
      polls_[event.rank.index()] = {event.event.peer, event.event.tag, true};
      return;
    case EventKind::kLocal:
      if (event.detail != nullptr && (event.detail->content & events::kHasCrc) != 0) on_capture(event);
      return;
    default:
      return;
  }
}

/// Only messages that were sent and received have a place at both ends.
Transfers TransferCollector::take() {
  Transfers result;
  result.ranks = ranks_;
  CausalOrder::Places places = order_.take(all_.size());
  for (Index i = 0; i < all_.size(); ++i) {
    all_[i].sent_at = places.sent_at[i];
    all_[i].received_at = places.received_at[i];
    if (places.sent_at[i] == CausalOrder::kNowhere) places.by_sending.push_back(i);
  }
  permute(all_, std::move(places.by_sending));
  result.unmatched = static_cast<std::uint64_t>(
      std::erase_if(all_, [](const Transfer& t) { return t.received_at == CausalOrder::kNowhere; }));
  result.without_hashes = static_cast<std::uint64_t>(std::ranges::count_if(
      all_, [](const Transfer& t) { return t.content.bytes > 0 && !t.content.hashed(); }));
  result.all = std::move(all_);
  return result;
}

}  // namespace nplus1::detector
