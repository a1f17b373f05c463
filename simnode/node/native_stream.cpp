#include "simnode/node/native_stream.hpp"

#include <utility>

namespace nplus1::simnode::node {
namespace {

using events::Event;
using events::EventKind;

bool is_named(const Event& event) {
  return event.peer >= 0 && event.tag != kAnyTag;
}

}  // namespace

void NativeStream::take(RankId rank, const Event& event, const events::Extension& lists,
                        const events::Detail* detail) {
  Item item;
  item.event = event;
  item.has_detail = detail != nullptr;
  if (detail != nullptr) item.detail = *detail;
  item.words.assign(lists.words.begin(), lists.words.end());
  item.sizes.assign(lists.sizes.begin(), lists.sizes.end());
  item.ordinal = ranks_[rank.index()].events++;
  ++events_;
  add(rank, std::move(item));
}

void NativeStream::take_outcome(RankId rank, const events::Answer& answer,
                                std::vector<std::uint32_t> completed) {
  Item item;
  item.outcome = true;
  item.answer = answer;
  item.words = std::move(completed);
  add(rank, std::move(item));
}

void NativeStream::add(RankId rank, Item&& item) {
  Rank& r = ranks_[rank.index()];
  const bool free = r.waiting.empty();
  const bool sends =
      !item.outcome && (item.event.kind == EventKind::kSend || item.event.kind == EventKind::kIsend);
  if (sends) number_send(rank, item);  // others may wait for it
  if (!free || !process(rank, item)) r.waiting.push_back(std::move(item));
  if (sends) go_on();
}

/// A send's number stands in the answer from the start.
void NativeStream::number_send(RankId rank, Item& item) {
  const Event& event = item.event;
  if (event.peer < 0) return;
  item.answer.sequence = ranks_[rank.index()].sent_to[event.peer]++;
  channels_[{rank.value, event.peer, event.comm.value, event.tag}].sent.push_back(item.answer.sequence);
}

void NativeStream::go_on() {
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (!ranks_[r].waiting.empty()) [[maybe_unused]]
      const bool any = go_on(RankId{static_cast<std::int32_t>(r)});
}

bool NativeStream::go_on(RankId rank) {
  Rank& r = ranks_[rank.index()];
  bool any = false;
  while (!r.waiting.empty() && process(rank, r.waiting.front())) {
    r.waiting.pop_front();
    any = true;
  }
  return any;
}

/// False: the send of the message that it is about has not been told of.
bool NativeStream::process(RankId rank, Item& item) {
  if (!item.outcome) {
    begin(rank, item);
    return true;
  }
  return item.answer.kind == events::AnswerKind::kMatch ? match(rank, item) : end(rank, item);
}

void NativeStream::begin(RankId rank, Item& item) {
  Rank& r = ranks_[rank.index()];
  Event& event = item.event;
  if (event.has(events::kMatched)) {
    const auto taken = r.taken.find(event.aux);
    if (taken != r.taken.end()) {
      event.aux = taken->second;
      r.taken.erase(taken);
    }
    if (event.kind == EventKind::kIrecv) r.taken_later[event.request.value] = event.aux;
  } else if (event.kind == EventKind::kIrecv) {
    r.receiving[event.request.value] = event.comm;
    if (is_named(event))
      r.claims[event.request.value] = claim({event.peer, rank.value, event.comm.value, event.tag});
  } else if (event.kind == EventKind::kCancelled) {
    give_up_claim(r, event.request.value);
  }
  const std::uint16_t thread = event.thread.value;
  r.open[thread] = std::move(item);
}

NativeStream::Claim NativeStream::claim(const Key& key) {
  return {key, channels_[key].claimed++};
}

/// A receive was cancelled: what was posted behind it gets the message that would have been its own. None of those can be complete,
/// since messages of one kind do not overtake each other.
void NativeStream::give_up_claim(Rank& rank, std::uint32_t request) {
  const auto given_up = rank.claims.find(request);
  if (given_up == rank.claims.end()) return;
  const Claim claim = given_up->second;
  rank.claims.erase(given_up);
  rank.receiving.erase(request);
  --channels_[claim.key].claimed;
  for (auto& [other, later] : rank.claims)
    if (later.key == claim.key && later.index > claim.index) --later.index;
}

bool NativeStream::number(const Claim& claim, std::uint64_t& sequence) {
  constexpr std::uint64_t kTold = ~std::uint64_t{0};
  Channel& channel = channels_[claim.key];
  if (claim.index < channel.first || claim.index - channel.first >= channel.sent.size()) {
    if (!ended_) return false;
    ++unknown_;
    return true;
  }
  sequence = std::exchange(channel.sent[claim.index - channel.first], kTold);
  while (!channel.sent.empty() && channel.sent.front() == kTold) {
    channel.sent.pop_front();
    ++channel.first;
  }
  return true;
}

/// A receive's message, when it is complete.
bool NativeStream::match(RankId rank, Item& item) {
  Rank& r = ranks_[rank.index()];
  events::Answer& answer = item.answer;
  const std::uint32_t request = answer.request.value;
  const auto taken = r.taken_later.find(request);
  if (taken != r.taken_later.end()) {
    answer.sequence = taken->second;
    r.taken_later.erase(taken);
  } else {
    auto claimed = r.claims.find(request);
    if (claimed == r.claims.end())
      claimed =
          r.claims
              .emplace(request, claim({answer.source, rank.value, r.receiving[request].value, answer.tag}))
              .first;
    if (!number(claimed->second, answer.sequence)) return false;
    r.claims.erase(claimed);
    r.receiving.erase(request);
  }
  sink_.on_match(rank, answer);
  return true;
}

bool NativeStream::end(RankId rank, Item& item) {
  Rank& r = ranks_[rank.index()];
  const auto place = r.open.find(item.answer.thread.value);
  if (place == r.open.end()) return true;
  Item& call = place->second;
  events::Answer answer = item.answer;
  const Event& event = call.event;
  const bool probes = event.kind == EventKind::kProbe || event.kind == EventKind::kIprobe;
  if (event.kind == EventKind::kSend || event.kind == EventKind::kIsend) {
    answer.sequence = call.answer.sequence;
  } else if (event.has(events::kMatched)) {
    answer.sequence = event.aux;
  } else if (event.kind == EventKind::kRecv ||
             (probes && answer.flag != 0 && event.has(events::kTakesMessage))) {
    if (answer.source >= 0) {
      const std::uint64_t own = answer.sequence;
      auto claimed = r.claims.find(0);  // 0: the one of the blocking call that waits, kept over attempts
      if (claimed == r.claims.end())
        claimed = r.claims.emplace(0, claim({answer.source, rank.value, event.comm.value, answer.tag})).first;
      if (!number(claimed->second, answer.sequence)) return false;
      r.claims.erase(claimed);
      if (probes) r.taken[own] = answer.sequence;
    }
  }
  const Item done = std::move(call);
  r.open.erase(place);
  emit(rank, done, answer, answer.exit(), item.words);
  return true;
}

void NativeStream::emit(RankId rank, const Item& call, const events::Answer& answer, Time exit,
                        const std::vector<std::uint32_t>& completed) {
  sink_.on_event({rank,
                  call.event,
                  {call.words, call.sizes},
                  exit,
                  answer,
                  completed,
                  call.has_detail ? &call.detail : nullptr,
                  call.ordinal});
}

void NativeStream::finish() {
  ended_ = true;
  go_on();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (const auto& [thread, call] : ranks_[r].open) {
      const bool last = call.event.kind == EventKind::kFinalize;  // a thread that ended says nothing more
      emit(RankId{static_cast<std::int32_t>(r)}, call, events::kNoAnswer,
           last ? call.event.entry() : events::kUnfinished, {});
    }
    ranks_[r].open.clear();
  }
}

}  // namespace nplus1::simnode::node
