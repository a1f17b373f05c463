#include "simnode/engine/core.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "events/thread_change.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;

namespace {

/// Whether its rank sleeps until something is decided; a collective's last member speaks up by itself.
bool asks(const events::Event& event) {
  return event.has(events::kNeedsAnswer) && event.kind != EventKind::kCollective;
}

bool is_send(const events::Event& event) {
  return event.kind == EventKind::kSend || event.kind == EventKind::kIsend;
}

std::unique_ptr<Contention> contention_of(const netmodel::NetworkModel& network) {
  if (network.contention_free()) return nullptr;
  auto flows = network.flows();
  if (!flows) throw std::invalid_argument("network '" + network.describe() + "' tells the protocol only");
  return std::make_unique<Contention>(std::move(flows));
}

}  // namespace

std::optional<netmodel::LinkUsage> Core::link_usage() const {
  return contention_ ? contention_->flows().link_usage() : std::nullopt;
}

Core::Core(int ranks, const netmodel::NetworkModel& network, Listener& listener, Options options)
    : network_{network},
      listener_{listener},
      options_{options},
      contention_{contention_of(network)},
      latency_{contention_ ? Duration{} : network.minimum_latency()},
      collectives_{network, options.collectives, contention_.get()} {
  const auto n = static_cast<std::size_t>(ranks);
  ranks_.reserve(n);
  lanes_.reserve(n);
  std::vector<RankId> world;
  for (std::int32_t r = 0; r < ranks; ++r) {
    world.emplace_back(r);
    ranks_.emplace_back(latency_);
    add_lane(RankId{r}, ThreadId{0});
  }
  if (options.watch_links && contention_) contention_->flows().watch_links();
  collectives_.define(CommId{0}, std::move(world), 0);
}

void Core::reject(RankId rank) const {
  throw std::invalid_argument("event names rank " + std::to_string(rank.value) + " of a world of " +
                              std::to_string(ranks_.size()));
}

void Core::reject(Time clock) {
  throw std::invalid_argument("a call ends after " + std::to_string(clock.time_since_epoch().count()) +
                              " ps, beyond the virtual time that there is");
}

Lane& Core::add_lane(RankId rank, ThreadId thread) {
  const auto index = static_cast<std::uint32_t>(lanes_.size());
  Lane& lane = lanes_.emplace_back();
  lane.rank = rank;
  lane.thread = thread;
  lane.poll = options_.poll_cost;
  std::vector<std::uint32_t>& lanes = ranks_[rank.index()].lanes;
  Rank& home = ranks_[rank.index()];
  if (!home.order && !lanes.empty()) {
    home.order = std::make_unique<StreamOrder>();
    const std::uint32_t first = lanes.front();
    lanes_[first].backlog.each([&](const Event& kept) { home.order->keep(first, kept); });
  }
  if (thread.index() >= lanes.size()) lanes.resize(thread.index() + 1, kNoLane);
  lanes[thread.index()] = index;
  ++active_;
  running_.set(index, lane.clock, 0);
  return lane;
}

Lane& Core::lane_of_thread(RankId rank, ThreadId thread) {
  const std::vector<std::uint32_t>& lanes = rank_of(rank).lanes;
  if (thread.index() < lanes.size() && lanes[thread.index()] != kNoLane) return lanes_[lanes[thread.index()]];
  return add_lane(rank, thread);
}

void Core::push(RankId rank, const Event& event, const Extension& extension) {
  Lane& lane = lane_of(rank, event.thread);
  ++counters_.events;
  const Rank& home = rank_of(lane);
  const bool plain = lane.run == Run::kRunning && !lane.waits_turn && !home.withdrawn && !home.order &&
                     event.kind != EventKind::kLocal;
  if (!plain && put_off(lane, event, extension)) return;
  lane.unheard = events::is_thread_change(event, events::ThreadChange::kStart);
  start(lane, event, extension);
  drain();
}

