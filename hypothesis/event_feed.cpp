#include "hypothesis/event_feed.hpp"

#include <algorithm>
#include <cmath>

#include "hypothesis/recorded_decisions.hpp"

namespace nplus1::hypothesis {
namespace {

using events::Event;
using events::EventKind;
using simnode::engine::State;

/// So many calls of a rank wait for one that is earlier, or for a match; then they go on without.
constexpr std::size_t kMostHeld = 4096;
/// Of a rank of which one thread is known: another thread's first call is seldom decided so much later, and
/// recordings of parts of a program have a gap for each part that was left out.
constexpr std::size_t kMostHeldOfOneThread = 64;
/// Deciding costs a look at all that is undecided: once in a while is enough.
constexpr std::uint64_t kPushesPerDecision = 256;

Duration scaled(Duration compute, double scale) {
  if (scale == 1) return compute;
  return Duration{std::llround(static_cast<double>(compute.count()) * scale)};
}

}  // namespace

EventFeed::EventFeed(std::size_t ranks, simnode::engine::Engine& engine,
                     simnode::engine::Recorder* recorder, events::EventSink* definitions,
                     const Options& options)
    : engine_{engine},
      recorder_{recorder},
      definitions_{definitions},
      options_{options},
      ranks_(ranks),
      costs_(ranks),
      communicators_(1, true) {}

void EventFeed::on_event(const events::TimedEvent& recorded) {
  Event event = recorded.event;
  events::Extension lists = recorded.extension;
  const bool begins_thread = reset_clock(recorded, event);
  if (options_.repeat_decisions) repeat_decision(recorded, event, lists, words_);
  Rank& rank = ranks_[recorded.rank.index()];
  if (event.kind == EventKind::kCancelled) stop_awaiting(rank, event.request, nullptr);
  const bool waits = options_.repeat_decisions && awaits_match(event);
  if (recorded.ordinal < rank.next || (recorded.ordinal == rank.next && rank.held.empty() && !waits)) {
    rank.next = std::max(rank.next, recorded.ordinal + 1);
    return push(recorded.rank, event, lists, recorded.detail, begins_thread);
  }
  hold(recorded.rank, recorded, event, lists, begins_thread);
  release(recorded.rank, false);
}

/// Takes the recorded network out of the call's times. Whether it is the first of a thread that started later:
/// its entry is then where its clock began, as seen from the first thread's where that may have moved.
bool EventFeed::reset_clock(const events::TimedEvent& recorded, Event& event) {
  Rank& rank = ranks_[recorded.rank.index()];
  RankCosts& costs = costs_[recorded.rank.index()];
  if (event.thread.index() >= rank.lanes.size()) rank.lanes.resize(event.thread.index() + 1);
  Lane& lane = rank.lanes[event.thread.index()];
  // What a call that is not modelled took is no compute time, and does not scale.
  if (event.kind == EventKind::kUnmodelledExit) event.compute_ps = 0;
  const Duration compute = scaled(event.compute(), options_.compute_scale[recorded.rank.index()]);
  const Duration jump = event.entry() - lane.last_exit - event.compute();
  const bool first = !lane.seen;
  lane.seen = true;
  costs.threads += first ? 1 : 0;
  if (recorded.exit != events::kUnfinished) {
    lane.last_exit = recorded.exit;
    costs.recorded_end = std::max(costs.recorded_end, recorded.exit);
  }
  costs.compute += compute;
  if (first && event.thread.value != 0) {
    const Time begin = event.entry() - event.compute();
    const Time base = options_.repeat_decisions ? rank.lanes.front().last_exit : kTimeZero;
    event.entry_ps = (begin - base).count();
    event.compute_ps = compute.count();
    return true;
  }
  const Duration unexplained = std::max(jump, Duration::zero());
  costs.unexplained += unexplained;
  event.compute_ps = (compute + unexplained).count();
  event.entry_ps = 0;  // the engine's own: last exit plus compute
  return false;
}

void EventFeed::hold(RankId rank, const events::TimedEvent& recorded, const Event& event,
                     const events::Extension& lists, bool begins_thread) {
  Rank& r = ranks_[rank.index()];
  Call& call = r.held[recorded.ordinal];
  call.event = event;
  call.has_detail = recorded.detail != nullptr;
  if (call.has_detail) call.detail = *recorded.detail;
  call.awaits_match = options_.repeat_decisions && awaits_match(event);
  call.begins_thread = begins_thread;
  call.words.assign(lists.words.begin(), lists.words.end());
  call.sizes.assign(lists.sizes.begin(), lists.sizes.end());
  if (call.awaits_match) r.awaited[event.request.value] = recorded.ordinal;
}

void EventFeed::on_match(RankId receiver, const events::Answer& match) {
  Rank& rank = ranks_[receiver.index()];
  if (rank.awaited.empty()) return;
  stop_awaiting(rank, match.request, &match);
  release(receiver, false);
}

/// The source of a held receive is known, or will never be.
void EventFeed::stop_awaiting(Rank& rank, RequestId request, const events::Answer* match) {
  const auto awaited = rank.awaited.find(request.value);
  if (awaited == rank.awaited.end()) return;
  const auto held = rank.held.find(awaited->second);
  rank.awaited.erase(awaited);
  if (held == rank.held.end()) return;
  held->second.awaits_match = false;
  if (match == nullptr) return;
  held->second.event.peer = match->source;
  held->second.event.tag = match->tag;
}

/// What need not wait any more goes on; `all`: nothing more will come.
void EventFeed::release(RankId rank, bool all) {
  Rank& r = ranks_[rank.index()];
  while (!r.held.empty()) {
    const auto first = r.held.begin();
    const bool gap = first->first > r.next;
    const std::size_t patience = gap && r.lanes.size() == 1 ? kMostHeldOfOneThread : kMostHeld;
    if ((gap || first->second.awaits_match) && !all && r.held.size() <= patience) return;
    gaps_ += gap ? 1 : 0;
    r.next = std::max(r.next, first->first + 1);
    const Call call = std::move(first->second);
    r.held.erase(first);
    if (call.awaits_match) r.awaited.erase(call.event.request.value);
    push(rank, call.event, {call.words, call.sizes}, call.has_detail ? &call.detail : nullptr,
         call.begins_thread);
  }
}

void EventFeed::push(RankId rank, Event event, const events::Extension& lists, const events::Detail* detail,
                     bool begins_thread) {
  if (begins_thread) {
    const Time base = options_.repeat_decisions ? engine_.clock(rank, ThreadId{0}) : kTimeZero;
    const Time begin = std::max(kTimeZero, base + Duration{event.entry_ps});
    event.entry_ps = (begin + event.compute()).time_since_epoch().count();
  }
  Rank& r = ranks_[rank.index()];
  if (event.kind == EventKind::kFinalize && event.thread.value == 0 && r.lanes.size() > 1 && !ended_) {
    r.finalize = event;  // it ends the rank, and calls of its threads may still be undecided
    if (detail != nullptr) r.finalize_detail = *detail;
    return;
  }
  r.finalized = r.finalized || (event.kind == EventKind::kFinalize && event.thread.value == 0);
  if (recorder_ != nullptr) recorder_->pushed(rank, event, lists, detail);
  engine_.push(rank, event, lists);
  if (++pushed_ % kPushesPerDecision == 0) settle();
}

void EventFeed::settle() {
  engine_.decide();
  while (engine_.state() == State::kAllBlocked && engine_.release_rendezvous()) engine_.decide();
}

void EventFeed::finish() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) release(RankId{static_cast<std::int32_t>(r)}, true);
  ended_ = true;
  settle();
  withdraw_ended();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const Rank& rank = ranks_[r];
    if (rank.finalize)
      push(RankId{static_cast<std::int32_t>(r)}, *rank.finalize, {},
           rank.finalize_detail ? &*rank.finalize_detail : nullptr, false);
  }
  withdraw_ended();
}

