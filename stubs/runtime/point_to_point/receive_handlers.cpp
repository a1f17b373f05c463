// MPI_Recv, MPI_Irecv and the combined calls (MPI 4.0, sections 3.2, 3.7, 3.10).
#include <new>

#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/completion/completion.hpp"
#include "stubs/runtime/completion/native_calls.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/runtime/point_to_point.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

using events::EventKind;
using events::SendMode;

/// MPI has it, and gives it the message that it gets in virtual time, too.
bool is_native(const Request& receive) {
  return receive.peer != kProcNull && !receive.engine_decided;
}

/// Waits for the virtual end of a blocking receive and lets the clock go on from there.
void end_receive(Call& call, Request& request) {
  if (locally_decided(call.rt, request)) {
    const Time entry = call.entry();
    if (call.wait([&] { return request.known; }))
      call.exit_at(std::max(entry, request.at) + request.overhead);
    return;
  }
  if (const auto answer = call.await_answer()) call.exit_at(answer->exit());
}

/// MPICH 4.0.2 leaves the status of an MPI_Irecv from MPI_PROC_NULL zero, where a blocking receive's says that there is
/// nobody (MPI 4.0, section 3.10).
void say_nobody(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_PROC_NULL;
  status->MPI_TAG = MPI_ANY_TAG;
  pmpi::Status_set_elements(status, MPI_BYTE, 0);
}

int blocking_receive(const Transfer& t, MPI_Status* status) {
  Call call{true, Clock::kAdrift};
  Request request;
  const int code = post_receive(call, t, request);
  if (code != MPI_SUCCESS) return code;
  const bool decided_elsewhere = request.peer != kProcNull && !locally_decided(call.rt, request);
  const bool drifts = decided_elsewhere && is_native(request) && call.may_drift();
  const bool asks = decided_elsewhere && !drifts;
  const Time entry = call.entry();
  announce_receive(call, t, request, EventKind::kRecv,
                   static_cast<std::uint8_t>(asks ? events::kNeedsAnswer : 0));
  if (drifts)
    call.drift_off();
  else
    end_receive(call, request);
  const bool was_there = call.entry() <= entry + request.overhead;
  if (request.held)
    call.rt.messages.post_held(request, t.peer, t.tag);  // the simulator died before it could decide
  const int finished = call.rt.native() ? native::finish_receive(call, request, status)
                                        : call.finish(request.native, status, request.peer);
  if (Accesses* accesses = call.rt.accesses()) accesses->fills_status(request, status);
  if (request.peer == kProcNull) say_nobody(status);
  if (was_there) call.drift(call.native_cost());  // Riesen 2006, figure 3: t2
  call.rt.requests.unindex(request.id);
  return call.unlocked([&] { return report(t.comm->handle, finished); });
}

int nonblocking_receive(const Transfer& t, MPI_Request* handle) {
  Call call{true, Clock::kAdrift};
  std::unique_ptr<Request> request = call.rt.requests.make();
  const int code = start_receive(call, t, *request);
  if (code != MPI_SUCCESS) return code;
  *handle = request->native;
  call.rt.requests.insert(*handle, std::move(request));
  return MPI_SUCCESS;
}

/// The receive's match is told with the wait for both.
int end_natively(Call& call, Request& send, Request& receive, MPI_Status* status) {
  const int code = native::finish_receive(call, receive, status);
  if (receive.peer != kProcNull && code == MPI_SUCCESS) {
    events::Answer match = std::exchange(call.outcome().answer, events::Answer{});
    match.request = receive.id;
    call.note_match(match);
  }
  call.finish(send.native, MPI_STATUS_IGNORE);
  call.outcome().answer.flag = 1;
  if (receive.peer == kProcNull) say_nobody(status);
  return code;
}