/// Whether the event is not for now: kept until its lane goes on, or its thread's turn comes; or its rank is gone.
bool Core::put_off(Lane& lane, const Event& event, const Extension& extension) {
  Rank& home = rank_of(lane);
  if (home.withdrawn) is_back(home);
  if (lane.run == Run::kGone) return true;
  if (lane.run == Run::kBlocked || lane.waits_turn) {
    keep(lane, event, extension);
    return true;
  }
  if (lane.run == Run::kSilent) set_run(lane, Run::kRunning);
  if (events::is_thread_change(event, events::ThreadChange::kStart)) {
    Lane* const creator = creator_of(lane, event);
    if (creator != nullptr && creator->run == Run::kBlocked) {
      lane.unheard = true;
      block(lane, event, {});
      put_by(*creator, event, {});
      return true;
    }
  }
  if (!home.order || !home.order->holds(index_of(lane), event, extension.words)) return false;
  lane.unheard = events::is_thread_change(event, events::ThreadChange::kStart);
  set_waits_turn(lane, true);
  keep(lane, event, extension);
  return true;
}

/// Who was withdrawn has made a call.
void Core::is_back(Rank& rank) {
  rank.withdrawn = false;
  --withdrawn_;
  for (const std::uint32_t i : rank.lanes)
    if (i != kNoLane && lanes_[i].run == Run::kRunning) running_.set(i, lanes_[i].clock, 0);
}

/// A send is numbered now: another thread of the rank may send before this one's turn comes, and its rank has numbered
/// both in the order of the stream.
void Core::keep(Lane& lane, const Event& event, const Extension& extension) {
  if (!is_send(event) || event.peer_rank() == kProcNull) return put_by(lane, event, extension);
  Event numbered = event;
  numbered.aux = rank_of(lane).sequences.next(event.peer_rank()) + 1;
  put_by(lane, numbered, extension);
}

void Core::put_by(Lane& lane, const Event& event, const Extension& extension) {
  lane.backlog.push(event, extension);
  if (StreamOrder* order = rank_of(lane).order.get()) order->keep(index_of(lane), event);
}

/// Whether the lane's oldest kept call must wait for those of other threads.
bool Core::waits_its_turn(Lane& lane) {
  const StreamOrder* order = rank_of(lane).order.get();
  if (order == nullptr) return false;
  const bool waits = !std::exchange(lane.out_of_turn, false) &&
                     order->holds_oldest(index_of(lane), lane.backlog.front(), lane.backlog.front_words());
  set_waits_turn(lane, waits);
  return waits;
}

void Core::set_waits_turn(Lane& lane, bool waits) {
  if (lane.waits_turn == waits) return;
  lane.waits_turn = waits;
  rank_of(lane).waiting_turns += waits ? 1U : -1U;
  waiting_turns_ += waits ? 1U : std::size_t{0} - 1U;
}

/// The oldest kept call of the lane is about to be carried out: others may have waited for that.
void Core::took(const Lane& lane, const Event& event) {
  Rank& rank = rank_of(lane);
  if (!rank.order) return;
  rank.order->took(index_of(lane), event);
  if (rank.waiting_turns == 0) return;
  for (const std::uint32_t i : rank.lanes)
    if (i != kNoLane && lanes_[i].waits_turn) runnable_.push_back(i);
}

/// Whoever could still act waits for a turn, as happens where a replay's messages come in another order than in the
/// recorded run: the earliest goes on. True if one does.
bool Core::let_go_out_of_turn() {
  if (waiting_turns_ == 0) return false;
  Lane* earliest = nullptr;
  for (Lane& lane : lanes_) {
    const bool acts = (lane.run == Run::kRunning || lane.run == Run::kOutside) && !rank_of(lane).withdrawn;
    if (acts && !lane.waits_turn) return false;
    if (lane.waits_turn && (earliest == nullptr || lane.clock < earliest->clock)) earliest = &lane;
  }
  earliest->out_of_turn = true;
  runnable_.push_back(index_of(*earliest));
  drain();
  return true;
}

