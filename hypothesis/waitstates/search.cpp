// The stream's clockwork: what becomes of a call's partners is in wait_states_partners.cpp, of its waiting in
// wait_states_costs.cpp.
#include "hypothesis/waitstates/search.hpp"

#include <algorithm>
#include <limits>

#include "support/time_sum.hpp"

namespace nplus1::hypothesis {
namespace {

using events::EventKind;

bool has_clock(EventKind kind) {
  return kind != EventKind::kNone && kind != EventKind::kCommDefine && kind != EventKind::kSiteDefine &&
         kind != EventKind::kRegionDefine && kind != EventKind::kDatatypeDefine;
}

bool is_call(EventKind kind) {
  return events::is_modelled_call(kind) && kind != EventKind::kCancelled && kind != EventKind::kRequestFree;
}

/// As patterns::MessageStatistics has it, so that the sums are the same.
bool waits(EventKind kind) {
  return kind == EventKind::kSend || kind == EventKind::kRecv || kind == EventKind::kWait ||
         kind == EventKind::kProbe || kind == EventKind::kCollective || kind == EventKind::kWindowSync;
}

bool failed_poll(const events::TimedEvent& timed) {
  const EventKind kind = timed.event.kind;
  return (kind == EventKind::kTest || kind == EventKind::kIprobe) && timed.answer.flag == 0;
}

bool gives_lock_back(const events::Event& event) {
  if (event.kind != EventKind::kWindowSync) return false;
  const events::WindowSync what = event.window_sync();
  return what == events::WindowSync::kUnlock || what == events::WindowSync::kUnlockAll;
}

/// Files may claim anything: no transfer is held up for longer than its call.
Duration held_up(const events::Answer& answer) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return Duration{static_cast<std::int64_t>(std::min(answer.aux, kMost))};
}

std::uint32_t innermost(const std::vector<std::uint32_t>& regions) {
  return regions.empty() ? 0 : regions.back();
}

}  // namespace

WaitStates::WaitStates(std::size_t ranks, const netmodel::NetworkModel* network)
    : network_{network},
      rank_tallies_(ranks),
      ranks_(ranks),
      collectives_{ranks},
      tell_{[this](const Waiter& waiter, const Partner& partner) { tell(waiter, partner); }},
      own_{ranks, network} {}

void WaitStates::on_communicator(const events::Communicator& communicator) {
  collectives_.define(communicator);
}

/// A new thread's path goes on from that of the process's first one.
WaitStates::Lane& WaitStates::lane_of(const events::TimedEvent& timed) {
  std::vector<Lane>& lanes = ranks_.at(timed.rank.index()).lanes;
  const std::size_t thread = timed.event.thread.value;
  while (lanes.size() <= thread) {
    Lane lane;
    lane.path = lanes.empty() ? paths_.root() : lanes.front().path;
    lane.end = lanes.empty() ? kTimeZero : lanes.front().end;
    lanes.push_back(std::move(lane));
  }
  return lanes[thread];
}

void WaitStates::on_event(const events::TimedEvent& timed) {
  const events::Event& event = timed.event;
  if (!has_clock(event.kind)) return;
  Lane& lane = lane_of(timed);
  advance(timed, lane);
  const RequestKey request{timed.rank.value, event.request.value};
  switch (event.kind) {
    case EventKind::kRegionBegin:
      return lane.regions.push_back(static_cast<std::uint32_t>(event.aux));
    case EventKind::kRegionEnd:
      if (!lane.regions.empty()) lane.regions.pop_back();
      return;
    case EventKind::kUnmodelledEnter:
      lane.outside = names_.call(innermost(lane.regions), event);
      return;
    case EventKind::kUnmodelledExit:
      lane.outside = kInside;
      return;
    case EventKind::kCancelled:
    case EventKind::kRequestFree:
      static_cast<void>(own_.of(timed));
      return forget(request, event.kind == EventKind::kCancelled);
    default:
      break;
  }
  if (!is_call(event.kind) || timed.exit == events::kUnfinished) return;
  lane.calls = lane.calls || event.kind != EventKind::kFinalize;
  Call call;
  count(timed, lane, call);
  const bool may_have_polled = event.kind == EventKind::kTest && !failed_poll(timed);
  if (call.waiting == Duration::zero() && !may_have_polled) {
    find_partners(timed, lane, call, kNoPlace);
    conclude(call, &lane);
  } else {
    const std::uint32_t place = calls_.take();
    calls_[place] = std::move(call);
    track(timed, lane, calls_[place], place);
  }
  if (gives_lock_back(event)) windows_.release(timed, lane.path, tell_);
  lane.end = std::max(lane.end, timed.exit);
}

