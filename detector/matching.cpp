#include "detector/matching.hpp"

namespace nplus1::detector {
namespace {

/// Ranks stay below 2^24, numbers of messages of a pair below 2^40 here: enough to be unique among what is
/// under way at the same time.
std::uint64_t message_key(std::int32_t source, std::int32_t destination, std::uint64_t sequence) {
  return (static_cast<std::uint64_t>(source) << 40U) ^ (static_cast<std::uint64_t>(destination) << 20U) ^
         (sequence * 0x9e3779b97f4a7c15U);
}

std::uint64_t request_key(const Step& step) {
  return static_cast<std::uint64_t>(step.rank) << 32U | step.request;
}

}  // namespace

bool Matching::meet(std::uint64_t message, Place& place) {
  const auto [found, first] = under_way_.try_emplace(message, Place{messages_, kElsewhere});
  place = found->second;
  if (first)
    ++messages_;
  else
    under_way_.erase(found);
  return first;
}

std::uint32_t Matching::make_room(Message number) {
  all_.emplace_back();
  numbers_.push_back(number);
  return static_cast<std::uint32_t>(all_.size() - 1);
}

void Matching::sent(const Step& step) {
  const std::uint64_t message = message_key(step.rank, step.peer, step.sequence);
  Place place;
  const bool first = meet(message, place);
  const bool mine = share_.has(step.content, place.number);
  if (first && mine) under_way_.at(message).slot = place.slot = make_room(place.number);
  if (!first && !mine) numbers_[place.slot] = kNobody;  // it was received before anybody knew what it held
  if (place.slot != kElsewhere) {
    Transfer& transfer = all_[place.slot];
    transfer.source = step.rank;
    transfer.destination = step.peer;
    transfer.content = step.content;
    transfer.source_buffer = step.buffer;
    transfer.datatype = step.datatype;
    // What a program sends to itself tells of its own part, whatever tag it has there.
    transfer.tag = step.peer == step.rank ? static_cast<std::int32_t>(events::OwnPart::kTold) : step.tag;
    transfer.comm = step.comm;
    transfer.send_site = step.site;
    transfer.send_ordinal = step.ordinal;
  }
  ends_.send(place.number, step.rank, step.peer);
}

void Matching::arrive(const Step& step, std::uint32_t slot, std::uint64_t buffer, CallSiteId site) {
  if (slot == kElsewhere) return;
  Transfer& transfer = all_[slot];
  transfer.source = step.peer;
  transfer.destination = step.rank;
  transfer.content.bytes = step.content.bytes;
  transfer.destination_buffer = buffer;
  transfer.receive_site = site;
}

Matching::Place Matching::meet_receive(const Step& step) {
  const std::uint64_t message = message_key(step.peer, step.rank, step.sequence);
  Place place;
  if (meet(message, place)) under_way_.at(message).slot = place.slot = make_room(place.number);
  return place;
}

void Matching::received(const Step& step) {
  const Place place = meet_receive(step);
  arrive(step, place.slot, step.buffer, step.site);
  if (const auto poll = polls_.find(step.rank); poll != polls_.end()) {
    if (place.slot != kElsewhere)
      all_[place.slot].polled = poll->second.source == step.asked && poll->second.tag == step.tag;
    polls_.erase(poll);
  }
  ends_.receive(place.number, step.rank);
}

void Matching::matched(const Step& step) {
  const auto posted = posted_.find(request_key(step));
  if (posted == posted_.end()) return;
  if (step.peer >= 0) {
    const Place place = meet_receive(step);
    arrive(step, place.slot, posted->second.buffer, posted->second.site);
    arrived_.emplace(request_key(step), place.number);
  }
  posted_.erase(posted);
}

void Matching::completed(const Step& step) {
  const auto found = arrived_.find(request_key(step));
  if (found == arrived_.end()) return;
  ends_.receive(found->second, step.rank);
  arrived_.erase(found);
}

void Matching::captured(const Step& step) {
  const Message number = messages_++;
  if (share_.has(step.content, number)) {
    Transfer& transfer = all_[make_room(number)];
    transfer.content = step.content;
    transfer.source_buffer = transfer.destination_buffer = step.buffer;
    transfer.source = transfer.destination = step.rank;
    transfer.tag = step.tag;
    transfer.datatype = step.datatype;
    transfer.send_site = transfer.receive_site = step.site;
    transfer.send_ordinal = step.ordinal;
  }
  ends_.send(number, step.rank, step.rank);
  ends_.receive(number, step.rank);
}

void Matching::apply(const Step& step) {
  switch (step.kind) {
    case StepKind::kSent:
      return sent(step);
    case StepKind::kReceived:
      return received(step);
    case StepKind::kPosted:
      posted_[request_key(step)] = {step.buffer, step.site};
      return;
    case StepKind::kMatched:
      return matched(step);
    case StepKind::kCompleted:
      return completed(step);
    case StepKind::kCaptured:
      return captured(step);
    case StepKind::kPolled:
      polls_[step.rank] = {step.asked, step.tag};
      return;
  }
}

}  // namespace nplus1::detector
