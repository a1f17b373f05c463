#include "patterns/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "events/thread_change.hpp"
#include "patterns/file_statistics.hpp"

namespace nplus1::patterns {
namespace {

using events::Event;
using events::EventKind;

/// What a thread does between entry and exit of such an event; nothing for those that are no call.
std::optional<Activity> activity_of(EventKind kind) {
  switch (kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
    case EventKind::kOneSided:
      return Activity::kSend;
    case EventKind::kRecv:
    case EventKind::kIrecv:
    case EventKind::kWait:
    case EventKind::kTest:
    case EventKind::kProbe:
    case EventKind::kIprobe:
    case EventKind::kWindowSync:
      return Activity::kReceive;
    case EventKind::kFileAccess:
      return Activity::kFile;
    case EventKind::kCollective:
    case EventKind::kIcollective:
      return Activity::kCollective;
    case EventKind::kUnmodelledEnter:
    case EventKind::kUnmodelledExit:
      return Activity::kUnmodelled;
    case EventKind::kLocal:
    case EventKind::kFinalize:
      return Activity::kCompute;
    default:
      return std::nullopt;
  }
}

}  // namespace

Timeline::Timeline(std::size_t ranks, const TimelineOptions& options)
    : ranks_{ranks},
      options_{options},
      intervals_{ranks, options.intervals, options.begin, options.end},
      messages_{options.messages, options.begin, options.end} {}

void Timeline::on_event(const events::TimedEvent& timed) {
  const bool returned = timed.exit != events::kUnfinished;
  run_end_ = std::max(run_end_, returned ? timed.exit : timed.event.entry());
  add_interval(timed);
  add_message(timed);
}

void Timeline::add_interval(const events::TimedEvent& timed) {
  const Event& event = timed.event;
  auto activity = activity_of(event.kind);
  if (activity && events::is_modelled_call(event.kind) && is_file_call(event.call))
    activity = Activity::kFile;
  if (!activity || events::is_access(event)) return;
  if (events::is_thread_change(event)) return;
  Interval interval{event.entry(), timed.exit, event.site, event.call, *activity};
  if (event.kind == EventKind::kUnmodelledEnter) {
    unmodelled_[{timed.rank, event.thread}] = event;
    interval.end = interval.begin;
  } else if (event.kind == EventKind::kUnmodelledExit) {
    const auto entered = unmodelled_.extract({timed.rank, event.thread});
    if (entered) interval.begin = entered.mapped().entry();
  }
  if (timed.exit == events::kUnfinished) interval.activity = Activity::kStuck;
  if (event.call < called_.size()) called_[event.call] = true;
  intervals_.add(timed.rank, event.thread, interval);
}

void Timeline::add_message(const events::TimedEvent& timed) {
  const Event& event = timed.event;
  const events::Answer& answer = timed.answer;
  if (answer.kind != events::AnswerKind::kExit) return;  // never came out: which message it was is not known
  if (event.kind == EventKind::kSend || event.kind == EventKind::kIsend) {
    if (event.peer < 0) return;  // MPI_PROC_NULL: nothing travels
    messages_.sent({timed.rank, event.peer_rank(), answer.sequence}, event.entry(), event.payload());
  } else if (event.kind == EventKind::kRecv && answer.source >= 0) {
    messages_.received({RankId{answer.source}, timed.rank, answer.sequence}, timed.exit);
  }
}

void Timeline::on_match(RankId receiver, const events::Answer& match) {
  if (match.source >= 0) messages_.received({RankId{match.source}, receiver, match.sequence}, match.exit());
}

std::string Timeline::calls_json() const {
  std::string text = "{";
  for (std::size_t call = 0; call < called_.size(); ++call) {
    if (!called_[call]) continue;
    text += fmt::format("{}\"{}\": \"{}\"", text.size() > 1 ? ", " : "", call,
                        call == 0 ? "" : events::name(static_cast<events::MpiCall>(call)));
  }
  return text + "}";
}

std::string Timeline::json() const {
  const auto picoseconds = [](Time t) { return t.time_since_epoch().count(); };
  return fmt::format(
      "{{\n  \"schema\": \"{}\",\n  \"ranks\": {},\n  \"begin_ps\": {},\n  \"end_ps\": {},\n  "
      "\"run_end_ps\": {},\n"
      "  \"activities\": [\"{}\"],\n  \"calls\": {},\n{},\n{}\n}}\n",
      kTimelineSchema, ranks_, picoseconds(options_.begin), picoseconds(std::min(run_end_, options_.end)),
      picoseconds(run_end_), fmt::join(kActivityNames, "\", \""), calls_json(),
      intervals_.json_members(run_end_), messages_.json_member());
}

}  // namespace nplus1::patterns
