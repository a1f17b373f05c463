#include "simnode/engine/recorder.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace nplus1::simnode::engine {
namespace {

/// A list that was longer gives its memory back with its call, and a longer ring of calls when it is empty.
constexpr std::size_t kKeptEntries = 64;
constexpr std::size_t kKeptCalls = 1024;

template <class T>
void empty_list(std::vector<T>& list) {
  list.clear();
  if (list.capacity() > kKeptEntries) list.shrink_to_fit();
}

}  // namespace

void Recorder::Calls::pop() {
  empty_list(places_[first_].words);
  empty_list(places_[first_].sizes);
  first_ = (first_ + 1) & (places_.size() - 1);
  if (--size_ != 0 || places_.size() <= kKeptCalls) return;
  places_ = {};
  first_ = 0;
}

void Recorder::Calls::grow() {
  std::rotate(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(first_), places_.end());
  first_ = 0;
  places_.resize(std::max<std::size_t>(2, 2 * places_.size()));
}

void Recorder::pushed(RankId rank, const events::Event& event, const events::Extension& lists,
                      const events::Detail* detail) {
  Rank& r = ranks_[rank.index()];
  const std::uint64_t ordinal = r.events++;
  if (event.thread.index() >= r.open.size()) r.open.resize(event.thread.index() + 1);
  Call& call = r.open[event.thread.index()].push();
  call.event = event;
  call.ordinal = ordinal;
  call.recorded = detail != nullptr;
  if (detail == nullptr) {
    if (event.kind == events::EventKind::kIrecv) r.unrecorded.insert(event.request.value);
    return;
  }
  call.detail = *detail;
  if (!lists.words.empty()) call.words.assign(lists.words.begin(), lists.words.end());
  if (!lists.sizes.empty()) call.sizes.assign(lists.sizes.begin(), lists.sizes.end());
}

void Recorder::exited(const events::TimedEvent& event) {
  std::vector<Calls>& threads = ranks_[event.rank.index()].open;
  const std::size_t thread = event.event.thread.index();
  if (thread >= threads.size() || threads[thread].empty() ||
      threads[thread].front().event.kind != event.event.kind)
    throw std::logic_error{"a call came out of the engine that was not the next of its thread"};
  Calls& open = threads[thread];
  const Call& call = open.front();
  events::TimedEvent whole = event;
  whole.detail = call.recorded ? &call.detail : nullptr;
  whole.ordinal = call.ordinal;
  all_.on_event(whole);
  if (call.recorded) recording_.on_event(whole);
  open.pop();
}

void Recorder::matched(RankId receiver, const events::Answer& match) {
  if (ranks_[receiver.index()].unrecorded.erase(match.request.value) == 0)
    recording_.on_match(receiver, match);
}

void Recorder::finish() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (Calls& open : ranks_[r].open) {
      for (; !open.empty(); open.pop()) {
        const Call& call = open.front();
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
    }
  }
}

}  // namespace nplus1::simnode::engine
