#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "events/mpi_call.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/address.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/arguments/own_pages.hpp"
#include "stubs/runtime/arguments/private_copy.hpp"

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

/// Memory that the thread's call is about to touch, noted before the lock is held.
thread_local std::vector<Payload> noted;

/// Calls on memory that the wrappers know nothing of.
bool touches_somewhere(std::string_view name) {
  constexpr std::string_view kFamilies[] = {
      "MPI_File_read", "MPI_File_write",       "MPI_File_iread",    "MPI_File_iwrite",    "MPI_Put",
      "MPI_Get",       "MPI_Accumulate",       "MPI_Rput",          "MPI_Rget",           "MPI_Raccumulate",
      "MPI_Fetch",     "MPI_Compare_and_swap", "MPI_Pack_external", "MPI_Unpack_external"};
  for (const std::string_view family : kFamilies)
    if (name.substr(0, family.size()) == family)
      return name.substr(0, 8) != "MPI_Get_" || name == "MPI_Get_accumulate";
  return false;
}

/// From here on others work on memory of ours at any time.
bool shares_memory(std::string_view name) {
  constexpr std::string_view kFamilies[] = {"MPI_Win_create", "MPI_Win_allocate", "MPI_Psend", "MPI_Precv"};
  return std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](std::string_view family) { return name.substr(0, family.size()) == family; });
}

}  // namespace

/// The program's memory, and what stands in for it.
struct Accesses::Shadow {
  void* buffer;
  MPI_Count count;
  OwnType type;
  OwnPages memory;
  MPI_Count bytes = 0;
  std::optional<MPI_Count> arrived;  // bytes of the message; not known of a request that is freed

  Shadow(void* b, MPI_Count n, OwnType t) : buffer{b}, count{n}, type{std::move(t)} {}

  [[nodiscard]] bool take() {
    MPI_Count size = 0;
    if (pmpi::Pack_size(count, *type, quiet_self(), &size) != MPI_SUCCESS) return false;
    memory = own_pages(static_cast<std::size_t>(size));
    return memory != nullptr && pack(buffer, count, *type, memory.get(), size, bytes) == MPI_SUCCESS &&
           bytes == payload_bytes(count, *type);
  }
  /// What has come, and no more: the program may have said that its buffer is larger than it is. MPI alone knows how to
  /// store part of an element.
  void give_back() const {
    if (arrived && *arrived < bytes) {
      pmpi::Sendrecv(static_cast<const void*>(memory.get()), *arrived, MPI_PACKED, 0, 0, buffer, count, *type,
                     0, 0, quiet_self(), MPI_STATUS_IGNORE);
      return;
    }
    MPI_Count position = 0;
    pmpi::Unpack(memory.get(), bytes, &position, buffer, count, *type, quiet_self());
  }
};

void note_memory(const void* buffer, MPI_Count count, MPI_Datatype type) {
  if (access::begun() && count > 0) noted.push_back({buffer, count, type});
}

void note_block(const void* buffer, MPI_Count displacement, MPI_Count count, MPI_Datatype type) {
  if (!access::begun() || count <= 0) return;
  MPI_Count lower = 0, extent = 0;
  pmpi::Type_get_extent_x(type, &lower, &extent);
  noted.push_back({behind(buffer, displacement * extent), count, type});
}

void tell_touched(std::initializer_list<Payload> memory) {
  if (!active() || runtime()->accesses() == nullptr) return;
  noted.assign(memory.begin(), memory.end());
  const Call call{false};
}

void tell_status_use(const MPI_Status* status) {
  if (!active() || runtime()->accesses() == nullptr) return;
  Call call{false};
  call.rt.accesses()->status_used(call, status);
}

void Accesses::begin_call(Call& call) {
  first_ordinals_[call.thread.id.value] = call.rt.line.next_ordinal();
  access::checkpoint(&call.thread.clock, ps(call.entry()));
  const std::string_view name = events::name(current_call());
  if (!suspended_ && shares_memory(name)) {
    suspended_ = true;
    access::suspend(true);
  }
  if (touches_somewhere(name)) access::touched_somewhere(ps(call.entry()));
  for (const Payload& data : noted) touched(call, data);
  noted.clear();
  flush(call);
}

