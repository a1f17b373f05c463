#include "simnode/engine/calls.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "events/clock_question.hpp"
#include "events/thread_change.hpp"
#include "simnode/engine/agenda.hpp"
#include "simnode/engine/collective_calls.hpp"
#include "simnode/engine/completions.hpp"
#include "simnode/engine/files.hpp"
#include "simnode/engine/one_sided.hpp"
#include "simnode/engine/point_to_point.hpp"
#include "simnode/engine/probes.hpp"
#include "simnode/engine/progress.hpp"
#include "simnode/engine/threads.hpp"
#include "simnode/engine/turns.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

namespace {

/// No clock goes further: that leaves room for adding a time to it. 53 days.
constexpr Time kEndOfTime{Duration{(std::int64_t{1} << 62U) - 1}};

[[noreturn]] void reject(Time clock) {
  throw std::invalid_argument("a call ends after " + std::to_string(clock.time_since_epoch().count()) +
                              " ps, beyond the virtual time that there is");
}

}  // namespace

Calls::Calls(const Parts& parts)
    : lanes_{parts.lanes},
      turns_{parts.turns},
      agenda_{parts.agenda},
      threads_{parts.threads},
      point_to_point_{parts.point_to_point},
      completions_{parts.completions},
      probes_{parts.probes},
      collectives_{parts.collectives},
      one_sided_{parts.one_sided},
      files_{parts.files},
      progress_{parts.progress},
      listener_{parts.listener},
      counters_{parts.counters},
      trust_entry_{parts.options.trust_entry},
      weak_progress_{parts.options.weak_progress} {}

void Calls::push(RankId rank, const events::Event& event, const events::Extension& extension) {
  Lane& lane = lanes_.of(rank, event.thread);
  if (!events::is_clock_question(event)) ++counters_.events;
  const Rank& home = lanes_.rank_of(lane);
  const bool plain = lane.run == Run::kRunning && !lane.waits_turn && !home.withdrawn && !home.order &&
                     event.kind != EventKind::kLocal;
  if (!plain && put_off(lane, event, extension)) return;
  lane.unheard = events::is_thread_change(event, events::ThreadChange::kStart);
  start(lane, event, extension);
  drain();
}

/// Whether the event is not for now: kept until its lane goes on, or its thread's turn comes; or its rank is gone.
bool Calls::put_off(Lane& lane, const events::Event& event, const events::Extension& extension) {
  Rank& home = lanes_.rank_of(lane);
  if (home.withdrawn) lanes_.is_back(home);
  if (lane.run == Run::kGone) return true;
  if (lane.run == Run::kBlocked) threads_.end_idling(lane, event);
  if (lane.run == Run::kBlocked || lane.waits_turn) {
    turns_.keep(lane, event, extension);
    return true;
  }
  if (lane.run == Run::kSilent) lanes_.set_run(lane, Run::kRunning);
  if (events::is_thread_change(event, events::ThreadChange::kStart)) {
    Lane* const creator = threads_.creator_of(lane, event);
    if (creator != nullptr && (creator->run == Run::kBlocked || creator->waits_turn)) {
      lane.unheard = true;
      block(lane, event, {});
      turns_.put_by(*creator, event, {});
      return true;
    }
  }
  if (!home.order || !home.order->holds(lanes_.index_of(lane), event, extension.words)) return false;
  lane.unheard = events::is_thread_change(event, events::ThreadChange::kStart);
  turns_.set_waits(lane, true);
  turns_.keep(lane, event, extension);
  return true;
}

void Calls::drain() {
  if (lanes_.any_kept_calls() || progress_.any_stirred()) drain_all();
}

void Calls::drain_all() {
  for (;;) {
    if (progress_.any_stirred()) progress_.stir();
    if (!lanes_.any_kept_calls()) return;
    Lane& lane = lanes_.take_one_with_kept_calls();
    carry_out_kept(lane);
    if (lane.run == Run::kRunning && !lane.waits_turn) lanes_.woke(lane);
  }
}

void Calls::carry_out_kept(Lane& lane) {
  while (!lane.backlog.empty() && lane.run != Run::kBlocked && lane.run != Run::kGone) {
    if (turns_.waits(lane)) return;
    events::Event event = lane.backlog.pop(lane.words, lane.sizes);
    turns_.took(lane, event);
    if (event.thread != lane.thread) {
      threads_.bear(lanes_.of(lane.rank, event.thread), event);
      continue;
    }
    if (is_send(event)) point_to_point_.has_number(std::exchange(event.aux, 0));
    start(lane, event, {lane.words, lane.sizes});
  }
}

void Calls::start(Lane& lane, const events::Event& event, const events::Extension& extension) {
  lane.entry = entry_of(lane, event);
  scratch_.reset();
  scratch_.exit = lane.entry;
  if (dispatch(lane, event, extension, scratch_)) finish(lane, event, extension, scratch_);
}