/// The end of a stream is no reason for others to wait.
void EventFeed::withdraw_ended() {
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (!ranks_[r].finalized) engine_.withdraw(RankId{static_cast<std::int32_t>(r)});
  settle();
}

void EventFeed::on_communicator(const events::Communicator& communicator) {
  if (definitions_ != nullptr) definitions_->on_communicator(communicator);
  const std::size_t id = communicator.id.index();
  if (id >= communicators_.size()) communicators_.resize(id + 1, false);
  if (communicators_[id]) return;
  communicators_[id] = true;
  const auto middle = communicator.members.begin() + static_cast<std::ptrdiff_t>(communicator.first_group);
  if (communicator.first_group == 0)
    engine_.define_communicator(communicator.id, communicator.members);
  else
    engine_.define_communicator(communicator.id, {communicator.members.begin(), middle},
                                {middle, communicator.members.end()});
}

void EventFeed::on_call_path(const events::CallPath& path) {
  if (definitions_ != nullptr) definitions_->on_call_path(path);
}
void EventFeed::on_region(const events::Region& region) {
  if (definitions_ != nullptr) definitions_->on_region(region);
}
void EventFeed::on_datatype(const events::Datatype& datatype) {
  if (definitions_ != nullptr) definitions_->on_datatype(datatype);
}

}  // namespace nplus1::hypothesis
