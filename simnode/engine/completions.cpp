#include "simnode/engine/completions.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "simnode/engine/agenda.hpp"
#include "simnode/engine/calls.hpp"
#include "simnode/engine/decisions.hpp"
#include "simnode/engine/lanes.hpp"

namespace nplus1::simnode::engine {

using events::CompletionMode;
using events::EventKind;

namespace {

bool waits_for_all(const events::Event& event) {
  return event.kind == EventKind::kWait && event.completion_mode() == CompletionMode::kAll;
}

std::uint64_t held_up_key(RankId rank, RequestId id) {
  return (static_cast<std::uint64_t>(rank.index()) << 32U) | id.value;
}

[[noreturn]] void reject_unnumbered(RankId rank) {
  throw std::invalid_argument("rank " + std::to_string(rank.value) + " starts a request without a number");
}

}  // namespace

void Completions::add(Lane& lane, const events::Event& event, Request::Kind kind) {
  if (event.request == kNoRequest) [[unlikely]]  // which stands for a free place
    reject_unnumbered(lane.rank);
  Request& request = lanes_.rank_of(lane).requests.insert(event.request);
  request.kind = kind;
  request.report_match = event.has(events::kReportMatch);
  request.synchronous = kind == Request::Kind::kSend && event.send_mode() == events::SendMode::kSynchronous;
  request.thread = lane.thread.value;
  request.pending() = {0, event.comm, event.peer};
}

/// How long a transfer was held up is kept only where it was, so that others pay nothing.
void Completions::complete(RankId rank, RequestId id, Time at, Duration overhead, Duration held_up) {
  RequestTable& requests = lanes_.rank_of(rank).requests;
  Request* request = requests.find(id);
  if (request == nullptr || request->known) return;
  if (request->freed) return requests.erase(id);
  request->complete({at, overhead});
  if (held_up > Duration::zero()) held_up_[held_up_key(rank, id)] = held_up;
  if (request->waiter == kNoLane) return;
  Lane& lane = lanes_[request->waiter];
  request->waiter = kNoLane;
  --lane.unknown;
  if (!lane.waits_for_all) {
    lane.tally.complete(at, lane.entry);
    if (lane.unknown == 0) lane.tally = tally(lane, lane.words);  // an id may stand there twice
    return decisions_.reconsider(lane);
  }
  if (lane.unknown == 0 && lane.run == Run::kBlocked)
    decisions_.decide_lane(lane);  // nothing to tally: all are known
}

Duration Completions::take_held_up(RankId rank, RequestId id) {
  if (held_up_.empty()) return {};
  const auto found = held_up_.find(held_up_key(rank, id));
  if (found == held_up_.end()) return {};
  const Duration held_up = found->second;
  held_up_.erase(found);
  return held_up;
}

bool Completions::free(Lane& lane, const events::Event& event, Outcome& out) {
  out.exit = lane.entry;
  RequestTable& requests = lanes_.rank_of(lane).requests;
  Request* request = requests.find(event.request);
  if (request == nullptr) return true;
  if (request->known) {
    static_cast<void>(take_held_up(lane.rank, event.request));
    requests.erase(event.request);
  } else {
    request->freed = true;
  }
  return true;
}

bool Completions::wait(Lane& lane, const events::Event& event, const events::Extension& extension,
                       Outcome& out) {
  bool certain = false;
  std::optional<Time> when;
  if (waits_for_all(event)) {
    await(lane, event, extension.words);
    certain = lane.unknown == 0;
  } else {
    lane.tally = tally(lane, extension.words);
    when = decision_time(lane, event, lane.tally, certain);
    if (!certain) await(lane, event, extension.words);
  }
  if (certain) {
    conclude(lane, event, extension.words, out);
    return true;
  }
  calls_.block(lane, event, extension);
  if (when) agenda_.plan(lane, *when);
  return false;
}

Tally Completions::tally(Lane& lane, Ids ids) {
  RequestTable& requests = lanes_.rank_of(lane).requests;
  Tally t;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Request* request = requests.find(RequestId{ids[i]});
    if (request == nullptr) continue;
    ++t.active;
    if (!request->known) {
      ++t.unknown;
      continue;
    }
    if (request->at() <= lane.entry) ++t.by_entry;
    if (request->at() < t.first) {
      t.first = request->at();
      t.position = static_cast<std::int32_t>(i);
    }
  }
  return t;
}

/// Has the lane told when the requests' completions become known.
void Completions::await(Lane& lane, const events::Event& event, Ids ids) {
  RequestTable& requests = lanes_.rank_of(lane).requests;
  lane.unknown = 0;
  lane.waits_for_all = waits_for_all(event);
  for (const std::uint32_t id : ids) {
    Request* request = requests.find(RequestId{id});
    if (request == nullptr || request->known || request->waiter != kNoLane) continue;
    request->waiter = lanes_.index_of(lane);
    ++lane.unknown;
  }
}

