// Persistent requests, MPI_Request_free and MPI_Cancel (MPI 4.0, sections 3.7.3, 3.8.4, 3.9).
// A persistent request is a real native handle that is never started natively: each start is an operation of
// its own.
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/completion/completion.hpp"
#include "stubs/runtime/completion/partitioned.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/runtime/point_to_point.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

using events::SendMode;

/// Keeps `transfer` for later starts, with a datatype of our own (the application may free its own).
std::unique_ptr<Request> persistent_request(Call& call, RequestKind kind, const Transfer& t) {
  std::unique_ptr<Request> request = call.rt.requests.make();
  request->kind = kind;
  request->persistent = true;
  request->comm = t.comm->shared_from_this();
  const OwnType own = call.rt.own_types.of(t.type);
  Transfer mine = t;
  if (Capture* capture = call.rt.capture())
    mine.datatype = capture->datatype(t.type, kind == RequestKind::kSend);
  mine.type = *own;
  const bool sends = kind == RequestKind::kSend;
  request->start = [mine, own, sends](Call& starting, Request& r) mutable {
    r.peer = RankId{};
    mine.comm = r.comm.get();
    mine.own = &own;
    return sends ? start_send(starting, mine, r) : start_receive(starting, mine, r);
  };
  return request;
}

template <class Native>
int make_persistent(RequestKind kind, const void* buf, MPI_Count count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm comm, SendMode mode, MPI_Request* handle, Native&& native) {
  const int code = native();
  Communicator* known = communicator(comm);
  if (code != MPI_SUCCESS || known == nullptr) return code;
  Call call;
  call.rt.requests.insert(*handle,
                          persistent_request(call, kind, {buf, count, type, peer, tag, known, mode}));
  return MPI_SUCCESS;
}

Request* find_locked(MPI_Request handle) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  return handle == MPI_REQUEST_NULL ? nullptr : rt.requests.find(handle);
}

events::Event about(const Request& request, events::EventKind kind) {
  events::Event event;
  event.kind = kind;
  event.request = request.id;
  if (request.comm) event.comm = request.comm->number;
  return event;
}

/// A native request that is complete and cancelled, in place of a receive that was never posted.
MPI_Request cancelled_request() {
  MPI_Request request = MPI_REQUEST_NULL;
  constexpr int kNobodySendsThis = 32767;
  pmpi::Irecv(nullptr, 0, MPI_BYTE, 0, kNobodySendsThis, quiet_self(), &request);
  pmpi::Cancel(&request);
  return request;
}

void become_cancelled(Call& call, Request& request) {
  request.known = true;
  request.at = call.entry();
  request.overhead = Duration{};
  call.rt.requests.unindex(request.id);
}

/// Only the simulator knows whether the receive was matched in virtual time.
void cancel_held(Call& call, Request& request) {
  const auto answer = call.ask(about(request, events::EventKind::kCancelled));
  if (!answer) {  // the simulator died: the receive is MPI's now
    pmpi::Cancel(&request.native);
    return;
  }
  if (!request.held) return;  // a match came first
  call.exit_at(answer->exit());
  request.held = request.engine_decided = false;
  call.rt.messages.count_undecided(*request.comm, -1);
  call.rt.messages.free_if_due(*request.comm);
  request.native = cancelled_request();
  become_cancelled(call, request);
}

bool was_cancelled(MPI_Request native) {
  int cancelled = 0;
  MPI_Status status;
  if (is_complete(native, &status)) pmpi::Test_cancelled(&status, &cancelled);
  return cancelled != 0;
}

int cancel_native(Call& call, Request& request) {
  Runtime& rt = call.rt;
  rt.absorb();
  const bool receives = request.kind == RequestKind::kReceive;
  if (receives && (request.known || request.met)) return MPI_SUCCESS;  // matched: it will complete
  const int code = pmpi::Cancel(&request.native);
  if (code != MPI_SUCCESS || !was_cancelled(request.native)) return code;
  events::Event event = about(request, events::EventKind::kCancelled);
  event.peer = request.peer.value;
  if (receives) {
    std::vector<semantics::Match> settled;
    if (rt.messages.direct()) rt.messages.mailbox().cancel(request.id.value, settled);
  } else {  // MPICH cancels sends to the rank itself only
    event.aux = request.sequence;
    if (rt.messages.direct()) rt.messages.mailbox().take(request.comm->key, request.peer, request.sequence);
  }
  call.emit(event);
  become_cancelled(call, request);
  return MPI_SUCCESS;
}