/// Both halves of a Sendrecv. `send` and `receive` are started at the same time and waited for together.
int send_and_receive(const Transfer& out, const Transfer& in, MPI_Status* status) {
  Call call{true, Clock::kAdrift};
  Request send;
  Request receive;
  int code = post_receive(call, in, receive);
  if (code != MPI_SUCCESS) return code;
  code = post_send(call, out, send);
  if (code != MPI_SUCCESS) {
    abandon(receive);
    return code;
  }
  announce_send(call, out, send, EventKind::kIsend);
  if (send.peer != kProcNull)
    call.exit_at(call.entry() + call.rt.network().send_overhead(bytes(payload_bytes(out.count, out.type))));
  announce_receive(call, in, receive, EventKind::kIrecv);
  Request* both[] = {&send, &receive};
  end_all(call, both);
  if (call.rt.native()) {
    code = end_natively(call, send, receive, status);
    return call.unlocked([&] { return report(in.comm->handle, code); });
  }
  if (receive.held) call.rt.messages.post_held(receive, in.peer, in.tag);
  code = call.finish(receive.native, status, receive.peer);
  if (Accesses* accesses = call.rt.accesses()) {
    accesses->fills_status(receive, status);
    accesses->complete(send);
    accesses->complete(receive);
  }
  if (receive.peer == kProcNull) say_nobody(status);
  if (waits_natively(send))
    call.finish(send.native, MPI_STATUS_IGNORE, send.peer);
  else
    release_send(call, send);
  call.rt.requests.unindex(receive.id);
  return call.unlocked([&] { return report(in.comm->handle, code); });
}

/// One handle for both halves: the receive's, with the send as its partner.
int isendrecv(const Transfer& out, const Transfer& in, PrivateCopy&& replaced, MPI_Request* handle) {
  Call call{true, Clock::kAdrift};
  std::unique_ptr<Request> receive = call.rt.requests.make();
  receive->partner = std::make_unique<Request>();
  Request& send = *receive->partner;
  Accesses* const accesses = call.rt.accesses();
  int code = post_receive(call, accesses == nullptr ? in : accesses->shadowed(call, in, *receive), *receive);
  if (code == MPI_SUCCESS) code = post_send(call, out, send);
  if (code != MPI_SUCCESS) {
    if (accesses != nullptr) accesses->drop_shadow(*receive);
    abandon(*receive);
    return code;
  }
  receive->keep.push_back(std::make_shared<PrivateCopy>(std::move(replaced)));
  announce_send(call, out, send, EventKind::kIsend);
  if (send.peer != kProcNull)
    call.exit_at(call.entry() + call.rt.network().send_overhead(bytes(payload_bytes(out.count, out.type))));
  announce_receive(call, in, *receive, EventKind::kIrecv);
  *handle = MPI_REQUEST_NULL;  // the native ones are each just one half
  call.rt.requests.insert(*handle, std::move(receive));
  return MPI_SUCCESS;
}

/// Both halves of a call that has one buffer.
void check_replaced(const Transfer& receive, int destination, int tag) {
  Transfer send = receive;
  send.peer = destination;
  send.tag = tag;
  check_send(send);
  check_receive(receive);
}

/// The send half. MPI too needs memory for a copy: without any, the call is MPI's affair.
Transfer replaced_by(const Transfer& receive, const PrivateCopy& out, int destination, int tag) {
  if (out.buffer() == nullptr && payload_bytes(receive.count, receive.type) > 0) throw std::bad_alloc{};
  Transfer send{out.buffer(), out.count(), out.type(), destination, tag, receive.comm};
  send.shown = Payload{receive.buffer, receive.count, receive.type};
  return send;
}

}  // namespace

void abandon(Request& receive) {
  if (receive.native == MPI_REQUEST_NULL) return;
  pmpi::Cancel(&receive.native);
  pmpi::Request_free(&receive.native);
}

