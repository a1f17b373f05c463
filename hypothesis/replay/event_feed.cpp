#include "hypothesis/replay/event_feed.hpp"

#include <algorithm>

#include "events/limits.hpp"
#include "events/thread_change.hpp"
#include "hypothesis/recorded/decisions.hpp"

namespace nplus1::hypothesis {
namespace {

using events::difference_within;
using events::Event;
using events::EventKind;
using events::sum_within;
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
  return events::rounded_within(static_cast<double>(compute.count()) * scale);
}

}  // namespace

EventFeed::EventFeed(std::size_t ranks, simnode::engine::Engine& engine, simnode::engine::Recorder* recorder,
                     events::EventSink* definitions, const Options& options)
    : engine_{engine},
      recorder_{recorder},
      definitions_{definitions},
      options_{options},
      ranks_(ranks),
      costs_(ranks),
      communicators_(1, true) {
  if (options_.adapt_decisions)
    adapted_ = std::make_unique<AdaptedCalls>(ranks, [this](RankId rank, const RecordedCall& call) {
      make(rank, call.event, {call.words, call.sizes}, call.detail_or_null());
    });
}

/// Nearly every call goes straight on to the engine: only what has to wait, or may be adapted, is kept.
void EventFeed::on_event(const events::TimedEvent& recorded) {
  Event event = recorded.event;
  events::Extension lists = recorded.extension;
  const bool begins_thread = reset_clock(recorded, event);
  if (options_.repeat_decisions) repeat_decision(recorded, event, lists, words_);
  Rank& rank = ranks_[recorded.rank.index()];
  if (event.kind == EventKind::kCancelled) stop_awaiting(rank, event.request, nullptr);
  const bool awaits = options_.repeat_decisions && awaits_match(event);
  const bool in_turn =
      recorded.ordinal < rank.next || (recorded.ordinal == rank.next && rank.held.empty() && !awaits);
  if (in_turn) rank.next = std::max(rank.next, recorded.ordinal + 1);
  if (in_turn && !adapted_ && event.kind != EventKind::kFinalize) {
    place(recorded.rank, event, begins_thread);
    make(recorded.rank, event, lists, recorded.detail);
    return settle_at_times();
  }
  events::TimedEvent kept = recorded;
  if (recorder_ == nullptr) kept.detail = nullptr;  // nobody asks for it
  call_.assign(kept);
  call_.event = event;
  if (lists.words.data() != recorded.extension.words.data())
    call_.words.assign(lists.words.begin(), lists.words.end());
  call_.awaits_match = awaits;
  call_.begins_thread = begins_thread;
  if (in_turn) return push(recorded.rank, call_);
  hold(recorded.rank, recorded.ordinal, call_);
  release(recorded.rank, false);
}

/// Takes the recorded network out of the call's times. Whether it is the first of a thread that started
/// later: its entry is then where its clock began, as seen from the first thread's where that may have moved.
bool EventFeed::reset_clock(const events::TimedEvent& recorded, Event& event) {
  Rank& rank = ranks_[recorded.rank.index()];
  RankCosts& costs = costs_[recorded.rank.index()];
  if (event.thread.index() >= rank.lanes.size()) rank.lanes.resize(event.thread.index() + 1);
  Lane& lane = rank.lanes[event.thread.index()];
  // What a call that is not modelled took is no compute time, and does not scale.
  if (event.kind == EventKind::kUnmodelledExit) event.compute_ps = 0;
  const Duration compute = scaled(event.compute(), options_.compute_scale[recorded.rank.index()]);
  const Duration entry = event.entry().time_since_epoch();
  const Duration begin = difference_within(entry, event.compute());  // of the computing
  const Duration jump = difference_within(begin, lane.last_exit.time_since_epoch());
  const bool first = !lane.seen;
  lane.seen = true;
  costs.threads += first ? 1 : 0;
  if (recorded.exit != events::kUnfinished) {
    lane.last_exit = recorded.exit;
    costs.recorded_end = std::max(costs.recorded_end, recorded.exit);
  }
  costs.compute = sum_within(costs.compute, compute);
  if (first && event.thread.value != 0) {
    const Time base = options_.repeat_decisions ? rank.lanes.front().last_exit : kTimeZero;
    event.entry_ps = difference_within(begin, base.time_since_epoch()).count();
    event.compute_ps = compute.count();
    return true;
  }
  const Duration unexplained = std::max(jump, Duration::zero());
  costs.unexplained = sum_within(costs.unexplained, unexplained);
  event.compute_ps = sum_within(compute, unexplained).count();
  event.entry_ps = 0;  // the engine's own: last exit plus compute
  return false;
}

