#include "hypothesis/recorded/adaptation.hpp"

#include <algorithm>
#include <utility>

namespace nplus1::hypothesis {
namespace {

using events::CompletionMode;
using events::Event;
using events::EventKind;

bool is_any_or_some(const Event& event) {
  return event.completion_mode() != CompletionMode::kAll;
}

/// Probes, and leaves the message where it is.
bool looks_only(const Event& event) {
  return event.kind == EventKind::kIprobe && !event.has(events::kTakesMessage);
}

/// May stand between a probe and the receive of what it found.
bool leaves_open(EventKind kind) {
  switch (kind) {
    case EventKind::kLocal:
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd:
    case EventKind::kSend:
    case EventKind::kIsend:
    case EventKind::kRecv:
    case EventKind::kIrecv:
      return true;
    default:
      return false;
  }
}

bool succeeded(const RecordedCall& call) {
  return call.event.kind == EventKind::kWait || call.answer.flag != 0;
}

/// Of the recording's ids, in the order of the list.
std::vector<std::uint32_t> recorded_completions(const RecordedCall& call) {
  if (!is_any_or_some(call.event)) return call.words;
  std::vector<std::uint32_t> ids;
  for (const std::uint32_t position : call.completed)
    if (position < call.words.size()) ids.push_back(call.words[position]);
  return ids;
}

std::vector<std::uint32_t> actual_completions(const RecordedCall& call, const CallOutcome& outcome) {
  if (!is_any_or_some(call.event)) return call.words;
  std::vector<std::uint32_t> ids;
  for (const std::uint32_t position : outcome.completed) ids.push_back(call.words.at(position));
  return ids;
}

/// Many calls wait for very many requests at once: neither is searched by walking it.
class Ids {
 public:
  explicit Ids(std::vector<std::uint32_t> ids) : sorted_{std::move(ids)} {
    std::sort(sorted_.begin(), sorted_.end());
  }
  [[nodiscard]] bool have(std::uint32_t id) const {
    return std::binary_search(sorted_.begin(), sorted_.end(), id);
  }

