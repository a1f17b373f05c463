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

Matching::Index Matching::meet(std::int32_t source, std::int32_t destination, std::uint64_t sequence) {
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

void Matching::sent(const Step& step) {
  const Index index = meet(step.rank, step.peer, step.sequence);
  Transfer& transfer = all_[index];
  transfer.content = step.content;
  transfer.source_buffer = step.buffer;
  transfer.datatype = step.datatype;
  transfer.tag = step.tag;
  transfer.comm = step.comm;
  transfer.send_site = step.site;
  transfer.send_ordinal = step.ordinal;
  ends_.send(index, step.rank, step.peer);
}

void Matching::arrive(Index index, std::uint64_t bytes, std::uint64_t buffer, CallSiteId site) {
  Transfer& transfer = all_[index];
  transfer.content.bytes = bytes;
  transfer.destination_buffer = buffer;
  transfer.receive_site = site;
}

void Matching::received(const Step& step) {
  const Index index = meet(step.peer, step.rank, step.sequence);
  arrive(index, step.content.bytes, step.buffer, step.site);
  if (const auto poll = polls_.find(step.rank); poll != polls_.end()) {
    all_[index].polled = poll->second.source == step.asked && poll->second.tag == step.tag;
    polls_.erase(poll);
  }
  ends_.receive(index, step.rank);
}

void Matching::matched(const Step& step) {
  const auto posted = posted_.find(request_key(step));
  if (posted == posted_.end()) return;
  if (step.peer >= 0) {
    const Index index = meet(step.peer, step.rank, step.sequence);
    arrive(index, step.content.bytes, posted->second.buffer, posted->second.site);
    arrived_.emplace(request_key(step), index);
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
  const auto index = static_cast<Index>(all_.size());
  Transfer& transfer = all_.emplace_back();
  transfer.content = step.content;
  transfer.source_buffer = transfer.destination_buffer = step.buffer;
  transfer.source = transfer.destination = step.rank;
  transfer.datatype = step.datatype;
  transfer.send_site = transfer.receive_site = step.site;
  transfer.send_ordinal = step.ordinal;
  ends_.send(index, step.rank, step.rank);
  ends_.receive(index, step.rank);
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