Transfer Accesses::shadowed(Call& call, const Transfer& receive, const Request& request) {
  Transfer t = receive;
  if (!access::begun() || receive.peer == MPI_PROC_NULL || receive.buffer == MPI_BOTTOM ||
      payload_bytes(receive.count, receive.type) == 0)
    return t;
  auto shadow =
      std::make_shared<Shadow>(const_cast<void*>(receive.buffer), receive.count,
                               receive.own != nullptr ? *receive.own : call.rt.own_types.of(receive.type));
  if (!shadow->take()) return t;
  t.buffer = shadow->memory.get();
  t.count = shadow->bytes;
  t.type = MPI_PACKED;
  t.own = nullptr;
  shadows_[&request] = std::move(shadow);
  return t;
}

void Accesses::drop_shadow(const Request& request) {
  shadows_.erase(&request);
}

void Accesses::free(Call& call, Request& request) {
  if (request.watched.buffer != nullptr && request.watched.buffer->live)
    access::forget(*request.watched.buffer);
  request.watched = {};
  const auto found = shadows_.find(&request);
  if (found == shadows_.end()) return;
  const std::shared_ptr<Shadow> shadow = std::move(found->second);
  shadows_.erase(found);
  if (request.held) {  // MPI has not seen it yet
    request.arguments.buffer = shadow->buffer;
    request.arguments.count = shadow->count;
    request.arguments.type = *shadow->type;
    request.keep.push_back(shadow->type);
  } else if (request.native != MPI_REQUEST_NULL) {
    std::vector<std::shared_ptr<void>> keep{
        std::shared_ptr<void>(nullptr, [shadow](void*) { shadow->give_back(); })};
    call.rt.background.leave(request.native, PrivateCopy{}, std::move(keep));
    request.native = MPI_REQUEST_NULL;
  }
}

void Accesses::works_on_memory(const Request& request) {
  if (access::begun() && working_.insert(&request).second) access::suspend(true);
}

void Accesses::fills_status(const Request& request, const MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE || request.kind != RequestKind::kReceive) return;
  constexpr std::size_t kMost = 4096;
  if (statuses_.size() >= kMost) statuses_.clear();
  statuses_[status] = request.watched.ordinal;
  if (wildcards_.erase(&request) == 0) return;
  access::Record record;
  record.which = events::Access::kStatusUse;
  record.who = events::Toucher::kMpiCall;
  record.ordinal = request.watched.ordinal;
  record.tick = ticks();
  if (const ThreadState* thread = ThreadStates::mine_if_known()) record.clock = &thread->clock;
  access::add_record(record);
}

void Accesses::status_used(Call& call, const MPI_Status* status) {
  const auto found = statuses_.find(status);
  if (found == statuses_.end() || !is_recorded(call)) return;
  events::Event event = event_of(events::Access::kStatusUse, events::Toucher::kMpiCall, false, false);
  event.aux = found->second;
  event.site = call.site();
  call.emit_access(event, call.entry(), ticks(), nullptr);
  statuses_.erase(found);
}

void Accesses::flush(Call& call) {
  access::Record record;
  while (access::take_record(&call.thread.clock, record)) {
    if (!is_recorded(call)) continue;
    events::Event event = event_of(record.which, record.who, record.write, record.inexact);
    event.aux = record.ordinal;
    event.size = static_cast<std::int64_t>(record.offset);
    event.site = record.path.size == 0
                     ? call.site()
                     : call.rt.instruments.call_paths().id_of(record.path.at, record.path.size);
    call.emit_access(event, Time{Duration{record.at_ps}}, record.tick, nullptr);
  }
}

void Accesses::tell_last_touch(Call& call, const access::Touch& touch, std::uint64_t bytes) {
  if (!is_recorded(call)) return;
  events::Event event = event_of(events::Access::kLastTouch, touch.who, touch.write, touch.inexact);
  event.aux = call.rt.line.next_ordinal() + 1;  // the event after this one
  event.size = static_cast<std::int64_t>(std::min(touch.offset, bytes));
  event.site = touch.path.size == 0 ? call.site()
                                    : call.rt.instruments.call_paths().id_of(touch.path.at, touch.path.size);
  if (event.site.value == 0) event.site = call.site();
  const std::int64_t distance = touch.open ? 0 : std::max<std::int64_t>(0, ps(call.entry()) - touch.until_ps);
  call.emit_access(event, kTimeZero, ticks(), &distance);
}

