#include "simnode/engine/one_sided.hpp"

#include <algorithm>
#include <utility>

#include "semantics/timing.hpp"
#include "simnode/engine/calls.hpp"
#include "simnode/engine/collective_calls.hpp"
#include "simnode/engine/completions.hpp"
#include "simnode/engine/contention.hpp"
#include "simnode/engine/lanes.hpp"

namespace nplus1::simnode::engine {

using events::EventKind;
using events::WindowSync;
using What = WindowLeg::What;
using Reuse = WindowLeg::Reuse;

namespace {

bool names_target(WindowSync what) {
  return what == WindowSync::kLock || what == WindowSync::kUnlock || what == WindowSync::kFlush ||
         what == WindowSync::kFlushLocal;
}

bool asks_for_lock(WindowSync what) {
  return what == WindowSync::kLock || what == WindowSync::kLockAll;
}

bool is_local(WindowSync what) {
  return what == WindowSync::kFlushLocal || what == WindowSync::kFlushLocalAll;
}

}  // namespace

/// A transfer's origin goes on when it has told its network interface.
bool OneSided::transfer(Lane& lane, const events::Event& event, Outcome& out) {
  collectives_.members().require_member(event.comm, lane.rank);
  lane.poll.reset();
  const RankId target = event.peer_rank();
  if (target != kProcNull) lanes_.rank_of(target);  // must exist, before anything changes
  const bool has_request = event.request != kNoRequest;
  if (has_request) completions_.add(lane, event, Request::Kind::kOneSided);
  if (target == kProcNull) {
    if (has_request) completions_.complete(lane.rank, event.request, lane.entry, {});
    return true;
  }
  out.exit = lane.entry + network_.send_overhead(event.payload());
  WindowLeg leg;
  leg.window = event.comm;
  leg.from = lane.rank;
  leg.to = target;
  leg.size = event.payload();
  leg.back = bytes(static_cast<std::int64_t>(event.aux));
  leg.request = event.request;
  leg.site = event.site.value;
  leg.reuse = leg.back > Bytes{}         ? Reuse::kBack
              : network_.eager(leg.size) ? Reuse::kAtOnce
                                         : Reuse::kAtTarget;
  has_started(leg, out.exit);
  if (has_request && leg.reuse == Reuse::kAtOnce)
    completions_.complete(lane.rank, event.request, out.exit, {});
  const Time entry = lane.entry;
  calls_.finish(lane, event, {}, out);  // told before what follows from it
  send_leg(lane, leg, entry);
  return false;
}

/// A transfer that starts; its origin's call returns at `exit`.
void OneSided::has_started(const WindowLeg& leg, Time exit) {
  Window& window = windows_.of(leg.window);
  for (const RankId of : {leg.to, WindowLeg::kNobody}) {
    OneSidedTransfers& transfers = window.transfers[{leg.from, of}];
    ++transfers.at_target;
    if (leg.reuse != Reuse::kAtOnce)
      ++transfers.at_origin;
    else
      transfers.reusable = std::max(transfers.reusable, exit);
  }
}

/// A leg that a lane's processor starts at `at`: when that goes on.
Time OneSided::send_leg(Lane& lane, WindowLeg leg, Time at) {
  if (contention_) {
    const Time ready = at + network_.send_overhead(leg.size);
    start_leg(leg, ready);
    return ready;
  }
  const semantics::EagerSend sent =
      semantics::send_eager(network_, at, leg.from, leg.to, leg.size, lane.interface_free);
  landed(leg, sent.arrival);
  return sent.sender_free;
}

/// A leg that a network interface answers with.
void OneSided::answer_leg(const WindowLeg& leg, Time at) {
  if (contention_) return start_leg(leg, at);
  landed(leg, at + network_.transit(leg.from, leg.to, leg.size));
}

void OneSided::start_leg(const WindowLeg& leg, Time at) {
  Transfer flow;
  flow.receiver = leg.to;
  flow.message.site = leg.site;
  flow.leg = windows_.keep_leg(leg);
  contention_->start(flow, leg.from, leg.to, leg.size, at);
}

void OneSided::landed(const WindowLeg& leg, Time at, Duration held_up) {
  Window& window = windows_.of(leg.window);
  switch (leg.what) {
    case What::kToTarget:
    case What::kBack:
      return transfer_landed(leg, at, held_up);
    case What::kPost:
      window.posted[{leg.to, leg.from}].push_back(at);
      return look_at_syncs(leg.to, leg.window);
    case What::kComplete:
      window.completed[{leg.to, leg.from}].push_back(at);
      return look_at_syncs(leg.to, leg.window);
    case What::kLockRequest:
      window.locks[leg.to].queue.insert({at, leg.from, leg.lane, leg.exclusive});
      return windows_.reschedule(leg.window, leg.to);
    case What::kGrant:
      return granted(leg, at);
    case What::kRelease:
      return released(leg, at);
  }
}

void OneSided::released(const WindowLeg& leg, Time at) {
  WindowLock& lock = windows_.of(leg.window).locks[leg.to];
  const auto holder = lock.holders.find(leg.from);
  if (holder == lock.holders.end()) return;  // one without asking
  WindowLock::Held& held = holder->second ? lock.exclusively : lock.together;
  if (at >= held.until) held = {at, leg.from};
  lock.holders.erase(holder);
  windows_.reschedule(leg.window, leg.to);
}

void OneSided::transfer_landed(const WindowLeg& leg, Time at, Duration held_up) {
  const bool back = leg.what == What::kBack;
  const RankId origin = back ? leg.to : leg.from;
  const bool reusable = leg.reuse == (back ? Reuse::kBack : Reuse::kAtTarget);
  Window& window = windows_.of(leg.window);
  for (const RankId of : {back ? leg.from : leg.to, WindowLeg::kNobody}) {
    OneSidedTransfers& transfers = window.transfers[{origin, of}];
    if (reusable) {
      --transfers.at_origin;
      transfers.reusable = std::max(transfers.reusable, at);
    }
    if (!back) continue;
    --transfers.at_target;
    transfers.complete = std::max(transfers.complete, at);
  }
  if (reusable && leg.request != kNoRequest) completions_.complete(origin, leg.request, at, {}, held_up);
  if (reusable || back) look_at_syncs(origin, leg.window);
  if (back) return;
  WindowLeg answer = leg;
  answer.what = What::kBack;
  std::swap(answer.from, answer.to);
  answer.size = leg.back;
  answer_leg(answer, at);
}

bool OneSided::synchronise(Lane& lane, const events::Event& event, const events::Extension& extension,
                           Outcome& out) {
  collectives_.members().require_member(event.comm, lane.rank);
  for (const std::uint32_t member : extension.words)
    lanes_.rank_of(RankId{static_cast<std::int32_t>(member)});
  const WindowSync what = event.window_sync();
  if (names_target(what)) {
    if (event.peer_rank() == kProcNull) return true;
    lanes_.rank_of(event.peer_rank());
  }
  if (what != WindowSync::kTest) lane.poll.reset();
  if (asks_for_lock(what) && (event.tag & events::kLockWithoutAsking) != 0) return true;
  if (what == WindowSync::kPost) return post(lane, event, extension, out);
  windows_.sync(lanes_.index_of(lane)) = {};
  calls_.block(lane, event, extension);
  if (asks_for_lock(what))
    ask_for_locks(lane);
  else
    go_on_in_sync(lane);
  return false;
}

bool OneSided::post(Lane& lane, const events::Event& event, const events::Extension& extension,
                    Outcome& out) {
  const std::vector<std::uint32_t> origins{extension.words.begin(), extension.words.end()};
  Time at = lane.entry;
  out.exit = at + network_.send_overhead(Bytes{}) * static_cast<std::int64_t>(origins.size());
  calls_.finish(lane, event, extension, out);
  WindowLeg notice;
  notice.what = What::kPost;
  notice.window = event.comm;
  notice.from = lane.rank;
  notice.site = event.site.value;
  for (const std::uint32_t origin : origins) {
    notice.to = RankId{static_cast<std::int32_t>(origin)};
    at = send_leg(lane, notice, at);
  }
  return false;
}

/// What the rank's threads wait for on this window may have come.
void OneSided::look_at_syncs(RankId rank, CommId window) {
  const std::vector<std::uint32_t>& lanes = lanes_.rank_of(rank).lanes;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i] == kNoLane) continue;
    Lane& lane = lanes_[lanes[i]];
    const bool waits = lane.run == Run::kBlocked && lane.current.kind == EventKind::kWindowSync &&
                       lane.current.comm == window;
    if (waits && !asks_for_lock(lane.current.window_sync())) go_on_in_sync(lane);
  }
}