void Completions::forget(Lane& lane, Ids ids) {
  if (lane.unknown == 0) return;
  RequestTable& requests = lanes_.rank_of(lane).requests;
  for (const std::uint32_t id : ids) {
    Request* request = requests.find(RequestId{id});
    if (request != nullptr && request->waiter == lanes_.index_of(lane)) request->waiter = kNoLane;
  }
  lane.unknown = 0;
}

std::optional<Time> Completions::decision_time(const Lane& lane, const events::Event& event, const Tally& t,
                                               bool& certain) {
  const CompletionMode mode = event.completion_mode();
  certain = t.unknown == 0;
  if (event.kind == EventKind::kWait) {
    if (mode == CompletionMode::kAll || t.position < 0) return std::nullopt;
    return mode == CompletionMode::kAny ? t.first : std::max(lane.entry, t.first);
  }
  const bool late = t.active - t.unknown > t.by_entry;
  if (mode == CompletionMode::kAll && late) certain = true;  // fails, whatever the others do
  return mode == CompletionMode::kAny ? std::min(lane.entry, t.first) : lane.entry;
}

void Completions::conclude(Lane& lane, const events::Event& event, Ids ids, Outcome& out) {
  out.exit = lane.entry;
  out.answer.index = -1;
  out.answer.flag = 1;
  if (waits_for_all(event)) return complete_all(lane, ids, out);
  const Tally t = tally(lane, ids);
  if (t.active == 0) return lane.poll.reset();
  switch (event.completion_mode()) {
    case CompletionMode::kAll:
      conclude_all(lane, event, ids, t, out);
      break;
    case CompletionMode::kAny:
      conclude_any(lane, event, ids, t, out);
      break;
    case CompletionMode::kSome:
      conclude_some(lane, event, ids, t, out);
      break;
  }
  forget(lane, ids);
}

void failed_poll(Lane& lane, Outcome& out) {
  out.answer.flag = 0;
  out.exit = lane.entry + lane.poll.next();
}

void Completions::conclude_all(Lane& lane, const events::Event& event, Ids ids, const Tally& t,
                               Outcome& out) {
  if (t.by_entry < t.active) return failed_poll(lane, out);
  if (!event.has(events::kKeepsRequests)) complete_all(lane, ids, out);
  lane.poll.reset();
}

void Completions::complete_all(Lane& lane, Ids ids, Outcome& out) {
  lane.poll.reset();
  RequestTable& requests = lanes_.rank_of(lane).requests;
  if (of_call_.size() < ids.size()) of_call_.resize(ids.size());
  std::size_t count = 0;
  const bool any_held_up = !held_up_.empty();
  Time last = Time::min();  // what came last let the call return
  for (const std::uint32_t id : ids) {
    Request* request = requests.find(RequestId{id});
    if (request == nullptr) continue;
    of_call_[count++] = {request->at(), request->done().overhead};
    if (any_held_up) {
      const Duration held_up = take_held_up(lane.rank, RequestId{id});
      if (std::exchange(last, std::max(last, request->at())) <= request->at())
        out.answer.aux = static_cast<std::uint64_t>(held_up.count());
    }
    requests.erase(request);
  }
  out.exit = semantics::complete_all(lane.entry, std::span{of_call_}.first(count));
}

void Completions::conclude_any(Lane& lane, const events::Event& event, Ids ids, const Tally& t,
                               Outcome& out) {
  if (event.kind == EventKind::kTest && t.first > lane.entry) return failed_poll(lane, out);
  lane.poll.reset();
  out.answer.index = t.position;
  out.completed.push_back(static_cast<std::uint32_t>(t.position));
  if (event.has(events::kKeepsRequests)) return;
  RequestTable& requests = lanes_.rank_of(lane).requests;
  const RequestId id{ids[static_cast<std::size_t>(t.position)]};
  out.answer.request = id;
  out.exit = std::max(lane.entry, t.first) + requests.find(id)->done().overhead;
  out.answer.aux = static_cast<std::uint64_t>(take_held_up(lane.rank, id).count());
  requests.erase(id);
}

void Completions::conclude_some(Lane& lane, const events::Event& event, Ids ids, const Tally& t,
                                Outcome& out) {
  out.answer.index = 0;
  if (event.kind == EventKind::kTest && t.first > lane.entry) return failed_poll(lane, out);
  lane.poll.reset();
  const Time until = std::max(lane.entry, t.first);
  RequestTable& requests = lanes_.rank_of(lane).requests;
  of_call_.clear();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Request* request = requests.find(RequestId{ids[i]});
    if (request == nullptr || !request->known || request->at() > until) continue;
    out.completed.push_back(static_cast<std::uint32_t>(i));
    of_call_.push_back({request->done().at, request->done().overhead});
    if (event.has(events::kKeepsRequests)) continue;
    const Duration held_up = take_held_up(lane.rank, RequestId{ids[i]});
    if (request->at() == t.first) out.answer.aux = static_cast<std::uint64_t>(held_up.count());
    requests.erase(RequestId{ids[i]});
  }
  out.answer.index = static_cast<std::int32_t>(out.completed.size());
  if (!event.has(events::kKeepsRequests)) out.exit = semantics::complete_all(lane.entry, of_call_);
}

}  // namespace nplus1::simnode::engine