namespace handlers {

int Recv(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
         MPI_Status* status) {
  Communicator* known = communicator(comm);
  if (known == nullptr) {
    const UnmodelledScope scope{current_call()};
    return pmpi::Recv(buf, count, type, source, tag, comm, status);
  }
  const Transfer transfer{buf, count, type, source, tag, known};
  check_receive(transfer);
  return blocking_receive(transfer, status);
}
int Recv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return Recv(buf, MPI_Count{count}, type, source, tag, comm, status);
}

int Irecv(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Request* request) {
  Communicator* known = communicator(comm);
  if (known == nullptr) {
    const UnmodelledScope scope{current_call()};
    return pmpi::Irecv(buf, count, type, source, tag, comm, request);
  }
  const Transfer transfer{buf, count, type, source, tag, known};
  check_receive(transfer);
  return nonblocking_receive(transfer, request);
}
int Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  return Irecv(buf, MPI_Count{count}, type, source, tag, comm, request);
}

int Sendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
             MPI_Comm comm, MPI_Status* status) {
  Communicator* known = communicator(comm);
  if (known == nullptr) {
    const UnmodelledScope scope{current_call()};
    return pmpi::Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                          recvtag, comm, status);
  }
  const Transfer send{sendbuf, sendcount, sendtype, dest, sendtag, known};
  const Transfer receive{recvbuf, recvcount, recvtype, source, recvtag, known};
  check_send(send);
  check_receive(receive);
  return send_and_receive(send, receive, status);
}
int Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
             MPI_Status* status) {
  return Sendrecv(sendbuf, MPI_Count{sendcount}, sendtype, dest, sendtag, recvbuf, MPI_Count{recvcount},
                  recvtype, source, recvtag, comm, status);
}

int Sendrecv_replace(void* buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag, int source,
                     int recvtag, MPI_Comm comm, MPI_Status* status) {
  Communicator* known = communicator(comm);
  if (known == nullptr) {
    const UnmodelledScope scope{current_call()};
    return pmpi::Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, status);
  }
  const Transfer receive{buf, count, type, source, recvtag, known};
  check_replaced(receive, dest, sendtag);
  const PrivateCopy out{buf, count, type};
  return send_and_receive(replaced_by(receive, out, dest, sendtag), receive, status);
}
int Sendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                     MPI_Comm comm, MPI_Status* status) {
  return Sendrecv_replace(buf, MPI_Count{count}, type, dest, sendtag, source, recvtag, comm, status);
}

int Isendrecv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
              MPI_Comm comm, MPI_Request* request) {
  Communicator* known = communicator(comm);
  if (known == nullptr) {
    const UnmodelledScope scope{current_call()};
    return pmpi::Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                           recvtag, comm, request);
  }
  const Transfer send{sendbuf, sendcount, sendtype, dest, sendtag, known};
  const Transfer receive{recvbuf, recvcount, recvtype, source, recvtag, known};
  check_send(send);
  check_receive(receive);
  return isendrecv(send, receive, PrivateCopy{}, request);
}
int Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
              int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
              MPI_Request* request) {
  return Isendrecv(sendbuf, MPI_Count{sendcount}, sendtype, dest, sendtag, recvbuf, MPI_Count{recvcount},
                   recvtype, source, recvtag, comm, request);
}

int Isendrecv_replace(void* buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag, int source,
                      int recvtag, MPI_Comm comm, MPI_Request* request) {
  Communicator* known = communicator(comm);
  if (known == nullptr) {
    const UnmodelledScope scope{current_call()};
    return pmpi::Isendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, request);
  }
  const Transfer receive{buf, count, type, source, recvtag, known};
  check_replaced(receive, dest, sendtag);
  PrivateCopy out{buf, count, type};
  const Transfer send = replaced_by(receive, out, dest, sendtag);
  return isendrecv(send, receive, std::move(out), request);
}
int Isendrecv_replace(void* buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                      MPI_Comm comm, MPI_Request* request) {
  return Isendrecv_replace(buf, MPI_Count{count}, type, dest, sendtag, source, recvtag, comm, request);
}

}  // namespace handlers
}  // namespace nplus1::stubs
