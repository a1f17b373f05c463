#include "events/exchange/checked_sink.hpp"

#include <algorithm>

namespace nplus1::events::exchange {
namespace {

bool is_transfer(EventKind kind) {
  return kind >= EventKind::kSend && kind <= EventKind::kIrecv;
}

bool is_completion(EventKind kind) {
  return kind == EventKind::kWait || kind == EventKind::kTest;
}

}  // namespace

bool CheckedSink::demand(bool holds, const char* what, std::int64_t value) {
  if (!holds && !trouble_) trouble_ = std::string{what} + " " + std::to_string(value);
  return holds && !trouble_;
}

bool CheckedSink::check_lists(const TimedEvent& event) {
  const auto wanted = event.event.aux;
  const std::size_t words = event.extension.words.size();
  if (is_completion(event.event.kind) &&
      !demand(wanted == words, "a list of requests whose length is not", static_cast<std::int64_t>(wanted)))
    return false;
  return std::all_of(event.completed.begin(), event.completed.end(), [&](std::uint32_t position) {
    return demand(position < words, "there is no request at position", position);
  });
}

bool CheckedSink::check_event(const TimedEvent& event) {
  const Event& e = event.event;
  return demand(is_rank(event.rank.value), "there is no rank", event.rank.value) &&
         demand(e.kind > EventKind::kNone && e.kind <= EventKind::kFinalize, "there is no kind of event",
                static_cast<int>(e.kind)) &&
         demand(!is_transfer(e.kind) || is_rank(e.peer) || e.peer == kAnySource.value ||
                    e.peer == kProcNull.value,
                "there is no peer", e.peer) &&
         demand(e.size >= 0, "a negative size", e.size) &&
         demand(e.comm.value < kMaxId, "communicator", e.comm.value) &&
         demand(e.kind < EventKind::kRegionBegin || e.kind > EventKind::kRegionEnd || e.aux < kMaxId,
                "region", static_cast<std::int64_t>(e.aux)) &&
         demand(e.site.value < kMaxId, "call path", e.site.value) &&
         demand(e.entry_ps >= 0 && event.exit >= e.entry(), "a call that ends before it begins, at",
                e.entry_ps) &&
         check_lists(event);
}

void CheckedSink::on_event(const TimedEvent& event) {
  if (trouble_ || !check_event(event)) return;
  ++events_;
  sink_.on_event(event);
}

void CheckedSink::on_match(RankId receiver, const Answer& match) {
  if (!demand(is_rank(receiver.value), "there is no rank", receiver.value) ||
      !demand(is_rank(match.source) || match.source == kProcNull.value, "there is no source", match.source) ||
      !demand(match.size >= 0, "a negative size", match.size))
    return;
  ++matches_;
  sink_.on_match(receiver, match);
}

void CheckedSink::on_communicator(const Communicator& communicator) {
  if (!demand(communicator.id.value < kMaxId, "communicator", communicator.id.value) ||
      !demand(communicator.first_group <= communicator.members.size(), "a first group of",
              static_cast<std::int64_t>(communicator.first_group)))
    return;
  for (const RankId member : communicator.members) {
    if (!demand(is_rank(member.value), "there is no member", member.value)) return;
  }
  sink_.on_communicator(communicator);
}

void CheckedSink::on_call_path(const CallPath& path) {
  if (demand(path.id.value < kMaxId, "call path", path.id.value)) sink_.on_call_path(path);
}

void CheckedSink::on_region(const Region& region) {
  if (demand(region.id.value < kMaxId, "region", region.id.value)) sink_.on_region(region);
}

void CheckedSink::on_datatype(const Datatype& datatype) {
  if (demand(datatype.id.value < kMaxId, "datatype", datatype.id.value) &&
      demand(datatype.bytes >= 0, "a datatype of negative size", datatype.bytes))
    sink_.on_datatype(datatype);
}

}  // namespace nplus1::events::exchange