void Core::drain_all() {
  for (;;) {
    if (!progress_.stirred.empty()) stir();
    if (runnable_.empty()) return;
    Lane& lane = lanes_[runnable_.back()];
    runnable_.pop_back();
    while (!lane.backlog.empty() && lane.run != Run::kBlocked && lane.run != Run::kGone) {
      if (waits_its_turn(lane)) break;
      Event event = lane.backlog.pop(lane.words, lane.sizes);
      took(lane, event);
      if (event.thread != lane.thread) {
        bear(lane_of(lane.rank, event.thread), event);
        continue;
      }
      if (is_send(event)) numbered_ = std::exchange(event.aux, 0);
      start(lane, event, {lane.words, lane.sizes});
    }
    if (lane.run == Run::kRunning && !lane.waits_turn) woke(lane);
  }
}

/// Null: not known.
Lane* Core::creator_of(const Lane& lane, const Event& event) {
  const std::vector<std::uint32_t>& lanes = rank_of(lane).lanes;
  const auto creator = static_cast<std::size_t>(event.tag);
  const bool known = event.tag >= 0 && creator < lanes.size() && lanes[creator] != kNoLane;
  return known && lanes[creator] != index_of(lane) ? &lanes_[lanes[creator]] : nullptr;
}

/// The creator of a thread has come to where it makes it. What the thread did has waited for that: messages that its
/// creator sent before are before its own.
void Core::bear(Lane& born, const Event& event) {
  if (born.run != Run::kBlocked) return;  // its rank died
  born.entry = entry_of(born, event);
  waking_.reset();
  waking_.exit = born.entry;
  resume(born, waking_);
}

void Core::start(Lane& lane, const Event& event, const Extension& extension) {
  lane.entry = entry_of(lane, event);
  scratch_.reset();
  scratch_.exit = lane.entry;
  if (dispatch(lane, event, extension, scratch_)) finish(lane, event, extension, scratch_);
}

/// When a thread begins, whose own clock has come to `computed`: not before its creator has made it.
Time Core::thread_start(Lane& lane, const Event& event, Time computed) {
  lane.fresh_clock = false;
  const Lane* creator = creator_of(lane, event);
  if (creator == nullptr) return std::max(computed, event.entry());
  const Time made = std::max(computed, creator->clock + Duration{static_cast<std::int64_t>(event.aux)});
  return options_.trust_entry ? std::max(made, event.entry()) : made;
}