void EventFeed::hold(RankId rank, std::uint64_t ordinal, const Call& call) {
  Rank& r = ranks_[rank.index()];
  r.held[ordinal] = call;
  if (call.awaits_match) r.awaited[call.event.request.value] = ordinal;
}

void EventFeed::on_match(RankId receiver, const events::Answer& match) {
  if (adapted_) adapted_->met(receiver, match);
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
    Call call = std::move(first->second);
    r.held.erase(first);
    if (call.awaits_match) r.awaited.erase(call.event.request.value);
    push(rank, call);
  }
}

/// The last that is done to a call before it is made.
void EventFeed::place(RankId rank, Event& event, bool begins_thread) {
  if (begins_thread) {
    const Time base = options_.repeat_decisions ? engine_.clock(rank, ThreadId{0}) : kTimeZero;
    const Duration begin =
        std::max(Duration::zero(), sum_within(base.time_since_epoch(), Duration{event.entry_ps}));
    event.entry_ps = sum_within(begin, event.compute()).count();
  }
  Rank& r = ranks_[rank.index()];
  using events::ThreadChange;
  const bool joins = events::is_thread_change(event, ThreadChange::kJoin);
  if ((joins || events::is_thread_change(event, ThreadChange::kFork)) && event.tag >= 0 &&
      static_cast<std::size_t>(event.tag) < r.lanes.size())
    r.lanes[static_cast<std::size_t>(event.tag)].joined = joins;
}

void EventFeed::push(RankId rank, Call& call) {
  Event& event = call.event;
  place(rank, event, call.begins_thread);
  Rank& r = ranks_[rank.index()];
  const auto may_go_on = [](const Lane& lane) { return lane.seen && !lane.joined; };
  if (event.kind == EventKind::kFinalize && event.thread.value == 0 && !ended_ &&
      std::any_of(r.lanes.begin() + 1, r.lanes.end(), may_go_on)) {
    r.finalize = call;  // it ends the rank, and calls of its threads may still be undecided
    return;
  }
  r.finalized = r.finalized || (event.kind == EventKind::kFinalize && event.thread.value == 0);
  if (adapted_)
    adapted_->take(rank, call);
  else
    make(rank, event, {call.words, call.sizes}, call.detail_or_null());
  settle_at_times();
}

void EventFeed::make(RankId rank, const Event& event, const events::Extension& lists,
                     const events::Detail* detail) {
  if (recorder_ != nullptr) recorder_->pushed(rank, event, lists, detail);
  engine_.push(rank, event, lists);
}

void EventFeed::settle_at_times() {
  if (++pushed_ % kPushesPerDecision == 0) settle();
}

void EventFeed::came_out(const events::TimedEvent& event) {
  if (adapted_) adapted_->came_out(event);
}

void EventFeed::met(RankId receiver, const events::Answer& match) {
  if (adapted_) adapted_->met(receiver, match);
}

/// Decides what can be, until nobody has anything to do any more.
void EventFeed::settle() {
  do {
    engine_.decide();
    while (engine_.state() == State::kAllBlocked && engine_.release_rendezvous()) engine_.decide();
  } while (adapted_ && go_on());
}

bool EventFeed::go_on() {
  bool any = false;
  while (adapted_->go_on()) any = true;
  return any;
}

void EventFeed::finish() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) release(RankId{static_cast<std::int32_t>(r)}, true);
  ended_ = true;
  settle();
  withdraw_ended();
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    if (rank.finalize) push(RankId{static_cast<std::int32_t>(r)}, *rank.finalize);
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
