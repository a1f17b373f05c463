#include "stubs/runtime/accesses.hpp"

#include <algorithm>
#include <cstring>

namespace nplus1::stubs {

using access::Watched;

namespace {

std::int64_t ps(Time t) {
  return t.time_since_epoch().count();
}

bool is_recorded(Call& call) {
  return call.rt.capture() != nullptr && call.rt.capture()->records() && !call.rt.degraded();
}

events::Event event_of(events::Access which, events::Toucher who, bool write, bool inexact) {
  events::Event event;
  event.operation = static_cast<std::uint8_t>(which);
  event.peer = static_cast<std::int32_t>(who);
  event.tag = (inexact ? events::kInexactAccess : 0) | (write ? events::kWriteAccess : 0);
  return event;
}

Watched conflicts_with(bool receives) {
  return receives ? Watched::kAll : Watched::kWrites;
}

}  // namespace

void Accesses::begin_call(Call& call) {
  access::checkpoint(&call.thread.clock, ps(call.entry()));
  flush(call);
}

void Accesses::flush(Call& call) {
  access::Record record;
  while (access::take_record(&call.thread.clock, record)) {
    if (!is_recorded(call)) continue;
    events::Event event = event_of(record.which, record.who, record.write, record.inexact);
    event.aux = record.ordinal;
    event.size = static_cast<std::int64_t>(record.offset);
    event.site =
        record.path.size == 0 ? call.site() : call.rt.call_paths().id_of(record.path.at, record.path.size);
    call.emit_access(event, Time{Duration{record.at_ps}}, record.tick, nullptr);
  }
}

void Accesses::tell_last_touch(Call& call, const access::Touch& touch, std::uint64_t bytes) {
  if (!is_recorded(call)) return;
  events::Event event = event_of(events::Access::kLastTouch, touch.who, touch.write, touch.inexact);
  event.aux = call.rt.next_ordinal() + 1;  // the event after this one
  event.size = static_cast<std::int64_t>(std::min(touch.offset, bytes));
  event.site =
      touch.path.size == 0 ? call.site() : call.rt.call_paths().id_of(touch.path.at, touch.path.size);
  if (event.site.value == 0) event.site = call.site();
  const std::int64_t distance = touch.open ? 0 : std::max<std::int64_t>(0, ps(call.entry()) - touch.until_ps);
  call.emit_access(event, kTimeZero, ticks(), &distance);
}

void Accesses::use(Call& call, const Payload& data, bool receives, bool nonblocking, Request& request) {
  request.watched = {};
  if (!access::begun()) return;
  const access::Cells cells = typemaps_.cells(data.buffer, data.count, data.type);
  access::Buffer* buffer = access::buffer_of(cells, ps(call.entry()), call_frame());
  if (buffer == nullptr) return;
  // Tracked for writes alone, nothing is known of what was read.
  access::Touch last = receives ? buffer->any : buffer->written;
  if (receives && buffer->track == Watched::kWrites) {
    last = access::Touch{};
    last.until_ps = ps(call.entry());
  }
  access::touched_by_call(cells, receives, ps(call.entry()));
  flush(call);
  tell_last_touch(call, last, cells.high() - cells.low());
  // The path of the call is not known to the log: its id is enough where the call is still the last one.
  request.watched = {buffer, call.rt.next_ordinal(), receives};
  if (nonblocking)
    access::watch_flight(*buffer, conflicts_with(receives), request.watched.ordinal);
  else
    ending_.push_back(request.watched);
}

void Accesses::complete(Request& request) {
  if (request.partner) complete(*request.partner);
  const WatchedUse use = std::exchange(request.watched, WatchedUse{});
  if (use.buffer == nullptr || !use.buffer->live || use.buffer->flight_ordinal != use.ordinal) return;
  ending_.push_back(use);
}

void Accesses::end_call(Call& call) {
  const std::int64_t now = ps(call.entry());  // the exit, at this point
  for (const WatchedUse& use : ending_) {
    access::call_over(*use.buffer, use.receives, now);
    access::watch_after(*use.buffer, conflicts_with(use.receives), use.ordinal);
  }
  ending_.clear();
}

void Accesses::touched(Call& call, const Payload& data, bool write) {
  if (!access::begun()) return;
  access::touched_by_call(typemaps_.cells(data.buffer, data.count, data.type), write, ps(call.entry()));
}

void Accesses::finalize(Call& call, events::Event event) {
  const access::Cost cost = access::cost();
  const std::uint64_t values[events::kSlotBytes / sizeof(std::uint64_t)] = {
      cost.faults,
      cost.steps,
      cost.protects,
      cost.system_calls,
      static_cast<std::uint64_t>(cost.fault_ns),
      static_cast<std::uint64_t>(cost.step_ns),
      static_cast<std::uint64_t>(cost.protect_ns),
      static_cast<std::uint64_t>(cost.system_call_ns)};
  event.extension = 1;
  call.emit(event, values);
  access::end();
}

}  // namespace nplus1::stubs