/// Entry is the last exit plus compute; an event that says otherwise is believed only where time does not run
/// back.
inline Time Core::entry_of(Lane& lane, const Event& event) {
  const Time computed = lane.clock + event.compute();
  switch (event.kind) {
    case EventKind::kCommDefine:
    case EventKind::kSiteDefine:
    case EventKind::kRegionDefine:
    case EventKind::kNone:
      return lane.clock;
    case EventKind::kLocal:
      if (events::is_thread_change(event, events::ThreadChange::kStart))
        return thread_start(lane, event, computed);
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
  if (!options_.trust_entry || unknown || event.entry() == computed) return computed;
  if (event.kind == EventKind::kUnmodelledExit) return std::max(computed, event.entry());
  ++counters_.clock_mismatches;
  return std::max(computed, event.entry());
}

/// Carries out a call; false if its lane is blocked in it, or was and has been resumed.
bool Core::dispatch(Lane& lane, const Event& event, const Extension& extension, Outcome& out) {
  switch (event.kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
      return send(lane, event, out);
    case EventKind::kRecv:
    case EventKind::kIrecv:
      return receive(lane, event, out);
    case EventKind::kWait:
    case EventKind::kTest:
      return wait(lane, event, extension, out);
    case EventKind::kProbe:
    case EventKind::kIprobe:
      return probe(lane, event, out);
    case EventKind::kCancelled:
      return cancelled(lane, event, out);
    case EventKind::kRequestFree:
      return free_request(lane, event, out);
    case EventKind::kCollective:
    case EventKind::kIcollective:
      return collective(lane, event, extension, out);
    case EventKind::kOneSided:
      return one_sided(lane, event, out);
    case EventKind::kWindowSync:
      return window_sync(lane, event, extension, out);
    case EventKind::kUnmodelledEnter:
      lane.current = event;
      set_run(lane, Run::kOutside);
      return true;
    case EventKind::kUnmodelledExit:
      set_run(lane, Run::kRunning);
      return true;
    case EventKind::kLocal:
      return !events::is_thread_change(event, events::ThreadChange::kJoin) || join(lane, event, out);
    default:
      return true;
  }
}

/// Who waits for a thread goes on when that one has ended, and not before it in virtual time.
bool Core::join(Lane& lane, const Event& event, Outcome& out) {
  const std::vector<std::uint32_t>& lanes = rank_of(lane).lanes;
  const auto other = static_cast<std::size_t>(event.tag);
  if (event.tag < 0 || other >= lanes.size() || lanes[other] == kNoLane || lanes[other] == index_of(lane))
    return true;
  const Lane& joined = lanes_[lanes[other]];
  if (joined.run == Run::kGone) {
    out.exit = std::max(lane.entry, joined.clock);
    return true;
  }
  block(lane, event, {});
  return false;
}

void Core::release_joiners(const Lane& ended) {
  const std::vector<std::uint32_t> lanes = rank_of(ended).lanes;
  for (const std::uint32_t i : lanes) {
    if (i == kNoLane || lanes_[i].run != Run::kBlocked || lanes_[i].current.tag != ended.thread.value ||
        !events::is_thread_change(lanes_[i].current, events::ThreadChange::kJoin))
      continue;
    waking_.reset();
    waking_.exit = std::max(lanes_[i].entry, ended.clock);
    resume(lanes_[i], waking_);
  }
}

void Core::block(Lane& lane, const Event& event, const Extension& extension) {
  lane.current = event;
  lane.current.entry_ps = lane.entry.time_since_epoch().count();
  if (extension.words.data() != lane.words.data())
    lane.words.assign(extension.words.begin(), extension.words.end());
  if (extension.sizes.data() != lane.sizes.data())
    lane.sizes.assign(extension.sizes.begin(), extension.sizes.end());
  set_run(lane, Run::kBlocked);
  if (options_.weak_progress) is_inside(lane);
}

/// A blocked lane's call returns at out.exit.
void Core::resume(Lane& lane, Outcome& out) {
  if (lane.run != Run::kBlocked) return;  // its rank died
  set_run(lane, Run::kRunning);
  finish(lane, lane.current, {lane.words, lane.sizes}, out);
  if (lane.backlog.empty())
    woke(lane);
  else
    runnable_.push_back(index_of(lane));
}

void Core::woke(const Lane& lane) {
  Rank& rank = rank_of(lane);
  rank.mailbox.approach();
  rank.sequences.approach();
  if (!rank.woken) woken_.push_back(lane.rank);
  rank.woken = true;
}

void Core::finish(Lane& lane, const Event& event, const Extension& extension, Outcome& out) {
  if (out.exit > kEndOfTime) [[unlikely]]
    reject(out.exit);
  lane.clock = out.exit;
  if (options_.weak_progress) was_inside(lane, event.kind, out.exit);
  out.answer.kind = events::AnswerKind::kExit;
  out.answer.thread = lane.thread;
  out.answer.exit_ps = out.exit.time_since_epoch().count();
  const std::int64_t entry = lane.entry.time_since_epoch().count();
  if (event.entry_ps == entry) {
    listener_.on_exit({lane.rank, event, extension, out.exit, out.answer, out.completed});
  } else {
    Event corrected = event;
    corrected.entry_ps = entry;
    listener_.on_exit({lane.rank, corrected, extension, out.exit, out.answer, out.completed});
  }
  if (event.kind == EventKind::kFinalize) leave(lane);
}

void Core::set_run(Lane& lane, Run run) {
  if (lane.run == run) return;
  const auto counter = [this](Run r) -> std::size_t* {
    if (r == Run::kGone || r == Run::kSilent) return nullptr;
    return r == Run::kBlocked ? &blocked_ : &active_;
  };
  if (std::size_t* count = counter(lane.run)) --*count;
  if (std::size_t* count = counter(run)) ++*count;
  if (lane.run == Run::kOutside) --outside_;
  if (run == Run::kOutside) ++outside_;
  if (lane.run == Run::kBlocked && asks(lane.current)) --asking_;
  if (run == Run::kBlocked && asks(lane.current)) ++asking_;
  lane.run = run;
  // A stale entry of a lane that was blocked meanwhile is early, never late: it may stay.
  if (run == Run::kRunning && !running_.contains(index_of(lane))) running_.set(index_of(lane), lane.clock, 0);
}

/// Thread 0 takes the rank with it: MPI_Finalize is its last call.
void Core::leave(Lane& lane) {
  if (lane.thread.value == 0) return rank_gone(lane.rank);
  set_run(lane, Run::kGone);
  release_joiners(lane);
}

void Core::rank_gone(RankId rank) {
  if (rank_of(rank).withdrawn) --withdrawn_;
  rank_of(rank).withdrawn = false;
  for (const std::uint32_t i : rank_of(rank).lanes) {
    if (i == kNoLane) continue;
    decisions_.erase(decision_of(lanes_[i]));
    set_waits_turn(lanes_[i], false);
    set_run(lanes_[i], Run::kGone);
  }
}

void Core::set_bound(RankId rank, Time time, ThreadId thread) {
  const std::vector<std::uint32_t>& lanes = rank_of(rank).lanes;
  const bool known = thread.index() < lanes.size() && lanes[thread.index()] != kNoLane;
  if (!known && thread.value != 0) return;
  Lane& lane = lanes_[known ? lanes[thread.index()] : rank.index()];
  lane.bound = std::max(lane.bound, time);
}

void Core::withdraw(RankId rank) {
  Rank& r = rank_of(rank);
  if (!r.withdrawn) ++withdrawn_;
  r.withdrawn = true;
  for (const std::uint32_t i : r.lanes)
    if (i != kNoLane && lanes_[i].unheard && lanes_[i].run == Run::kRunning) set_run(lanes_[i], Run::kSilent);
}

Time Core::clock(RankId rank) const {
  Time latest = kTimeZero;
  for (const std::uint32_t i : ranks_.at(rank.index()).lanes)
    if (i != kNoLane) latest = std::max(latest, lanes_[i].clock);
  return latest;
}

Time Core::clock(RankId rank, ThreadId thread) const {
  const std::vector<std::uint32_t>& lanes = ranks_.at(rank.index()).lanes;
  const bool known = thread.index() < lanes.size() && lanes[thread.index()] != kNoLane;
  return known ? lanes_[lanes[thread.index()]].clock : kTimeZero;
}

bool Core::ready(RankId rank) const {
  const auto takes_events = [](const Lane& lane) {
    return lane.run != Run::kBlocked && lane.run != Run::kGone && !lane.waits_turn;
  };
  if (takes_events(lanes_[rank.index()])) return true;  // thread 0
  const std::vector<std::uint32_t>& lanes = ranks_.at(rank.index()).lanes;
  return lanes.size() > 1 && std::any_of(lanes.begin() + 1, lanes.end(), [&](std::uint32_t i) {
           return i != kNoLane && takes_events(lanes_[i]);
         });
}

std::optional<RankId> Core::next_woken() {
  if (woken_.empty()) return std::nullopt;
  const RankId rank = woken_.back();
  woken_.pop_back();
  rank_of(rank).woken = false;
  return rank;
}

}  // namespace nplus1::simnode::engine
