#include "stubs/runtime/line/line.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace nplus1::stubs {

void Line::open(std::unique_ptr<transport::Channel> channel, transport::Segment segment, RankId me,
                bool native) {
  channel_ = std::move(channel);
  segment_ = segment;
  me_ = me;
  native_ = native;
}

void Line::write(const events::Event& event, const void* extension, const events::Detail* detail) {
  switch (event.kind) {
    case events::EventKind::kCommDefine:
    case events::EventKind::kSiteDefine:
    case events::EventKind::kRegionDefine:
    case events::EventKind::kDatatypeDefine:
    case events::EventKind::kOutcome:
    case events::EventKind::kWarmTime:
      break;  // no part of the stream
    default:
      ++next_ordinal_;
  }
  if (!cut_) channel_->write(event, extension, detail);
}

void Line::write_text(events::Event event, const std::string& text) {
  std::vector<char> slots((text.size() / events::kSlotBytes + 1) * events::kSlotBytes, '\0');
  std::memcpy(slots.data(), text.data(), text.size());
  event.extension = static_cast<std::uint32_t>(slots.size() / events::kSlotBytes);
  write(event, slots.data());
}

void Line::define(Communicator& comm) {
  tell_of_departures();
  comm.known = Known{departures_, {comm.number, comm.key}};
  events::Event event;
  event.kind = events::EventKind::kCommDefine;
  event.comm = comm.number;
  event.aux = comm.key;
  event.size = static_cast<std::int64_t>(comm.all.size());
  event.peer = comm.first_group;
  constexpr std::size_t kWords = events::kSlotBytes / sizeof(std::uint32_t);
  std::vector<std::int32_t> slots((comm.all.size() + kWords - 1) / kWords * kWords);
  std::copy(comm.all.begin(), comm.all.end(), slots.begin());
  event.extension = static_cast<std::uint32_t>(slots.size() / kWords);
  write(event, slots.data());
}

void Line::tell_of_departures() {
  while (!departures_->empty()) {
    const Departure gone = departures_->take();
    events::Event event;
    event.kind = events::EventKind::kCommDefine;
    event.operation = 1;
    event.comm = gone.number;
    event.aux = gone.key;
    write(event, nullptr);
  }
}

std::uint64_t Line::region_id(const std::string& name, bool is_address) {
  const auto [place, is_new] = regions_.emplace(name, regions_.size() + 1);
  if (is_new) {
    events::Event event;
    event.kind = events::EventKind::kRegionDefine;
    event.operation = is_address ? 1 : 0;
    event.aux = place->second;
    event.size = static_cast<std::int64_t>(name.size());
    write_text(event, name);
  }
  return place->second;
}

bool Line::read(events::Answer& answer, std::vector<std::uint32_t>& words) {
  transport::Slot slot;
  while (!spoilt_ && channel_->read(slot)) {
    if (!take_slot(slot)) continue;
    answer = pending_;
    words = pending_words_;
    return true;
  }
  return false;
}

/// True when the answer is whole.
bool Line::take_slot(const transport::Slot& slot) {
  if (pending_slots_ == 0) {
    std::memcpy(&pending_, slot.bytes, sizeof(pending_));
    pending_words_.clear();
    pending_slots_ = pending_.extension;
    constexpr std::uint32_t kMost = 1U << 24U;  // a gigabyte: texts and lists of requests are far shorter
    spoilt_ = pending_slots_ > kMost;
    return pending_slots_ == 0;
  }
  constexpr std::size_t kWords = events::kSlotBytes / sizeof(std::uint32_t);
  const std::size_t at = pending_words_.size();
  pending_words_.resize(at + kWords);
  std::memcpy(pending_words_.data() + at, slot.bytes, events::kSlotBytes);
  return --pending_slots_ == 0;
}

void Line::tell_of_giving_up() {
  events::Event event;
  event.kind = events::EventKind::kOutcome;
  channel_->write(event, nullptr);
  channel_->ring();
}

void Line::nudge(RankId source) {
  if (segment_ && source.value >= 0 && !native_) transport::ring_doorbell(segment_.rank(source.value));
}

void Line::nudge(const Communicator& comm) {
  if (!segment_) return;
  for (const std::int32_t member : comm.all) {
    transport::RankBlock& block = segment_.rank(member);
    if (member != me_.value && block.native_wait.load(std::memory_order_relaxed) == 0)
      transport::ring_doorbell(block);
  }
}

bool Line::last_to_arrive(Communicator& comm) {
  const std::uint64_t call = comm.key + 0x9e3779b97f4a7c15u * comm.collectives++;
  if (!segment_ || native_) return true;
  auto& counter = segment_.header().arrivals[(call ^ (call >> 32)) % transport::kArrivalCounters];
  if (counter.fetch_add(1, std::memory_order_acq_rel) + 1 < comm.all.size()) return false;
  counter.store(0, std::memory_order_release);
  return true;
}

void Line::tell_looks(std::uint32_t looks, std::uint32_t moves) {
  channel_->write(transport::shown_looks(looks, moves), nullptr);
  channel_->ring();
}

}  // namespace nplus1::stubs