void OneSided::go_on_in_sync(Lane& lane) {
  Windows::Sync& sync = windows_.sync(lanes_.index_of(lane));
  const WindowSync what = lane.current.window_sync();
  if (sync.in_barrier || (sync.due && what != WindowSync::kTest)) return;
  switch (what) {
    case WindowSync::kStart:
      return wait_for_notices(lane, What::kPost);
    case WindowSync::kWait:
    case WindowSync::kTest:
      return wait_for_notices(lane, What::kComplete);
    default:
      return end_transfers(lane);
  }
}

/// Those of all members of the call's group.
void OneSided::wait_for_notices(Lane& lane, What what) {
  Window& window = windows_.of(lane.current.comm);
  auto& notices = what == What::kPost ? window.posted : window.completed;
  Windows::Sync& sync = windows_.sync(lanes_.index_of(lane));
  const bool tests = lane.current.window_sync() == WindowSync::kTest;
  sync.ready = lane.entry;
  bool all = true;
  for (const std::uint32_t word : lane.words) {
    const RankId member{static_cast<std::int32_t>(word)};
    const auto found = notices.find({lane.rank, member});
    if (found == notices.end() || found->second.empty()) {
      all = false;
    } else if (found->second.front() > sync.ready) {
      sync.ready = found->second.front();
      sync.awaited = member;
    }
  }
  if (tests && (all || sync.ready > lane.entry)) return end_test(lane, all && sync.ready == lane.entry);
  if (!all) {
    if (!tests) return;
    sync.due = true;
    return windows_.set_due({lane.entry, false, lane.current.comm.value, lanes_.index_of(lane)});
  }
  take_notices(lane, what);
  sync.waited = sync.ready - lane.entry;
  return_from_sync(lane);
}

