// What a call's waiting was, who caused it, and where the critical path goes on.
#include <algorithm>

#include "hypothesis/waitstates/search.hpp"
#include "patterns/call_sites.hpp"
#include "support/time_sum.hpp"

namespace nplus1::hypothesis {
namespace {

Duration between(Duration low, Duration value, Duration high) {
  return std::max(low, std::min(value, high));
}

std::uint64_t key_of(const PathShare& share) {
  return std::uint64_t{share.activity} << 32U | static_cast<std::uint32_t>(share.rank);
}

std::int64_t sum_of(const PathShare* first, const PathShare* last) {
  std::int64_t sum = 0;
  for (; first != last; ++first) sum += first->time_ps;
  return sum;
}

const PathShare* end_of_activity(const PathShare* first, const PathShare* end) {
  return std::find_if(first, end, [&](const PathShare& s) { return s.activity != first->activity; });
}

/// Calls visit(first, last, excess) for each activity of `late` that holds more time there than in `waiting`.
/// Both are combined.
template <class Visit>
void for_each_excess(const std::vector<PathShare>& late, const std::vector<PathShare>& waiting, Visit visit) {
  const PathShare* w = waiting.data();
  const PathShare* w_end = w + waiting.size();
  for (const PathShare *s = late.data(), *end = s + late.size(); s != end;) {
    const PathShare* next = end_of_activity(s, end);
    while (w != w_end && w->activity < s->activity) ++w;
    std::int64_t excess = sum_of(s, next);
    for (; w != w_end && w->activity == s->activity; ++w) excess -= w->time_ps;
    if (excess > 0) visit(s, next, excess);
    s = next;
  }
}

}  // namespace

void WaitStates::add(const Call& call, std::uint32_t row, WaitState state, Duration time) {
  if (time <= Duration::zero()) return;
  sum_up(rows_[row].states[static_cast<std::size_t>(state)], time);
  sum_up(rank_tallies_[call.rank.index()].states[static_cast<std::size_t>(state)], time);
}

/// `lane`: where the call was the last thing that happened; null for a call that was put aside.
void WaitStates::conclude(Call& call, Lane* lane) {
  const Duration late = share_out(call) + (call.has_partner ? share_out_polls(call) : Duration::zero());
  if (late > Duration::zero()) blame(call, lane != nullptr ? lane->path : call.before, late);
  continue_path(call, lane, late > Duration::zero() && call.partner.path);
}

/// Splits the call's waiting into its states; returns what the partner is to blame for. What is left is the transfer, of
/// which others on its links may have caused a part.
Duration WaitStates::share_out(const Call& call) {
  Duration explained{};
  const Duration late = call.has_partner ? share_out_to_partner(call, explained) : Duration::zero();
  add(call, call.row, WaitState::kContention, std::min(call.held_up, call.waiting - explained));
  return late;
}

/// `explained`: what has become a state.
Duration WaitStates::share_out_to_partner(const Call& call, Duration& explained) {
  const Partner& partner = call.partner;
  const auto waited_until = [&](Time time) {
    return between(Duration::zero(), time - call.entry, call.waiting);
  };
  const Duration late = waited_until(partner.at);
  explained = late;
  if (partner.state == WaitState::kEarlyReduce) {
    const Duration nobody_there = std::min(late, waited_until(partner.first));
    add(call, call.row, WaitState::kEarlyReduce, nobody_there);
    add(call, call.row, WaitState::kLateContributor, late - nobody_there);
    return late;
  }
  add(call, call.row, partner.state, late);
  if (partner.state == WaitState::kLateSender && late > Duration::zero()) note_late_sender(call, late);
  const bool barrier = partner.state == WaitState::kWaitAtBarrier;
  if ((barrier || partner.state == WaitState::kWaitAtNxN) && partner.leaving > kTimeZero) {
    const Duration completion = call.waiting - std::max(late, waited_until(partner.leaving));
    add(call, call.row, barrier ? WaitState::kBarrierCompletion : WaitState::kNxNCompletion, completion);
    explained += std::max(Duration::zero(), completion);
  }
  return late;
}

/// The part of failed tests that lies before the partner did its part.
Duration WaitStates::share_out_polls(const Call& call) {
  Duration sum{};
  for (const Polls::Part& part : call.polls) {
    const Duration length = part.end - part.begin;
    const Duration before = between(Duration::zero(), call.partner.at - part.begin, length);
    Duration late = part.polled;
    if (before < length) {
      const double share = static_cast<double>(before.count()) / static_cast<double>(length.count());
      late = Duration{static_cast<std::int64_t>(share * static_cast<double>(part.polled.count()) + 0.5)};
    }
    add(call, part.row, call.partner.state, late);
    sum += late;
  }
  return sum;
}

/// Boehme, Geimer, Wolf, Arnold: Identifying the root causes of wait states in large-scale parallel
/// applications, ICPP 2010: the delay is what the late rank spent more time in than the waiting one since
/// they last had a point in common; the waiting is shared among these activities. Here both intervals follow
/// the critical paths. These hold no waiting, so what was propagated is found in the same step, on the rank
/// where it came from.
void WaitStates::blame(const Call& call, const Path& before, Duration late) {
  double all = 0;
  if (call.partner.path && paths_.since_common_point(call.partner.path, before, of_late_, of_waiting_)) {
    combine(of_late_);
    combine(of_waiting_);
    for_each_excess(of_late_, of_waiting_, [&](const PathShare*, const PathShare*, std::int64_t excess) {
      all += static_cast<double>(excess);
    });
  }
  if (all <= 0) {
    sum_up(unattributed_, late);
    return;
  }
  const auto cost = [&](const PathShare* first, const PathShare* last, std::int64_t excess) {
    const double activity = seconds(late) * static_cast<double>(excess) / all;
    const auto whole = static_cast<double>(sum_of(first, last));
    for (const PathShare* s = first; s != last; ++s) {
      DelayCost& delay = delays_[key_of(*s)];
      double& part = RankId{s->rank} == call.partner.rank ? delay.direct : delay.propagated;
      part += activity * static_cast<double>(s->time_ps) / whole;
    }
  };
  for_each_excess(of_late_, of_waiting_, cost);
}

void WaitStates::continue_path(const Call& call, Lane* lane, bool on_partner) {
  const Partner& partner = call.partner;
  Duration in_call = call.exit - call.entry;
  Duration computing{};  // after the message had come, until the test that found it
  if (on_partner && partner.at >= call.entry) in_call = call.exit - partner.at;
  if (on_partner && partner.at < call.entry) {
    const Time there = std::max(partner.at, std::min(partner.done, call.entry));
    in_call += there - partner.at;
    computing = call.entry - there;
  }
  const PathShare shares[2] = {{call.row, call.rank.value, in_call.count()},
                               {call.computing_row, call.rank.value, computing.count()}};
  if (lane == nullptr) {
    paths_.close(call.after, on_partner ? partner.path : call.before);
    for (const PathShare& share : shares)
      if (share.time_ps > 0) paths_.add_within(call.after, share);
    return;
  }
  if (on_partner) lane->path = partner.path;
  for (const PathShare& share : shares) paths_.add(lane->path, share);
}

void WaitStates::fill_critical_path(WaitStateResults& results) {
  const Path* last = nullptr;
  Time end{};
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (const Lane& lane : ranks_[r].lanes) {
      if (last != nullptr && lane.end <= end) continue;
      last = &lane.path;
      end = lane.end;
      results.last_rank = static_cast<std::int32_t>(r);
    }
  }
  results.virtual_time = end.time_since_epoch();
  if (last == nullptr) return;
  for (const PathShare& share : paths_.whole(*last)) {
    sum_up(rows_[share.activity].on_critical_path, Duration{share.time_ps});
    sum_up(rank_tallies_[RankId{share.rank}.index()].on_critical_path, Duration{share.time_ps});
  }
}