void Accesses::use(Call& call, const Payload& data, bool receives, bool nonblocking, Request& request,
                   bool wildcard) {
  request.watched = {};
  wildcards_.erase(&request);
  if (!access::begun()) return;
  const access::Cells cells = typemaps_.cells(data.buffer, data.count, data.type);
  access::Buffer* buffer = access::buffer_of(cells, ps(call.entry()), call_frame());
  if (buffer == nullptr) return;
  // Tracked for writes alone, nothing is known of what was read; nor of pages that cannot be watched.
  access::Touch last = receives ? buffer->any : buffer->written;
  if (buffer->partly || (receives && buffer->track == Watched::kWrites)) {
    last = access::Touch{};
    last.until_ps = ps(call.entry());
  }
  access::touched_by_call(cells, receives, false, ps(call.entry()), first_ordinals_[call.thread.id.value]);
  flush(call);
  tell_last_touch(call, last, cells.high() - cells.low());
  // The path of the call is not known to the log: its id is enough where the call is still the last one.
  request.watched = {buffer, call.rt.line.next_ordinal(), receives};
  if (wildcard) wildcards_.insert(&request);
  if (!nonblocking) {
    ending_.push_back(request.watched);
    return;
  }
  const bool waits_outside =
      receives && shadows_.find(&request) == shadows_.end() && request.native != MPI_REQUEST_NULL;
  if (waits_outside) works_on_memory(request);
  access::watch_flight(*buffer, conflicts_with(receives), request.watched.ordinal);
}

void Accesses::arrived(const Request& request) {
  const auto shadow = shadows_.find(&request);
  if (shadow == shadows_.end() || request.native == MPI_REQUEST_NULL) return;
  MPI_Status status;
  int flag = 0;
  MPI_Count bytes = 0;
  const QuietErrors errors;  // of what was cut off nobody knows how much has come
  if (pmpi::Request_get_status(request.native, &flag, &status) != MPI_SUCCESS || flag == 0) return;
  if (pmpi::Get_elements_x(&status, MPI_PACKED, &bytes) == MPI_SUCCESS && bytes >= 0)
    shadow->second->arrived = bytes;
}

void Accesses::complete(Request& request) {
  if (request.partner) complete(*request.partner);
  if (working_.erase(&request) != 0) access::suspend(false);
  if (const auto shadow = shadows_.find(&request); shadow != shadows_.end()) {
    shadow->second->give_back();
    shadows_.erase(shadow);
  }
  const WatchedUse use = std::exchange(request.watched, WatchedUse{});
  if (use.buffer == nullptr || !use.buffer->live || !use.buffer->flying.has(use.ordinal)) return;
  ending_.push_back(use);
}

void Accesses::end_call(Call& call) {
  const std::int64_t now = ps(call.entry());  // the exit, at this point
  for (const WatchedUse& use : ending_) {
    access::call_over(*use.buffer, use.receives, now);
    access::watch_after(*use.buffer, conflicts_with(use.receives), use.ordinal, now);
    access::tell_unseen(*use.buffer, conflicts_with(use.receives), use.ordinal, now);
  }
  if (!ending_.empty()) flush(call);
  ending_.clear();
}

void Accesses::touched(Call& call, const Payload& data) {
  if (!access::begun()) return;
  // Whether it is read or written is not known here: a write conflicts with all.
  access::touched_by_call(typemaps_.cells(data.buffer, data.count, data.type), true, true, ps(call.entry()),
                          call.rt.line.next_ordinal());
}

void Accesses::sum_up(transport::LastWords& words) const {
  const access::Cost cost = access::cost();
  words.recorded_accesses = 1;
  words.faults = cost.faults;
  words.steps = cost.steps;
  words.protects = cost.protects;
  words.system_calls = cost.system_calls;
  words.fault_ns = static_cast<std::uint64_t>(cost.fault_ns);
  words.step_ns = static_cast<std::uint64_t>(cost.step_ns);
  words.protect_ns = static_cast<std::uint64_t>(cost.protect_ns);
  words.system_call_ns = static_cast<std::uint64_t>(cost.system_call_ns);
  words.left_open = cost.given_up + cost.left_open;
}

}  // namespace nplus1::stubs
