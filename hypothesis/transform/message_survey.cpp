#include "hypothesis/transform/message_survey.hpp"

#include <algorithm>

#include "events/mpi_call.hpp"
#include "support/time_sum.hpp"

namespace nplus1::hypothesis::transform {

using events::EventKind;

std::size_t MessageSurvey::KeyHash::operator()(const Key& key) const {
  const std::uint64_t pair = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32U |
                             static_cast<std::uint32_t>(key.destination);
  return static_cast<std::size_t>((pair * 0x9e3779b97f4a7c15U) ^ (key.sequence * 0xbf58476d1ce4e5b9U));
}

bool is_half(const events::Event& event) {
  return (event.kind == EventKind::kIsend || event.kind == EventKind::kIrecv) &&
         event.call == static_cast<std::uint16_t>(events::MpiCall::MPI_Sendrecv);
}

bool is_wait_for_both(const events::Event& event) {
  return event.kind == EventKind::kWait &&
         event.call == static_cast<std::uint16_t>(events::MpiCall::MPI_Sendrecv);
}

std::uint64_t content_of(const events::Event& event, const events::Detail* detail) {
  constexpr int kWhole = events::kHasCrc | events::kHasPolynomial | events::kHasPayload;
  if (detail == nullptr || (detail->content & kWhole) == 0) return 0;
  std::uint64_t hash = static_cast<std::uint64_t>(event.size) + 1;
  const auto add = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  };
  add(detail->prefix);
  add(detail->crc);
  add(detail->polynomial);
  if ((detail->content & events::kHasPayload) != 0)
    for (const std::uint64_t word : detail->excerpt) add(word);
  return std::max<std::uint64_t>(hash, 1);
}

std::uint64_t MessageSurvey::of_request(std::int32_t rank, std::uint32_t request) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(rank)) << 32U | request;
}

MessageCalls& MessageSurvey::message(const Key& key) {
  MessageCalls& m = messages_[key];
  m.source = key.source;
  m.destination = key.destination;
  m.sequence = key.sequence;
  return m;
}

Duration MessageSurvey::computed(std::int32_t rank) const {
  return computed_[static_cast<std::size_t>(rank)];
}

void MessageSurvey::on_event(const events::TimedEvent& timed) {
  if (timed.rank.index() >= computed_.size()) computed_.resize(timed.rank.index() + 1);
  sum_up(computed_[timed.rank.index()], std::max(Duration{}, timed.event.compute()));
  switch (timed.event.kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
      return sent(timed);
    case EventKind::kRecv:
    case EventKind::kIrecv:
      return received(timed);
    case EventKind::kProbe:
    case EventKind::kIprobe:
      return probed(timed);
    case EventKind::kWait:
    case EventKind::kTest:
      return completed(timed);
    case EventKind::kCancelled:
      requests_.erase(of_request(timed.rank.value, timed.event.request.value));
      return;
    case EventKind::kRequestFree:
      return complete(timed.rank.value, timed.event.request.value, timed.ordinal);
    default:
      return;
  }
}

void MessageSurvey::sent(const events::TimedEvent& timed) {
  const events::Event& event = timed.event;
  if (event.peer < 0 || timed.exit == events::kUnfinished) return;
  const Key key{timed.rank.value, event.peer, timed.answer.sequence};
  MessageCalls& m = message(key);
  m.tag = event.tag;
  m.comm = event.comm.value;
  m.size = event.size;
  m.send_site = event.site.value;
  m.sent = timed.ordinal;
  m.computed_sent = computed(timed.rank.value);
  m.content = content_of(event, timed.detail);
  m.send_blocks = event.kind == EventKind::kSend;
  m.send_is_half = is_half(event);
  report_if_whole(key);
}