void WaitStates::fill_activities(WaitStateResults& results) {
  rows_.resize(names_.all().size());
  delays_.for_each([&](std::uint64_t key, const DelayCost& delay) {
    rows_[key >> 32U].delay.add(delay);
    rank_tallies_[static_cast<std::uint32_t>(key)].delay.add(delay);
  });
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = names_.all()[r];
    Activity& activity = results.activities.emplace_back();
    activity.kind = row.computing ? "computing" : patterns::call_name(row.call);
    activity.path = row.site;
    activity.tally = rows_[r];
    if (const auto* region = definitions_.region(RegionId{row.region})) activity.region = region->name;
    if (const auto* path = definitions_.call_path(CallSiteId{row.site})) activity.frames = path->frames;
    const auto mean = (rows_[r].time - rows_[r].in_states()) / static_cast<std::int64_t>(ranks_.size());
    activity.critical_imbalance = std::max(Duration::zero(), rows_[r].on_critical_path - mean);
  }
}

void WaitStates::fill_delays(WaitStateResults& results) {
  results.unattributed_delay = seconds(unattributed_);
  delays_.for_each([&](std::uint64_t key, const DelayCost& delay) {
    results.causes.push_back({key >> 32U, static_cast<std::int32_t>(key & 0xFFFFFFFFU), delay});
  });
}

}  // namespace nplus1::hypothesis