void OneSided::take_notices(Lane& lane, What what) {
  Window& window = windows_.of(lane.current.comm);
  auto& notices = what == What::kPost ? window.posted : window.completed;
  for (const std::uint32_t word : lane.words) {
    const auto found = notices.find({lane.rank, RankId{static_cast<std::int32_t>(word)}});
    found->second.pop_front();
    if (found->second.empty()) notices.erase(found);
  }
}

void OneSided::end_test(Lane& lane, bool succeeds) {
  windows_.drop_due({lane.entry, false, lane.current.comm.value, lanes_.index_of(lane)});
  Outcome& waking = calls_.waking();
  waking.exit = lane.entry;
  if (succeeds) {
    take_notices(lane, What::kComplete);
    lane.poll.reset();
    waking.answer.flag = 1;
  } else {
    failed_poll(lane, waking);
  }
  calls_.resume(lane, waking);
}

/// The calls that wait for transfers of the rank's own: fences, MPI_Win_complete, flushes and unlocks.
void OneSided::end_transfers(Lane& lane) {
  const WindowSync what = lane.current.window_sync();
  const RankId target = names_target(what) ? lane.current.peer_rank() : WindowLeg::kNobody;
  const OneSidedTransfers& transfers = windows_.of(lane.current.comm).transfers[{lane.rank, target}];
  if ((is_local(what) ? transfers.at_origin : transfers.at_target) != 0) return;
  Windows::Sync& sync = windows_.sync(lanes_.index_of(lane));
  sync.ready = std::max(lane.entry, is_local(what) ? transfers.reusable : transfers.complete);
  if (what == WindowSync::kFence) {
    sync.in_barrier = true;
    return collectives_.enter_barrier(lane, sync.ready);
  }
  if (what == WindowSync::kComplete || sync.ready == lane.entry) return return_from_sync(lane);
  sync.due = true;
  windows_.set_due({sync.ready, false, lane.current.comm.value, lanes_.index_of(lane)});
}

/// Whom the call tells something at its end.
std::vector<RankId> OneSided::told_by(const Lane& lane) {
  const events::Event& call = lane.current;
  const WindowSync what = call.window_sync();
  std::vector<RankId> told;
  if (what == WindowSync::kComplete)
    for (const std::uint32_t word : lane.words) told.emplace_back(static_cast<std::int32_t>(word));
  if (what == WindowSync::kUnlock) told.push_back(call.peer_rank());
  if (what == WindowSync::kUnlockAll) told = collectives_.members().members(call.comm);
  if (what == WindowSync::kUnlock || what == WindowSync::kUnlockAll)
    std::erase_if(told, [&](RankId target) { return !holds_lock(call.comm, lane.rank, target); });
  return told;
}

/// When the lane's interface has sent a word to each of `told` from `at` on: the rank sends by itself from then on.
Time OneSided::interface_after(const Lane& lane, const std::vector<RankId>& told, Time at) const {
  Time free = lane.interface_free;
  for (const RankId target : told)
    at = semantics::send_eager(network_, at, lane.rank, target, Bytes{}, free).sender_free;
  return free;
}