void free_active(Call& call, std::unique_ptr<Request> request) {
  if (request->partitioned) return abandon_partitions(call, request->partitioned);
  if (Accesses* accesses = call.rt.accesses()) accesses->free(call, *request);
  call.emit(about(*request, events::EventKind::kRequestFree));
  if (request->partner) {  // the send half of an Isendrecv
    Request& send = *request->partner;
    call.emit(about(send, events::EventKind::kRequestFree));
    if (send.native != MPI_REQUEST_NULL)
      call.rt.background.leave(send.native, std::move(send.copy), request->keep);
  }
  if (request->kind == RequestKind::kSend && request->copy.buffer() != nullptr) {
    call.rt.background.leave(request->native, std::move(request->copy), std::move(request->keep));
  } else if (request->held) {
    request->detached = true;
    call.rt.requests.detach(std::move(request));
    return;
  } else if (request->native != MPI_REQUEST_NULL) {
    pmpi::Request_free(&request->native);
  }
  call.rt.requests.unindex(request->id);
}

int start_one_by_one(int count, MPI_Request handles[]) {
  std::optional<Call> call;
  for (int i = 0; i < count; ++i) {
    Request* request = call ? call->rt.requests.find(handles[i]) : find_locked(handles[i]);
    if (request == nullptr || !request->persistent ||
        request->active) {  // partitioned, or an error for MPI to report
      call.reset();
      const UnmodelledScope scope{current_call()};
      const int code = pmpi::Start(&handles[i]);
      if (code != MPI_SUCCESS) return code;
      continue;
    }
    if (!call) call.emplace();
    const int code = request->start(*call, *request);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace

namespace handlers {

#define NPLUS1_SEND_INIT(Name, mode)                                                                \
  int Name(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,   \
           MPI_Request* request) {                                                                  \
    return make_persistent(RequestKind::kSend, buf, count, type, dest, tag, comm, mode, request,    \
                           [&] { return pmpi::Name(buf, count, type, dest, tag, comm, request); }); \
  }                                                                                                 \
  int Name(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,         \
           MPI_Request* request) {                                                                  \
    return Name(buf, MPI_Count{count}, type, dest, tag, comm, request);                             \
  }

NPLUS1_SEND_INIT(Send_init, SendMode::kStandard)
NPLUS1_SEND_INIT(Ssend_init, SendMode::kSynchronous)
NPLUS1_SEND_INIT(Bsend_init, SendMode::kBuffered)
NPLUS1_SEND_INIT(Rsend_init, SendMode::kReady)
#undef NPLUS1_SEND_INIT

int Recv_init(void* buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return make_persistent(RequestKind::kReceive, buf, count, type, source, tag, comm, SendMode::kStandard,
                         request,
                         [&] { return pmpi::Recv_init(buf, count, type, source, tag, comm, request); });
}
int Recv_init(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return Recv_init(buf, MPI_Count{count}, type, source, tag, comm, request);
}

int Start(MPI_Request* handle) {
  return start_one_by_one(1, handle);
}

int Startall(int count, MPI_Request handles[]) {
  refuse_if(count > 0 && handles == nullptr);
  return start_one_by_one(count, handles);
}

int Request_free(MPI_Request* handle) {
  Request* request = find_locked(*handle);
  if (request == nullptr) return pmpi::Request_free(handle);
  Call call;
  std::unique_ptr<Request> gone = call.rt.requests.remove(*handle);
  const bool native_handle = gone->persistent;
  MPI_Request app = gone->app;
  if (gone->active) free_active(call, std::move(gone));
  *handle = MPI_REQUEST_NULL;
  return native_handle ? pmpi::Request_free(&app) : MPI_SUCCESS;
}

int Cancel(MPI_Request* handle) {
  Request* request = find_locked(*handle);
  if (request == nullptr || !request->active || request->partitioned) return pmpi::Cancel(handle);
  Call call;
  if (!request->held) return cancel_native(call, *request);
  cancel_held(call, *request);
  return MPI_SUCCESS;
}

}  // namespace handlers
}  // namespace nplus1::stubs
