#include "stubs/runtime/point_to_point.hpp"

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/hooks/receive_hook.hpp"
#include "stubs/runtime/own_part.hpp"
#include "stubs/runtime/send_hook.hpp"

namespace nplus1::stubs {
namespace {

/// Whether MPI finishes a send without its receiver, so that the application's own buffer will do. A message to
/// oneself, however short, it keeps until that is received.
bool natively_eager(const Transfer& t, RankId destination, MPI_Count size) {
  return t.mode == events::SendMode::kBuffered || destination == kProcNull ||
         (size <= library::kNativeEager && destination != runtime()->me());
}

int native_send(const Transfer& t, const void* buffer, MPI_Count count, MPI_Datatype type,
                MPI_Request* request) {
  // In virtual time a buffered message has left at once: MPI_Buffer_detach must not wait for its receiver.
  const bool detached = t.mode == events::SendMode::kBuffered && !runtime()->native();
  const SendingTo hint{t.comm->world(t.peer).value, detached};
  MPI_Comm comm = t.comm->handle;
  switch (t.mode) {
    case events::SendMode::kSynchronous:
      return pmpi::Issend(buffer, count, type, t.peer, t.tag, comm, request);
    case events::SendMode::kBuffered:
      return pmpi::Ibsend(buffer, count, type, t.peer, t.tag, comm, request);
    case events::SendMode::kReady:  // its receive may be held back natively: a standard send is always
                                    // allowed
    case events::SendMode::kStandard:
      break;
  }
  return pmpi::Isend(buffer, count, type, t.peer, t.tag, comm, request);
}

events::Event event_of(const Transfer& t, const Request& request, events::EventKind kind,
                       std::uint8_t flags) {
  events::Event e;
  e.kind = kind;
  e.flags = flags;
  e.operation = static_cast<std::uint8_t>(t.mode);
  e.comm = t.comm->number;
  e.request = request.id;
  e.peer = request.peer.value;
  e.tag = t.tag == MPI_ANY_TAG ? kAnyTag : t.tag;
  e.size = payload_bytes(t.count, t.type);
  return e;
}

Payload payload(const Transfer& t) {
  return {t.buffer, t.count, t.type};
}

/// Only the simulator can match a receive from any source, and every receive posted behind one.
bool needs_simulator(const Runtime& rt, const Communicator& comm, RankId source) {
  if (rt.degraded() || source == kProcNull) return false;
  return source == kAnySource || comm.undecided > 0;
}

/// MPI's own checks of a receive that it is not to have yet.
int check_natively(const Transfer& t) {
  MPI_Request inactive = MPI_REQUEST_NULL;
  const int code =
      pmpi::Recv_init(const_cast<void*>(t.buffer), t.count, t.type, t.peer, t.tag, t.comm->handle, &inactive);
  if (code == MPI_SUCCESS) pmpi::Request_free(&inactive);
  return code;
}

void hold(Runtime& rt, const Transfer& t, Request& request) {
  Arguments& a = request.arguments;
  a.buffer = const_cast<void*>(t.buffer);
  a.count = t.count;
  a.peer = t.peer;
  a.tag = t.tag;
  // The application may free its type before the match; without elements it need not be one.
  const OwnType type = t.own != nullptr ? *t.own : rt.own_types.of(usable(t.type) ? t.type : MPI_BYTE);
  a.type = *type;
  request.keep.push_back(type);
  request.held = true;
}

/// A message without elements may have any type and address.
void check_message(const Transfer& t) {
  refuse_if(t.count < 0);
  if (t.count > 0) check_data(t.buffer, t.count, t.type, false);
}

bool is_peer(const Transfer& t) {
  return t.peer == MPI_PROC_NULL ||
         (t.peer >= 0 && static_cast<std::size_t>(t.peer) < t.comm->peers().size());
}

}  // namespace

void check_send(const Transfer& t) {
  check_message(t);
  refuse_if(!is_peer(t) || t.tag < 0 || t.tag > runtime()->largest_tag());
}

void check_receive(const Transfer& t) {
  check_message(t);
  refuse_if(!is_peer(t) && t.peer != MPI_ANY_SOURCE);
  refuse_if((t.tag < 0 && t.tag != MPI_ANY_TAG) || t.tag > runtime()->largest_tag());
}

Communicator* communicator(MPI_Comm comm) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  return rt.communicators.find(comm);
}

int post_send(Call& call, const Transfer& t, Request& request) {
  request.kind = RequestKind::kSend;
  request.comm = t.comm->shared_from_this();
  request.peer = t.comm->world(t.peer);
  const MPI_Count size = payload_bytes(t.count, t.type);
  request.eager = request.peer == kProcNull || t.mode == events::SendMode::kBuffered ||
                  (t.mode != events::SendMode::kSynchronous && call.rt.network().eager(bytes(size)));
  // A standard send above the model's threshold too: the simulator lets it go where only the model blocks it.
  const bool copies = !natively_eager(t, request.peer, size) && !call.rt.native() &&
                      // A peer may read the program's own memory, which must not be closed then.
                      (t.mode != events::SendMode::kSynchronous || call.rt.accesses() != nullptr);
  if (!copies) return native_send(t, t.buffer, t.count, t.type, &request.native);
  request.copy = PrivateCopy{t.buffer, t.count, t.type};
  if (request.copy.buffer() == nullptr) return native_send(t, t.buffer, t.count, t.type, &request.native);
  return native_send(t, request.copy.buffer(), request.copy.count(), request.copy.type(), &request.native);
}