/// Charges what lies between the last call and this one.
void WaitStates::advance(const events::TimedEvent& timed, Lane& lane) {
  const events::Event& event = timed.event;
  sum_up(rank_tallies_[timed.rank.index()].computing, event.compute());
  sum_up(lane.computing, event.compute());
  const Duration gap = event.entry() - lane.end;
  if (gap <= Duration::zero()) return;
  lane.end = event.entry();
  const std::uint32_t row =
      lane.outside != kInside ? lane.outside : names_.computing(innermost(lane.regions), event);
  if (row >= rows_.size()) rows_.resize(row + 1);
  rows_[row].time += gap;
  paths_.add(lane.path, {row, timed.rank.value, gap.count()});
}

void WaitStates::count(const events::TimedEvent& timed, const Lane& lane, Call& call) {
  const events::Event& event = timed.event;
  call.rank = timed.rank;
  call.number = ++ranks_[timed.rank.index()].calls;
  call.entry = event.entry();
  call.exit = std::max(timed.exit, event.entry());
  call.row = names_.call(innermost(lane.regions), event);
  if (event.kind == EventKind::kTest || event.kind == EventKind::kWait || event.kind == EventKind::kIprobe)
    call.computing_row = names_.computing(innermost(lane.regions), event);
  if (names_.all().size() > rows_.size()) rows_.resize(names_.all().size());
  const Duration time = call.exit - call.entry;
  const Duration own = own_.of(timed);
  if (waits(event.kind)) {
    call.waiting = std::max(Duration::zero(), time - own);
    if (event.kind != EventKind::kWindowSync) call.held_up = held_up(timed.answer);
  }
  // Behind others at the storage.
  if (event.kind == EventKind::kFileAccess)
    call.waiting = call.held_up = std::min(std::max(Duration::zero(), time), held_up(timed.answer));
  for (Tally* tally : {&rows_[call.row], &rank_tallies_[timed.rank.index()]}) {
    ++tally->calls;
    sum_up(tally->time, time);
    sum_up(tally->waiting, call.waiting);
    if (failed_poll(timed)) sum_up(tally->polling, time);
  }
}

/// A call whose waiting is to be explained, now or when its partners are known.
void WaitStates::track(const events::TimedEvent& timed, Lane& lane, Call& call, std::uint32_t place) {
  call.active = true;
  call.unresolved = 1;  // until all partners have been asked for
  find_partners(timed, lane, call, place);
  if (--call.unresolved == 0) {
    conclude(call, &lane);
    return calls_.give(place);
  }
  call.before = lane.path;
  call.after = paths_.open();
  lane.path = call.after;
}

WaitStateResults WaitStates::result() {
  for (std::uint32_t place = 0; place < calls_.places(); ++place) {
    if (!calls_[place].active) continue;
    ++unresolved_;
    conclude(calls_[place], nullptr);
    calls_.give(place);
  }
  WaitStateResults results;
  results.unresolved_calls = unresolved_;
  fill_critical_path(results);
  fill_activities(results);
  fill_delays(results);
  results.sort();
  results.ranks = rank_tallies_;
  for (const Tally& tally : results.ranks) results.total.add(tally);
  for (const Rank& rank : ranks_) {
    const std::size_t first = results.thread_computing.size();
    results.thread_computing.emplace_back();
    for (const Lane& lane : rank.lanes) {
      const bool own = lane.calls && &lane != &rank.lanes.front();
      if (own)
        results.thread_computing.push_back(lane.computing);
      else
        sum_up(results.thread_computing[first], lane.computing);
    }
  }
  return results;
}

}  // namespace nplus1::hypothesis
