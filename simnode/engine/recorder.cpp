#include "simnode/engine/recorder.hpp"

#include <stdexcept>

namespace nplus1::simnode::engine {

void Recorder::pushed(RankId rank, const events::Event& event, const events::Extension& lists,
                      const events::Detail* detail) {
  Rank& r = ranks_[rank.index()];
  const std::uint64_t ordinal = r.events++;
  Call& call = r.open[event.thread.value].emplace_back();
  call.event = event;
  call.ordinal = ordinal;
  call.recorded = detail != nullptr;
  if (detail == nullptr) {
    if (event.kind == events::EventKind::kIrecv) r.unrecorded.insert(event.request.value);
    return;
  }
  call.detail = *detail;
  call.words.assign(lists.words.begin(), lists.words.end());
  call.sizes.assign(lists.sizes.begin(), lists.sizes.end());
}

void Recorder::exited(const events::TimedEvent& event) {
  std::deque<Call>& open = ranks_[event.rank.index()].open[event.event.thread.value];
  if (open.empty() || open.front().event.kind != event.event.kind)
    throw std::logic_error{"a call came out of the engine that was not the next of its thread"};
  const Call& call = open.front();
  events::TimedEvent whole = event;
  whole.detail = call.recorded ? &call.detail : nullptr;
  whole.ordinal = call.ordinal;
  all_.on_event(whole);
  if (call.recorded) recording_.on_event(whole);
  open.pop_front();
}

void Recorder::matched(RankId receiver, const events::Answer& match) {
  if (ranks_[receiver.index()].unrecorded.erase(match.request.value) == 0)
    recording_.on_match(receiver, match);
}

void Recorder::finish() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (auto& [thread, open] : ranks_[r].open) {
      for (const Call& call : open) {
        const events::TimedEvent unfinished{RankId{static_cast<std::int32_t>(r)},
                                            call.event,
                                            {call.words, call.sizes},
                                            events::kUnfinished,
                                            events::kNoAnswer,
                                            {},
                                            call.recorded ? &call.detail : nullptr,
                                            call.ordinal};
        all_.on_event(unfinished);
        if (call.recorded) recording_.on_event(unfinished);
      }
      open.clear();
    }
  }
}

}  // namespace nplus1::simnode::engine