void announce_send(Call& call, const Transfer& t, Request& request, events::EventKind kind,
                   std::uint8_t flags) {
  Runtime& rt = call.rt;
  infer_block_kept(call, t);
  request.id = rt.messages.next_request_id();
  request.active = true;
  const events::Event event = event_of(t, request, kind, flags);
  const Payload sent = payload(t);
  const CallData data{t.shown.value_or(sent), t.datatype, request.peer == kProcNull ? nullptr : &sent};
  if (Accesses* accesses = rt.accesses(); accesses != nullptr && request.peer != kProcNull)
    accesses->use(call, data.shown, false, kind == events::EventKind::kIsend, request);
  call.emit(event, nullptr, &data);
  if (request.peer == kProcNull) {
    request.known = true;
    request.at = call.entry();
    return;
  }
  const Bytes size = event.payload();
  if (request.eager) {
    const auto times = semantics::send_eager(rt.network(), call.entry(), rt.me(), request.peer, size,
                                             call.thread.interface_free);
    request.known = true;
    request.at = kind == events::EventKind::kSend ? call.entry() + rt.network().blocking_send_overhead(size)
                                                  : times.sender_free;
    request.sequence = rt.messages.publish(*t.comm, request.peer, t.tag, size, false, times.arrival);
  } else {
    request.sequence = rt.messages.publish(*t.comm, request.peer, t.tag, size, true,
                                           semantics::rendezvous_ready(rt.network(), call.entry(), size));
  }
}

int start_send(Call& call, const Transfer& t, Request& request) {
  const int code = post_send(call, t, request);
  if (code != MPI_SUCCESS) return code;
  call_has_begun();
  announce_send(call, t, request, events::EventKind::kIsend);
  if (request.peer != kProcNull)
    call.exit_at(call.entry() + call.rt.network().send_overhead(bytes(payload_bytes(t.count, t.type))));
  return MPI_SUCCESS;
}

int post_receive(Call& call, const Transfer& t, Request& request) {
  request.kind = RequestKind::kReceive;
  request.comm = t.comm->shared_from_this();
  request.peer = t.comm->world(t.peer);
  if (needs_simulator(call.rt, *t.comm, request.peer)) {
    const int code = request.persistent ? MPI_SUCCESS : check_natively(t);
    if (code != MPI_SUCCESS) return code;
    hold(call.rt, t, request);
    request.engine_decided = true;
    return MPI_SUCCESS;
  }
  const ReceivesFromOne one;
  return pmpi::Irecv(const_cast<void*>(t.buffer), t.count, t.type, t.peer, t.tag, t.comm->handle,
                     &request.native);
}

void announce_receive(Call& call, const Transfer& t, Request& request, events::EventKind kind,
                      std::uint8_t flags) {
  Runtime& rt = call.rt;
  infer_parts_added_to(call, t);
  request.id = rt.messages.next_request_id();
  request.active = true;
  request.posted = call.entry();
  if (request.engine_decided) {
    flags |= events::kReportMatch;
    rt.messages.count_undecided(*t.comm, +1);
    rt.requests.index(request);
  }
  const CallData data{payload(t), t.datatype};
  if (Accesses* accesses = rt.accesses(); accesses != nullptr && request.peer != kProcNull)
    accesses->use(call, data.shown, true, kind == events::EventKind::kIrecv, request,
                  t.peer == MPI_ANY_SOURCE || t.tag == MPI_ANY_TAG);
  call.emit(event_of(t, request, kind, flags), nullptr, &data);
  if (request.peer == kProcNull) {
    request.known = true;
    request.at = call.entry();
    return;
  }
  if (request.engine_decided || !rt.messages.direct() || rt.degraded()) return;
  const semantics::Receive receive{t.comm->key, request.peer, t.tag == MPI_ANY_TAG ? kAnyTag : t.tag,
                                   request.id.value, call.entry()};
  if (const auto message = rt.messages.mailbox().post(receive))
    rt.messages.settle(request, *message);
  else
    rt.requests.index(request);
}

int start_receive(Call& call, const Transfer& t, Request& request) {
  Accesses* const accesses = call.rt.accesses();
  const int code =
      post_receive(call, accesses == nullptr ? t : accesses->shadowed(call, t, request), request);
  if (code != MPI_SUCCESS) {
    if (accesses != nullptr) accesses->drop_shadow(request);
    return code;
  }
  call_has_begun();
  announce_receive(call, t, request, events::EventKind::kIrecv);
  return MPI_SUCCESS;
}

bool locally_decided(const Runtime& rt, const Request& request) {
  if (request.known) return true;
  return rt.messages.direct() && request.kind == RequestKind::kReceive && !request.engine_decided;
}

bool waits_natively(const Request& send) {
  return !send.eager && send.copy.buffer() == nullptr;
}

void release_send(Call& call, Request& request) {
  if (request.native == MPI_REQUEST_NULL) return;
  int flag = 0;
  pmpi::Test(&request.native, &flag, MPI_STATUS_IGNORE);
  if (flag != 0) return;
  if (request.copy.buffer() == nullptr) {  // the application's own buffer: small, so MPI soon has it
    call.finish(request.native, MPI_STATUS_IGNORE, request.peer);
    return;
  }
  call.rt.background.leave(request.native, std::move(request.copy), std::move(request.keep));
  request.native = MPI_REQUEST_NULL;
}

}  // namespace nplus1::stubs