void MessageSurvey::received(const events::TimedEvent& timed) {
  const events::Event& event = timed.event;
  if (event.kind == EventKind::kIrecv) {
    if (event.peer != kProcNull.value)
      requests_[of_request(timed.rank.value, event.request.value)] = {
          timed.ordinal, event.site.value, false, {}, is_half(event)};
    return;
  }
  if (timed.exit == events::kUnfinished || timed.answer.source < 0) return;
  const Key key{timed.answer.source, timed.rank.value, timed.answer.sequence};
  MessageCalls& m = message(key);
  m.receive_site = event.site.value;
  m.posted = m.completed = timed.ordinal;
  m.receive_blocks = true;
  m.computed_received = computed(timed.rank.value);
  report_if_whole(key);
}

void MessageSurvey::on_match(RankId receiver, const events::Answer& match) {
  const auto posted = requests_.find(of_request(receiver.value, match.request.value));
  if (posted == requests_.end() || match.source < 0) return;
  Posted& request = posted->second;
  request.matched = true;
  request.message = {match.source, receiver.value, match.sequence};
  MessageCalls& m = message(request.message);
  m.receive_site = request.site;
  m.posted = request.ordinal;
  m.request = match.request.value;
  m.receive_is_half = request.is_half;
}

void MessageSurvey::probed(const events::TimedEvent& timed) {
  const bool found =
      timed.event.kind == EventKind::kProbe ? timed.exit != events::kUnfinished : timed.answer.flag != 0;
  const events::Event& event = timed.event;
  auto& vain = vain_[timed.rank.value];
  if (!found) {
    vain.push_back({event.peer, event.tag, event.comm.value, timed.ordinal});
    return;
  }
  if (timed.answer.source < 0) return;
  auto& probes = message({timed.answer.source, timed.rank.value, timed.answer.sequence}).probes;
  // Without the message nobody would wait for it: the time that a program polls is no computing of its own.
  std::erase_if(vain, [&](const Vain& v) {
    const bool same = v.source == event.peer && v.tag == event.tag && v.comm == event.comm.value;
    if (same) probes.push_back(v.ordinal);
    return same;
  });
  probes.push_back(timed.ordinal);
}

void MessageSurvey::completed(const events::TimedEvent& timed) {
  const bool test = timed.event.kind == EventKind::kTest;
  if (timed.exit == events::kUnfinished || (test && timed.answer.flag == 0) ||
      timed.event.has(events::kKeepsRequests))
    return;
  const auto ids = timed.extension.words;
  if (timed.event.completion_mode() == events::CompletionMode::kAll) {
    for (const std::uint32_t id : ids) complete(timed.rank.value, id, timed.ordinal);
    return;
  }
  for (const std::uint32_t position : timed.completed)
    if (position < ids.size()) complete(timed.rank.value, ids[position], timed.ordinal);
}

void MessageSurvey::complete(std::int32_t rank, std::uint32_t request, std::uint64_t ordinal) {
  const auto posted = requests_.find(of_request(rank, request));
  if (posted == requests_.end()) return;
  const Posted done = posted->second;
  requests_.erase(posted);
  if (!done.matched) return;
  MessageCalls& m = message(done.message);
  m.completed = ordinal;
  m.computed_received = computed(rank);
  report_if_whole(done.message);
}

void MessageSurvey::report_if_whole(const Key& key) {
  const auto found = messages_.find(key);
  const MessageCalls& m = found->second;
  if (m.sent == MessageCalls::kNone || m.completed == MessageCalls::kNone) return;
  found_(m);
  messages_.erase(found);
}

void MessageSurvey::finish() {
  for (const auto& [key, message] : messages_)
    if (message.sent != MessageCalls::kNone) found_(message);
  messages_.clear();
  requests_.clear();
}

void Marks::set(std::int32_t rank, std::uint64_t ordinal) {
  const auto r = static_cast<std::size_t>(rank);
  if (r >= words_.size()) words_.resize(r + 1);
  words_[r][ordinal / 64] |= std::uint64_t{1} << (ordinal % 64);
}

bool Marks::has(RankId rank, std::uint64_t ordinal) const {
  if (rank.index() >= words_.size()) return false;
  const auto word = words_[rank.index()].find(ordinal / 64);
  return word != words_[rank.index()].end() && (word->second >> (ordinal % 64) & 1U) != 0;
}

}  // namespace nplus1::hypothesis::transform