 private:
  std::vector<std::uint32_t> sorted_;
};

void remove_from(std::vector<std::uint32_t>& ids, const std::vector<std::uint32_t>& gone) {
  const Ids all{gone};
  std::erase_if(ids, [&](std::uint32_t id) { return all.have(id); });
}

}  // namespace

AdaptationCounts& AdaptationCounts::operator+=(const AdaptationCounts& other) {
  swapped += other.swapped;
  predrawn += other.predrawn;
  left_out += other.left_out;
  waited_tests += other.waited_tests;
  waited += other.waited;
  recorded_tests += other.recorded_tests;
  tests += other.tests;
  tested += other.tested;
  other_message += other.other_message;
  gave_up += other.gave_up;
  threaded_ranks += other.threaded_ranks;
  return *this;
}

std::uint32_t Adaptation::now(std::uint32_t recorded) const {
  const auto found = now_.find(recorded);
  return found == now_.end() ? recorded : found->second;
}

std::uint32_t Adaptation::recorded_as(std::uint32_t request) const {
  const auto found = recorded_.find(request);
  return found == recorded_.end() ? request : found->second;
}

void Adaptation::stand_for(std::uint32_t recorded, std::uint32_t request) {
  if (recorded == request) return;
  now_[recorded] = request;
  recorded_[request] = recorded;
}

/// The recording is done with this id.
void Adaptation::ended(std::uint32_t recorded) {
  const auto found = now_.find(recorded);
  if (found == now_.end()) return;
  const auto back = recorded_.find(found->second);
  if (back != recorded_.end() && back->second == recorded) recorded_.erase(back);
  now_.erase(found);
}

bool Adaptation::adapt(RecordedCall& call) {
  const EventKind kind = call.event.kind;
  if (!leaves_open(kind)) forget_looks(call.event.thread.value);
  switch (kind) {
    case EventKind::kWait:
    case EventKind::kTest:
      return adapt_completion(call);
    case EventKind::kCancelled:
    case EventKind::kRequestFree:
      return adapt_single(call);
    case EventKind::kRecv:
    case EventKind::kIrecv:
      if (auto probe = probe_in_front_of(call))
        call = *std::move(probe);
      else
        adapt_receive(call);
      return true;
    case EventKind::kIprobe:
      if (!call.finished || looks_only(call.event)) return true;
      if (call.answer.flag != 0)
        call.event.kind = EventKind::kProbe;
      else  // what it may find now is not received yet
        call.event.flags = static_cast<std::uint8_t>(call.event.flags & ~events::kTakesMessage);
      return true;
    default:
      return true;
  }
}

void Adaptation::drop_complete(RecordedCall& call) const {
  std::vector<std::uint32_t>& ids = call.words;
  for (std::uint32_t& id : ids) id = now(id);
  ids.erase(
      std::remove_if(ids.begin(), ids.end(), [this](std::uint32_t id) { return early_.count(id) != 0; }),
      ids.end());
  call.event.aux = ids.size();
}

bool Adaptation::adapt_completion(RecordedCall& call) {
  const bool test = call.event.kind == EventKind::kTest && !call.event.has(events::kKeepsRequests);
  const bool had_requests = !call.words.empty();
  counts_.recorded_tests += test && had_requests ? 1 : 0;
  const bool completes = call.finished && succeeded(call) && !call.event.has(events::kKeepsRequests);
  std::vector<std::uint32_t> wanted = completes ? recorded_completions(call) : std::vector<std::uint32_t>{};
  const bool known = !wanted.empty();
  drop_complete(call);
  for (std::uint32_t& id : wanted) {
    const std::uint32_t recorded = id;
    id = now(recorded);
    if (early_.erase(id) == 0) continue;
    ended(recorded);
    id = 0;
  }
  wanted.erase(std::remove(wanted.begin(), wanted.end(), 0U), wanted.end());
  if (completes ? known && wanted.empty() : test && had_requests && call.words.empty()) {
    ++counts_.left_out;
    return false;
  }
  counts_.tests += test && had_requests ? 1 : 0;
  counts_.tested += test ? wanted.size() : 0;
  if (!completes) return true;
  call.event.kind = EventKind::kWait;
  wanted_[call.event.thread.value] = std::move(wanted);
  return true;
}

/// A call about one request.
bool Adaptation::adapt_single(RecordedCall& call) {
  const std::uint32_t recorded = call.event.request.value;
  call.event.request = RequestId{now(recorded)};
  const bool complete = early_.count(call.event.request.value) != 0;
  if (call.event.kind == EventKind::kRequestFree) {
    early_.erase(call.event.request.value);
    ended(recorded);
  } else if (complete) {
    ++counts_.gave_up;  // too late to be cancelled; the wait that follows finds it complete
  }
  return !complete;
}

void Adaptation::adapt_receive(RecordedCall& call) {
  Event& event = call.event;
  const auto redirect = [&event](const CallOutcome& found) {
    event.peer = found.source;
    event.tag = found.tag;
    event.size = std::max(event.size, found.size);
  };
  if (event.has(events::kMatched)) {
    const auto taken = std::find_if(taken_.begin(), taken_.end(), [&event](const Redirection& r) {
      return r.recorded_source == event.peer && r.recorded_sequence == event.aux;
    });
    if (taken == taken_.end()) return;
    redirect(taken->found);
    event.aux = taken->found.sequence;
    taken_.erase(taken);
    return;
  }
  const auto probed = probed_.find(event.thread.value);
  if (probed == probed_.end()) return;
  const Redirection& r = probed->second;
  if (event.comm != r.comm || event.peer != r.recorded_source || event.tag != r.recorded_tag) return;
  redirect(r.found);
  probed_.erase(probed);
}

/// Nobody receives what the thread's last probe that did not wait has found.
void Adaptation::forget_looks(std::uint16_t thread) {
  if (!failed_.empty()) failed_.erase(thread);
  if (probed_.empty()) return;
  if (const auto probed = probed_.find(thread); probed != probed_.end() && probed->second.looked_only)
    probed_.erase(probed);
}

/// If the thread's probe for the message of `receive`, which had found it, has failed: one that waits, and the receive is made behind it.
std::optional<RecordedCall> Adaptation::probe_in_front_of(RecordedCall& receive) {
  const std::uint16_t thread = receive.event.thread.value;
  const auto failed = failed_.find(thread);
  if (failed == failed_.end()) return std::nullopt;
  RecordedCall probe = std::move(failed->second);
  failed_.erase(failed);
  if (receive.event.has(events::kMatched) || receive.event.has(events::kPersistent) ||
      probe.event.comm != receive.event.comm || probe.answer.source != receive.event.peer ||
      probe.answer.tag != receive.event.tag)
    return std::nullopt;
  probe.event.kind = EventKind::kProbe;
  probe.event.compute_ps = std::exchange(receive.event.compute_ps, 0);
  behind_[thread] = receive;
  return probe;
}

std::optional<RecordedCall> Adaptation::came_out(const RecordedCall& call, const CallOutcome& outcome) {
  switch (call.event.kind) {
    case EventKind::kTest:
      if (outcome.flag && !call.event.has(events::kKeepsRequests) && call.finished) predraw(call, outcome);
      return std::nullopt;
    case EventKind::kWait:
      return swap(call, outcome);
    case EventKind::kIprobe:
      if (!call.finished || !looks_only(call.event) || call.answer.flag == 0) return std::nullopt;
      if (outcome.flag)
        note_message(call, outcome);
      else
        failed_[call.event.thread.value] = call;
      return std::nullopt;
    case EventKind::kProbe:
      if (call.finished) note_message(call, outcome);
      if (const auto behind = behind_.find(call.event.thread.value); behind != behind_.end()) {
        RecordedCall receive = std::move(behind->second);
        behind_.erase(behind);
        adapt_receive(receive);
        return receive;
      }
      return std::nullopt;
    case EventKind::kRecv:
      if (call.finished) note_message(call, outcome);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

void Adaptation::predraw(const RecordedCall& call, const CallOutcome& outcome) {
  const std::vector<std::uint32_t> ids = actual_completions(call, outcome);
  early_.insert(ids.begin(), ids.end());
  counts_.predrawn += ids.size();
  counts_.tested += ids.size();
}

std::optional<RecordedCall> Adaptation::swap(const RecordedCall& call, const CallOutcome& outcome) {
  const auto place = wanted_.find(call.event.thread.value);
  if (place == wanted_.end() || !call.finished) return std::nullopt;
  std::vector<std::uint32_t> wanted = std::move(place->second);
  wanted_.erase(place);
  if (call.kind == EventKind::kTest && outcome.took > call.took) {
    ++counts_.waited_tests;
    counts_.waited += outcome.took - call.took;
  }
  std::vector<std::uint32_t> done = actual_completions(call, outcome);
  const std::vector<std::uint32_t> all_done = done;
  std::vector<std::uint32_t> missing = wanted;
  remove_from(missing, done);
  remove_from(done, wanted);  // what is left are the others
  const Ids open{missing};
  for (const std::uint32_t id : wanted)
    if (!open.have(id)) ended(recorded_as(id));
  while (!missing.empty() && !done.empty()) {
    const std::uint32_t heir = recorded_as(done.back());
    const std::uint32_t spent = recorded_as(missing.back());
    ended(spent);
    ended(heir);
    stand_for(heir, missing.back());
    missing.pop_back();
    done.pop_back();
    ++counts_.swapped;
  }
  early_.insert(done.begin(), done.end());
  counts_.predrawn += done.size();
  if (missing.empty() || all_done.empty()) return std::nullopt;  // without requests, all is said
  RecordedCall rest = call;
  remove_from(rest.words, all_done);
  rest.event.aux = rest.words.size();
  rest.event.compute_ps = 0;
  rest.kind = EventKind::kWait;
  wanted_[call.event.thread.value] = std::move(missing);
  return rest;
}

void Adaptation::note_message(const RecordedCall& call, const CallOutcome& outcome) {
  const events::Answer& recorded = call.answer;
  const bool probe = call.event.kind != EventKind::kRecv;
  const bool takes = call.event.has(events::kTakesMessage);
  const bool same = recorded.source == outcome.source && recorded.tag == outcome.tag &&
                    (!takes || recorded.sequence == outcome.sequence);
  if (probe && !takes) probed_.erase(call.event.thread.value);
  if (same) return;
  if (call.event.peer_rank() == kAnySource) ++counts_.other_message;
  if (!probe) return;
  const Redirection r{call.event.comm,   recorded.source, recorded.tag,
                      recorded.sequence, outcome,         looks_only(call.event)};
  if (takes)
    taken_.push_back(r);
  else
    probed_[call.event.thread.value] = r;
}

}  // namespace nplus1::hypothesis
