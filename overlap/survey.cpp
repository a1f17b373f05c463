#include "overlap/survey.hpp"

#include <algorithm>

#include "events/mpi_call.hpp"

namespace nplus1::overlap {
namespace {

using events::Access;
using events::Event;
using events::EventKind;
using events::MpiCall;

bool is_call(const Event& event, MpiCall call) {
  return event.call == static_cast<std::uint16_t>(call);
}

bool is_exchange(const Event& event) {
  return is_call(event, MpiCall::MPI_Sendrecv) || is_call(event, MpiCall::MPI_Sendrecv_replace);
}

Touch touch_of(const events::TimedEvent& timed) {
  const Event& e = timed.event;
  const auto by = std::clamp<std::int32_t>(e.peer, 0, static_cast<std::int32_t>(Toucher::kEnd));
  return {timed.ordinal,
          e.entry_ps,
          e.size,
          e.site.value,
          e.thread,
          static_cast<Toucher>(by),
          (e.tag & events::kInexactAccess) != 0,
          (e.tag & events::kWriteAccess) != 0};
}

}  // namespace

bool MessageEnd::from_anybody() const {
  return receives() && (event.peer_rank() == kAnySource || event.tag == kAnyTag);
}

bool MessageEnd::is_watched() const {
  return !first.inexact || first.site != event.site.value;
}

const char* not_deferrable(const MessageEnd& end) {
  const Event& e = end.event;
  if (end.to_nobody()) return "";
  if (!end.receives() && e.send_mode() == events::SendMode::kSynchronous)
    return "a synchronous send tells its sender that the receiver is there";
  if (!end.receives() && e.send_mode() == events::SendMode::kBuffered)
    return "a buffered send waits for nobody";
  if (is_call(e, MpiCall::MPI_Sendrecv_replace)) return "MPI_Sendrecv_replace would need a second buffer";
  if (e.has(events::kMatched)) return "a matching probe has taken its message already";
  if (e.has(events::kPersistent)) return "a persistent request is started and waited for by its own calls";
  if ((end.receives() ? end.answer.size : e.size) == 0) return "a message without data synchronises";
  if (end.from_anybody() && end.status.known())
    return "it takes any message, and the program asks which one it got";
  if (end.waited == Waited::kOtherwise)
    return "its request is tested, waited for among others, or never waited for";
  return "";
}

const Moment* SurveyedRank::moment(std::uint64_t ordinal) const {
  // A full recording has no gaps.
  if (const std::uint64_t first = moments.empty() ? kNoOrdinal : moments.front().ordinal;
      ordinal >= first && ordinal - first < moments.size() && moments[ordinal - first].ordinal == ordinal)
    return &moments[ordinal - first];
  const auto at = std::lower_bound(moments.begin(), moments.end(), ordinal,
                                   [](const Moment& m, std::uint64_t o) { return m.ordinal < o; });
  return at != moments.end() && at->ordinal == ordinal ? &*at : nullptr;
}

/// A thread that was blocked for long has its call decided when thousands that follow it have been: seldom, and near the
/// end of what is known.
bool SurveyedRank::add(const Moment& moment) {
  if (moment.thread.index() >= of_thread.size()) of_thread.resize(moment.thread.index() + 1);
  std::size_t at = moments.size();
  if (at > 0 && moments.back().ordinal >= moment.ordinal) {
    at = static_cast<std::size_t>(
        std::lower_bound(moments.begin(), moments.end(), moment.ordinal,
                         [](const Moment& m, std::uint64_t o) { return m.ordinal < o; }) -
        moments.begin());
    if (moments[at].ordinal == moment.ordinal) return false;  // twice: the recording is not sound
    for (auto& lane : of_thread)
      for (auto place = lane.rbegin(); place != lane.rend() && *place >= at; ++place) ++*place;
  }
  moments.insert(moments.begin() + static_cast<std::ptrdiff_t>(at), moment);
  auto& lane = of_thread[moment.thread.index()];
  const auto place = static_cast<std::uint32_t>(at);
  lane.insert(std::upper_bound(lane.begin(), lane.end(), place), place);
  return true;
}

MessageEnd* SurveyedRank::end(std::uint64_t ordinal) {
  const auto at = std::lower_bound(ends.begin(), ends.end(), ordinal,
                                   [](const MessageEnd& e, std::uint64_t o) { return e.ordinal < o; });
  return at != ends.end() && at->ordinal == ordinal ? &*at : nullptr;
}

void Survey::on_event(const events::TimedEvent& timed) {
  const Event& e = timed.event;
  SurveyedRank& rank = ranks_.at(timed.rank.index());
  const std::int64_t exit =
      timed.exit == events::kUnfinished ? e.entry_ps : timed.exit.time_since_epoch().count();
  if (!rank.add({timed.ordinal, e.entry_ps, exit, e.compute_ps, e.kind, e.operation, e.call, e.site.value,
                 e.comm.value, e.thread, e.peer, e.tag}))
    return;
  switch (e.kind) {
    case EventKind::kSend:
    case EventKind::kRecv:
    case EventKind::kIsend:
    case EventKind::kIrecv:
      return message(timed);
    case EventKind::kWait:
    case EventKind::kTest:
      return completion(timed);
    case EventKind::kCollective:
    case EventKind::kIcollective:
      return use(timed, e.size, true);
    case EventKind::kLocal:
      if (events::is_access(e)) access(timed);
      return;
    default:
      return;
  }
}

void Survey::message(const events::TimedEvent& timed) {
  SurveyedRank& rank = ranks_[timed.rank.index()];
  MessageEnd end;
  end.event = timed.event;
  end.ordinal = timed.ordinal;
  end.end_ps = rank.moment(timed.ordinal)->exit_ps;
  end.answer = timed.answer;
  if (timed.detail != nullptr) {
    end.datatype = timed.detail->datatype.value;
    end.buffer = timed.detail->buffer;
  }
  use(timed, timed.event.size, end.receives());
  auto& untouched = untouched_[timed.rank.index()];
  if (const auto known = untouched.find(timed.ordinal); known != untouched.end()) {
    end.untouched_ps = known->second;
    untouched.erase(known);
  }
  auto& open = open_[timed.rank.index()];
  const auto at = std::upper_bound(rank.ends.begin(), rank.ends.end(), timed.ordinal,
                                   [](std::uint64_t o, const MessageEnd& e) { return o < e.ordinal; });
  const auto place = static_cast<std::size_t>(at - rank.ends.begin());
  if (place < rank.ends.size())
    for (auto& [request, end_of] : open) end_of += end_of >= place ? 1 : 0;
  if (timed.event.kind == EventKind::kSend || timed.event.kind == EventKind::kRecv) {
    end.waited = timed.exit == events::kUnfinished ? Waited::kOtherwise : Waited::kInTheCall;
    end.completed = timed.ordinal;
  } else {
    open.insert_or_assign(timed.event.request.value, place);
  }
  rank.ends.insert(at, std::move(end));
}

void Survey::use(const events::TimedEvent& timed, std::int64_t size, bool writes) {
  if (timed.detail == nullptr || timed.detail->buffer == 0) return;
  const std::uint64_t begin = timed.detail->buffer;
  auto& uses = ranks_[timed.rank.index()].uses;
  const auto at = std::upper_bound(uses.begin(), uses.end(), timed.ordinal,
                                   [](std::uint64_t o, const Use& u) { return o < u.ordinal; });
  uses.insert(at, {begin, begin + static_cast<std::uint64_t>(std::max<std::int64_t>(1, size)), timed.ordinal,
                   writes});
}

void Survey::completion(const events::TimedEvent& timed) {
  const Event& e = timed.event;
  SurveyedRank& rank = ranks_[timed.rank.index()];
  auto& open = open_[timed.rank.index()];
  const bool all = e.completion_mode() == events::CompletionMode::kAll;
  if (timed.exit == events::kUnfinished || e.has(events::kKeepsRequests)) return;
  if (e.kind == EventKind::kTest && timed.answer.flag == 0) return;
  const auto complete = [&](std::uint32_t request) {
    const auto known = open.find(request);
    if (known == open.end()) return;
    MessageEnd& end = rank.ends[known->second];
    open.erase(known);
    end.completed = timed.ordinal;
    end.end_ps = rank.moment(timed.ordinal)->exit_ps;
    if (e.kind != EventKind::kWait || !all) return;
    end.waited = is_exchange(end.event) && is_exchange(e) ? Waited::kInTheCall : Waited::kAll;
  };
  if (all)
    for (const std::uint32_t request : timed.extension.words) complete(request);
  else
    for (const std::uint32_t position : timed.completed)
      if (position < timed.extension.words.size()) complete(timed.extension.words[position]);
}

void Survey::on_match(RankId receiver, const events::Answer& match) {
  auto& open = open_.at(receiver.index());
  const auto known = open.find(match.request.value);
  if (known != open.end()) ranks_[receiver.index()].ends[known->second].answer = match;
}

void Survey::access(const events::TimedEvent& timed) {
  ++accesses_;
  SurveyedRank& rank = ranks_[timed.rank.index()];
  const auto access = static_cast<Access>(timed.event.operation);
  if (access == Access::kLastTouch) {
    if (!timed.extension.sizes.empty())
      untouched_[timed.rank.index()].insert_or_assign(timed.event.aux, timed.extension.sizes.front());
    return;
  }
  MessageEnd* end = rank.end(timed.event.aux);
  if (end == nullptr) return;
  const Touch touch = touch_of(timed);
  if (access == Access::kEarlyTouch) return end->early.push_back(touch);
  Touch& first = access == Access::kStatusUse ? end->status : end->first;
  if (!first.known()) first = touch;
}

}  // namespace nplus1::overlap
