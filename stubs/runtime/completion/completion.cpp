#include "stubs/runtime/completion/completion.hpp"

#include <algorithm>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/completion/file_requests.hpp"
#include "stubs/runtime/completion/partitioned.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/runtime/point_to_point.hpp"

namespace nplus1::stubs {

using events::CompletionMode;
using events::EventKind;

events::Event completion_event(EventKind kind, CompletionMode mode, std::span<Request* const> requests,
                               std::vector<std::uint32_t>& slots) {
  constexpr std::size_t kWords = events::kSlotBytes / sizeof(std::uint32_t);
  slots.assign((requests.size() + kWords - 1) / kWords * kWords, 0);
  std::transform(requests.begin(), requests.end(), slots.begin(),
                 [](const Request* r) { return r->id.value; });
  events::Event event;
  event.kind = kind;
  event.operation = static_cast<std::uint8_t>(mode);
  event.aux = requests.size();
  event.extension = static_cast<std::uint32_t>(slots.size() / kWords);
  return event;
}

namespace {

/// The outcome is MPI's, which waits for it; only when that is in virtual time is known to the simulator alone.
bool is_ended_natively(const Request& request) {
  if (request.known) return true;
  if (request.kind == RequestKind::kCollective) return !request.may_leave;
  return request.kind == RequestKind::kReceive && !request.engine_decided && !request.held &&
         (!request.partner || request.partner->eager);
}

/// Times of a thread adrift are no later than true ones: only what has certainly come can be told from what has not.
bool can_be_compared(const Call& call, const Request& request) {
  return !call.is_adrift() || !request.known || request.at <= call.entry();
}

}  // namespace

bool all_can_be_compared(const Call& call, std::span<Request* const> requests) {
  return std::all_of(requests.begin(), requests.end(),
                     [&](const Request* r) { return can_be_compared(call, *r); });
}

void end_all(Call& call, std::span<Request* const> requests) {
  std::vector<std::uint32_t> slots;
  const events::Event event = completion_event(EventKind::kWait, CompletionMode::kAll, requests, slots);
  const bool local = all_can_be_compared(call, requests) &&
                     std::all_of(requests.begin(), requests.end(),
                                 [&](const Request* r) { return locally_decided(call.rt, *r); });
  if (!local && call.may_drift() &&
      std::all_of(requests.begin(), requests.end(), [](const Request* r) { return is_ended_natively(*r); })) {
    call.emit(event, slots.data());
    return call.drift_off();
  }
  if (!local) {
    if (const auto answer = call.ask(event, slots.data())) call.exit_at(answer->exit());
    return;
  }
  call.emit(event, slots.data());
  const Time entry = call.entry();
  std::vector<semantics::Completion> completions;
  completions.reserve(requests.size());
  for (Request* r : requests) {
    if (!call.wait([&] { return r->known; })) return;
    completions.push_back({r->at, r->overhead});
  }
  call.exit_at(semantics::complete_all(entry, completions));
}

bool may_finish_later(const Call& call, const Request& request) {
  if (request.kind == RequestKind::kSend) return !waits_natively(request);
  return request.may_leave && !call.rt.native();
}

void settle_native(Call& call, Request& request) {
  if (request.partitioned) return settle_partitions(call, *request.partitioned);
  if (request.held) call.rt.messages.post_held(request, request.arguments.peer, request.arguments.tag);
  if (request.kind == RequestKind::kFile) return call.poll_native([&] { return has_ended(request); });
  if (request.partner) {
    Request& send = *request.partner;
    if (waits_natively(send))
      call.finish(send.native, MPI_STATUS_IGNORE, send.peer);
    else
      release_send(call, send);
  }
  if (request.kind == RequestKind::kSend && request.copy.buffer() != nullptr) {
    if (is_complete(request.native)) return;
    call.rt.background.leave(request.native, std::move(request.copy), std::move(request.keep));
    request.native = MPI_REQUEST_NULL;
    return;
  }
  if (request.kind != RequestKind::kSend && may_finish_later(call, request)) {
    if (is_complete(request.native)) return;
    if (request.kind == RequestKind::kCollective && request.comm)
      call.rt.background.leave(request.native, *request.comm, std::move(request.keep));
    else
      call.rt.background.leave(request.native, PrivateCopy{}, std::move(request.keep));
    request.native = MPI_REQUEST_NULL;
    return;
  }
  call.await(request.native, request.peer,
             request.kind == RequestKind::kCollective ? request.comm.get() : nullptr);
  if (request.kind == RequestKind::kReceive)
    if (Accesses* accesses = call.rt.accesses()) accesses->arrived(request);
}

void retire(Call& call, MPI_Request& handle) {
  Request* request = call.rt.requests.find(handle);
  if (request == nullptr) return;
  call.rt.requests.unindex(request->id);
  if (Accesses* accesses = call.rt.accesses()) accesses->complete(*request);
  if (request->when_complete) std::exchange(request->when_complete, nullptr)();
  if (request->persistent) {
    if (request->partitioned) retire_partitions(call, *request->partitioned);
    request->active = request->held = request->known = request->engine_decided = request->met = false;
    request->native = MPI_REQUEST_NULL;
    request->copy = PrivateCopy{};
    request->keep.clear();
    return;
  }
  std::unique_ptr<Request> gone = call.rt.requests.remove(handle);
  handle = MPI_REQUEST_NULL;
  call.rt.requests.recycle(std::move(gone));
}

void set_empty(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  MPI_Request none = MPI_REQUEST_NULL;
  int flag = 0;
  pmpi::Test(&none, &flag, status);  // MPI fills in the empty status
}

}  // namespace nplus1::stubs