Time Calls::entry_of(Lane& lane, const events::Event& event) {
  const Time computed = lane.clock + event.compute();
  switch (event.kind) {
    case EventKind::kCommDefine:
    case EventKind::kSiteDefine:
    case EventKind::kRegionDefine:
    case EventKind::kNone:
      return lane.clock;
    case EventKind::kLocal:
      if (events::is_thread_change(event, events::ThreadChange::kStart))
        return threads_.start(lane, event, computed);
      break;
    default:
      break;
  }
  if (lane.fresh_clock) [[unlikely]] {
    lane.fresh_clock = false;
    return std::max(computed, event.entry());
  }
  const bool unknown =
      event.entry_ps == 0;  // to its rank: it follows a call of which no answer was asked for
  if (!trust_entry_ || unknown || event.entry() == computed) return computed;
  if (event.kind == EventKind::kUnmodelledExit) return std::max(computed, event.entry());
  ++counters_.clock_mismatches;
  return std::max(computed, event.entry());
}

/// Carries out a call; false if its lane is blocked in it, or was and has been resumed.
bool Calls::dispatch(Lane& lane, const events::Event& event, const events::Extension& extension,
                     Outcome& out) {
  switch (event.kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
      return point_to_point_.send(lane, event, out);
    case EventKind::kRecv:
    case EventKind::kIrecv:
      return point_to_point_.receive(lane, event, out);
    case EventKind::kWait:
    case EventKind::kTest:
      return completions_.wait(lane, event, extension, out);
    case EventKind::kProbe:
    case EventKind::kIprobe:
      return probes_.probe(lane, event, out);
    case EventKind::kCancelled:
      return point_to_point_.cancelled(lane, event, out);
    case EventKind::kRequestFree:
      return completions_.free(lane, event, out);
    case EventKind::kCollective:
    case EventKind::kIcollective:
      return collectives_.enter(lane, event, extension, out);
    case EventKind::kOneSided:
      return one_sided_.transfer(lane, event, out);
    case EventKind::kWindowSync:
      return one_sided_.synchronise(lane, event, extension, out);
    case EventKind::kFileAccess:
      files_.access(lane, event, out);
      return false;
    case EventKind::kUnmodelledEnter:
      lane.current = event;
      lanes_.set_run(lane, Run::kOutside);
      return true;
    case EventKind::kUnmodelledExit:
      lanes_.set_run(lane, Run::kRunning);
      return true;
    case EventKind::kLocal:
      return threads_.change(lane, event, out);
    default:
      return true;
  }
}

void Calls::block(Lane& lane, const events::Event& event, const events::Extension& extension) {
  lane.current = event;
  lane.current.entry_ps = lane.entry.time_since_epoch().count();
  if (extension.words.data() != lane.words.data())
    lane.words.assign(extension.words.begin(), extension.words.end());
  if (extension.sizes.data() != lane.sizes.data())
    lane.sizes.assign(extension.sizes.begin(), extension.sizes.end());
  lanes_.set_run(lane, Run::kBlocked);
  if (weak_progress_) progress_.is_inside(lane);
}

void Calls::resume(Lane& lane, Outcome& out) {
  if (lane.run != Run::kBlocked) return;  // its rank died
  lanes_.set_run(lane, Run::kRunning);
  finish(lane, lane.current, {lane.words, lane.sizes}, out);
  if (lane.backlog.empty())
    lanes_.woke(lane);
  else
    lanes_.has_kept_calls(lanes_.index_of(lane));
}

void Calls::finish(Lane& lane, const events::Event& event, const events::Extension& extension, Outcome& out) {
  if (out.exit > kEndOfTime) [[unlikely]]
    reject(out.exit);
  lane.clock = out.exit;
  if (weak_progress_) progress_.was_inside(lane, event.kind, out.exit);
  out.answer.kind = events::AnswerKind::kExit;
  out.answer.thread = lane.thread;
  out.answer.exit_ps = out.exit.time_since_epoch().count();
  const std::int64_t entry = lane.entry.time_since_epoch().count();
  if (event.entry_ps == entry) {
    listener_.on_exit({lane.rank, event, extension, out.exit, out.answer, out.completed});
  } else {
    events::Event corrected = event;
    corrected.entry_ps = entry;
    listener_.on_exit({lane.rank, corrected, extension, out.exit, out.answer, out.completed});
  }
  if (event.kind == EventKind::kFinalize) leave(lane);
}

/// Thread 0 takes the rank with it: MPI_Finalize is its last call.
void Calls::leave(Lane& lane) {
  if (lane.thread.value == 0) {
    threads_.dismiss(lane);
    return rank_gone(lane.rank);
  }
  lanes_.set_run(lane, Run::kGone);
  threads_.release_joiners(lane);
}

void Calls::rank_gone(RankId rank) {
  Rank& gone = lanes_.rank_of(rank);
  lanes_.no_longer_withdrawn(gone);
  for (const std::uint32_t i : gone.lanes) {
    if (i == kNoLane) continue;
    agenda_.drop(lanes_[i]);
    turns_.set_waits(lanes_[i], false);
    lanes_.set_run(lanes_[i], Run::kGone);
  }
}

}  // namespace nplus1::simnode::engine