/// What the call tells others leaves at its end.
void OneSided::return_from_sync(Lane& lane) {
  const Windows::Sync sync = windows_.sync(lanes_.index_of(lane));
  const events::Event call = lane.current;
  const WindowSync what = call.window_sync();
  const std::vector<RankId> told = told_by(lane);
  Outcome& waking = calls_.waking();
  waking.exit = sync.ready + network_.send_overhead(Bytes{}) * static_cast<std::int64_t>(told.size());
  waking.answer.source = sync.awaited == WindowLeg::kNobody ? 0 : sync.awaited.value;
  waking.answer.aux = static_cast<std::uint64_t>(sync.waited.count());
  const Time free = interface_after(lane, told, sync.ready);
  waking.answer.reserved = static_cast<std::uint64_t>(free.time_since_epoch().count());
  calls_.resume(lane, waking);
  WindowLeg leg;
  leg.what = what == WindowSync::kComplete ? What::kComplete : What::kRelease;
  leg.window = call.comm;
  leg.from = lane.rank;
  leg.site = call.site.value;
  Time at = sync.ready;
  for (const RankId target : told) {
    leg.to = target;
    at = send_leg(lane, leg, at);
  }
}

bool OneSided::holds_lock(CommId window, RankId origin, RankId target) {
  const auto& locks = windows_.of(window).locks;
  const auto found = locks.find(target);
  return found != locks.end() && found->second.holders.count(origin) != 0;
}

void OneSided::ask_for_locks(Lane& lane) {
  const events::Event call = lane.current;
  std::vector<RankId> targets;
  if (call.window_sync() == WindowSync::kLock)
    targets.push_back(call.peer_rank());
  else
    targets = collectives_.members().members(call.comm);
  Windows::Sync& sync = windows_.sync(lanes_.index_of(lane));
  sync.grants = static_cast<std::uint32_t>(targets.size());
  sync.ready = lane.entry;
  WindowLeg request;
  request.what = What::kLockRequest;
  request.exclusive = call.tag == events::kExclusiveLock;
  request.window = call.comm;
  request.from = lane.rank;
  request.lane = lanes_.index_of(lane);
  request.site = call.site.value;
  Time at = lane.entry;
  for (const RankId target : targets) {
    request.to = target;
    at = send_leg(lane, request, at);
  }
}

void OneSided::granted(const WindowLeg& leg, Time at) {
  Lane& lane = lanes_[leg.lane];
  if (lane.run != Run::kBlocked) return;  // its rank died
  Windows::Sync& sync = windows_.sync(leg.lane);
  if (at >= sync.ready) {
    sync.waited = leg.waited;
    sync.awaited = leg.held_by;
  }
  sync.ready = std::max(sync.ready, at);
  if (--sync.grants == 0) return_from_sync(lane);
}

/// The first in a lock's queue gets it.
void OneSided::grant_lock(CommId window, RankId target, Time at) {
  WindowLock& lock = windows_.of(window).locks[target];
  lock.due.reset();
  const WindowLock::Request request = *lock.queue.begin();
  lock.queue.erase(lock.queue.begin());
  lock.holders[request.origin] = request.exclusive;
  WindowLeg grant;
  grant.what = What::kGrant;
  grant.window = window;
  grant.from = target;
  grant.to = request.origin;
  grant.lane = request.lane;
  grant.waited = at - request.arrival;
  if (grant.waited > Duration::zero()) grant.held_by = lock.held_against(request).by;
  windows_.reschedule(window, target);
  answer_leg(grant, at);
}

void OneSided::decide_next() {
  const Windows::Due due = windows_.take_due();
  if (due.is_lock) return grant_lock(CommId{due.window}, RankId{static_cast<std::int32_t>(due.who)}, due.at);
  Lane& lane = lanes_[due.who];
  if (lane.run != Run::kBlocked) return;
  if (lane.current.window_sync() == WindowSync::kTest)
    end_test(lane, false);
  else
    return_from_sync(lane);
}

std::vector<RankId> OneSided::awaited(const Lane& lane) {
  std::vector<RankId> awaits;
  const WindowSync what = lane.current.window_sync();
  if (windows_.sync(lanes_.index_of(lane)).in_barrier)
    return collectives_.members().awaited(lane.current.comm, lane.rank, token_of_lane(lanes_.index_of(lane)));
  Window& window = windows_.of(lane.current.comm);
  if (asks_for_lock(what)) {
    for (const auto& [target, lock] : window.locks) {
      const bool asked = std::any_of(lock.queue.begin(), lock.queue.end(), [&](const auto& request) {
        return request.lane == lanes_.index_of(lane);
      });
      for (const auto& [holder, exclusive] : lock.holders)
        if (asked) awaits.push_back(holder);
    }
    return awaits;
  }
  const auto& notices = what == WindowSync::kStart ? window.posted : window.completed;
  for (const std::uint32_t word : lane.words) {
    const RankId member{static_cast<std::int32_t>(word)};
    if (notices.count({lane.rank, member}) == 0) awaits.push_back(member);
  }
  return awaits;
}

}  // namespace nplus1::simnode::engine
