#include "hypothesis/transform/transform.hpp"

#include <algorithm>

#include "events/limits.hpp"

namespace nplus1::hypothesis::transform {
namespace {

using events::difference_within;
using events::sum_within;

Time later_by(Time time, Duration by) {
  return Time{sum_within(time.time_since_epoch(), by)};
}

void add(std::int64_t& picoseconds, std::int64_t more) {
  picoseconds = sum_within(Duration{picoseconds}, Duration{more}).count();
}

}  // namespace

void Call::remove() {
  events::Event local;
  local.kind = events::EventKind::kLocal;
  local.thread = event.thread;
  local.call = event.call;
  local.site = event.site;
  local.compute_ps = event.compute_ps;
  event = local;
  lists = {};
  took = Duration::zero();
  unfinished = false;
  removed = true;
  answer = &events::kNoAnswer;
  completed = {};
  detail = nullptr;
}

void hand_on(events::EventSink& next, RankId rank, const RecordedCall& call, std::uint64_t ordinal) {
  const Time exit = call.finished ? later_by(call.event.entry(), call.took) : events::kUnfinished;
  next.on_event({rank,
                 call.event,
                 {call.words, call.sizes},
                 exit,
                 call.answer,
                 call.completed,
                 call.detail_or_null(),
                 ordinal});
}

void Transform::begin(events::EventSink& next) {
  next_ = &next;
  ranks_.clear();
  restart();
}

void Transform::on_event(const events::TimedEvent& timed) {
  const std::size_t r = timed.rank.index();
  if (r >= ranks_.size()) ranks_.resize(r + 1);
  Call call{timed.event,   timed.extension, {},          timed.exit == events::kUnfinished,
            &timed.answer, timed.completed, timed.detail};
  if (!call.unfinished)
    call.took = difference_within(timed.exit.time_since_epoch(), timed.event.entry().time_since_epoch());
  before_.clear();
  after_.clear();
  change(timed.rank, timed.ordinal, call);
  const std::size_t thread = timed.event.thread.index();
  if (thread >= ranks_[r].later.size()) ranks_[r].later.resize(thread + 1);
  Duration& later = ranks_[r].later[thread];
  share_computing(call);
  Time now = later_by(later_by(timed.event.entry(), -timed.event.compute()), later);
  std::uint64_t ordinal = timed.ordinal + ranks_[r].inserted;
  ranks_[r].inserted += before_.size() + after_.size();
  for (Call& c : before_) now = emit(timed.rank, c, now, ordinal++);
  now = emit(timed.rank, call, now, ordinal++);
  for (Call& c : after_) now = emit(timed.rank, c, now, ordinal++);
  if (timed.exit != events::kUnfinished)
    later = difference_within(now.time_since_epoch(), timed.exit.time_since_epoch());
}

/// The computing in front of the call is in front of what comes before it now. Charges go with their calls.
void Transform::share_computing(Call& call) {
  const std::int64_t charge = call_interval_.count();
  // Of several events of one call only the first was charged.
  const std::int64_t own = std::min(call.event.compute_ps, charge);
  for (auto* made : {&before_, &after_})
    for (Call& c : *made) add(c.event.compute_ps, charge);
  if (call.removed) call.event.compute_ps -= own;
  if (before_.empty()) return;
  const std::int64_t kept = call.removed ? 0 : own;
  add(before_.front().event.compute_ps, call.event.compute_ps - kept);
  call.event.compute_ps = kept;
}

/// Hands the call on; when it has returned.
Time Transform::emit(RankId rank, Call& call, Time begin, std::uint64_t ordinal) {
  const Time entry = later_by(begin, call.event.compute());
  call.event.entry_ps = entry.time_since_epoch().count();
  const Time exit = call.unfinished ? events::kUnfinished : later_by(entry, call.took);
  next_->on_event({rank, call.event, call.lists, exit, *call.answer, call.completed, call.detail, ordinal});
  return call.unfinished ? entry : exit;
}

void Transform::on_match(RankId receiver, const events::Answer& match) {
  if (keeps_match(receiver, match)) next_->on_match(receiver, match);
}

}  // namespace nplus1::hypothesis::transform
