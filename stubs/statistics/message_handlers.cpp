// Point-to-point calls, and waiting for requests: made unchanged, and counted where MPI has accepted them.
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/statistics/scope.hpp"

namespace nplus1::stubs {

using page_wait = events::statistics::WaitKind;
using statistics::bytes_of;
using statistics::Scope;

namespace {

/// In the program's call, whatever counting does.
template <class Count>
void when(int code, Count&& count) noexcept {
  if (code == MPI_SUCCESS) guarded(count);
}

template <class Native>
int send(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm, Native&& native) {
  Scope scope{comm};
  scope.waits_for(dest, page_wait::kSend);
  scope.may_wait();
  scope.publish();
  const int code = native();
  when(code, [&] { scope.sent(dest, bytes_of(count, type)); });
  return code;
}

template <class Native>
int isend(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm, MPI_Request* request,
          Native&& native) {
  Scope scope{comm};
  scope.publish();
  const int code = native();
  when(code, [&] {
    scope.sent(dest, bytes_of(count, type));
    scope.made(*request, dest, page_wait::kSend);
  });
  return code;
}

template <class Native>
int prepare(MPI_Count count, MPI_Datatype type, int peer, MPI_Comm comm, page_wait kind, MPI_Request* request,
            Native&& native) {
  Scope scope{comm};
  scope.publish();
  const int code = native();
  when(code, [&] {
    statistics::CommUse* use = scope.accepted_comm();
    if (use == nullptr) return;
    auto prepared = std::make_unique<statistics::Prepared>();
    prepared->use.peer = use->world(peer);
    prepared->use.kind = kind;
    prepared->use.call = current_call();
    prepared->comm = use->shared_from_this();
    prepared->bytes = bytes_of(count, type);
    scope.recorder().prepare(*request, std::move(prepared));
  });
  return code;
}

/// Where the call waits for a message from `source`.
template <class Native>
int receive(int source, MPI_Comm comm, Native&& native) {
  Scope scope{comm};
  scope.waits_for(source, page_wait::kReceive);
  scope.may_wait();
  scope.publish();
  const int code = native();
  when(code, [&] { scope.accepted_comm(); });
  return code;
}

template <class Native>
int ireceive(int source, MPI_Comm comm, MPI_Request* request, Native&& native) {
  Scope scope{comm};
  scope.publish();
  const int code = native();
  when(code, [&] {
    scope.accepted_comm();
    scope.made(*request, source, page_wait::kReceive);
  });
  return code;
}

template <class Native>
int exchange(MPI_Count count, MPI_Datatype type, int dest, int source, MPI_Comm comm, Native&& native) {
  Scope scope{comm};
  scope.waits_for(source, page_wait::kReceive);
  scope.waits_for(dest, page_wait::kSend);
  scope.may_wait();
  scope.publish();
  const int code = native();
  when(code, [&] { scope.sent(dest, bytes_of(count, type)); });
  return code;
}

template <class Native>
int iexchange(MPI_Count count, MPI_Datatype type, int dest, int source, MPI_Comm comm, MPI_Request* request,
              Native&& native) {
  Scope scope{comm};
  scope.publish();
  const int code = native();
  when(code, [&] {
    scope.sent(dest, bytes_of(count, type));
    scope.made(*request, source, page_wait::kReceive);
  });
  return code;
}

template <class Native>
int wait(const MPI_Request* requests, int count, bool blocks, Native&& native) {
  Scope scope;
  scope.waits_for(requests, count);
  if (blocks) scope.may_wait();
  scope.publish();
  return native();
}

template <class Native>
int plain(bool blocks, Native&& native) {
  Scope scope;
  if (blocks) scope.may_wait();
  scope.publish();
  return native();
}

}  // namespace

namespace handlers {

#define NPLUS1_SEND(Name, C)                                                                             \
  int Name(const void* buf, C count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {              \
    return send(count, type, dest, comm, [=] { return pmpi::Name(buf, count, type, dest, tag, comm); }); \
  }
#define NPLUS1_ISEND(Name, C)                                                             \
  int Name(const void* buf, C count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
           MPI_Request* request) {                                                        \
    return isend(count, type, dest, comm, request,                                        \
                 [=] { return pmpi::Name(buf, count, type, dest, tag, comm, request); }); \
  }
#define NPLUS1_SEND_INIT(Name, C)                                                           \
  int Name(const void* buf, C count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,   \
           MPI_Request* request) {                                                          \
    return prepare(count, type, dest, comm, page_wait::kSend, request,                      \
                   [=] { return pmpi::Name(buf, count, type, dest, tag, comm, request); }); \
  }
#define NPLUS1_MESSAGES(C)                                                                                  \
  NPLUS1_SEND(Send, C)                                                                                      \
  NPLUS1_SEND(Ssend, C)                                                                                     \
  NPLUS1_SEND(Bsend, C)                                                                                     \
  NPLUS1_SEND(Rsend, C)                                                                                     \
  NPLUS1_ISEND(Isend, C)                                                                                    \
  NPLUS1_ISEND(Issend, C)                                                                                   \
  NPLUS1_ISEND(Ibsend, C)                                                                                   \
  NPLUS1_ISEND(Irsend, C)                                                                                   \
  NPLUS1_SEND_INIT(Send_init, C)                                                                            \
  NPLUS1_SEND_INIT(Ssend_init, C)                                                                           \
  NPLUS1_SEND_INIT(Bsend_init, C)                                                                           \
  NPLUS1_SEND_INIT(Rsend_init, C)                                                                           \
  int Recv(void* buf, C count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) { \
    return receive(source, comm, [=] { return pmpi::Recv(buf, count, type, source, tag, comm, status); });  \
  }                                                                                                         \
  int Irecv(void* buf, C count, MPI_Datatype type, int source, int tag, MPI_Comm comm,                      \
            MPI_Request* request) {                                                                         \
    return ireceive(source, comm, request,                                                                  \
                    [=] { return pmpi::Irecv(buf, count, type, source, tag, comm, request); });             \
  }                                                                                                         \
  int Recv_init(void* buf, C count, MPI_Datatype type, int source, int tag, MPI_Comm comm,                  \
                MPI_Request* request) {                                                                     \
    return prepare(count, type, source, comm, page_wait::kReceive, request,                                 \
                   [=] { return pmpi::Recv_init(buf, count, type, source, tag, comm, request); });          \
  }                                                                                                         \
  int Mrecv(void* buf, C count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {              \
    return plain(true, [=] { return pmpi::Mrecv(buf, count, type, message, status); });                     \
  }                                                                                                         \
  int Imrecv(void* buf, C count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {           \
    return plain(false, [=] { return pmpi::Imrecv(buf, count, type, message, request); });                  \
  }                                                                                                         \
  int Sendrecv(const void* sendbuf, C sendcount, MPI_Datatype sendtype, int dest, int sendtag,              \
               void* recvbuf, C recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,   \
               MPI_Status* status) {                                                                        \
    return exchange(sendcount, sendtype, dest, source, comm, [=] {                                          \
      return pmpi::Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,      \
                            source, recvtag, comm, status);                                                 \
    });                                                                                                     \
  }                                                                                                         \
  int Sendrecv_replace(void* buf, C count, MPI_Datatype type, int dest, int sendtag, int source,            \
                       int recvtag, MPI_Comm comm, MPI_Status* status) {                                    \
    return exchange(count, type, dest, source, comm, [=] {                                                  \
      return pmpi::Sendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, status);        \
    });                                                                                                     \
  }                                                                                                         \
  int Isendrecv(const void* sendbuf, C sendcount, MPI_Datatype sendtype, int dest, int sendtag,             \
                void* recvbuf, C recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,  \
                MPI_Request* request) {                                                                     \
    return iexchange(sendcount, sendtype, dest, source, comm, request, [=] {                                \
      return pmpi::Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,     \
                             source, recvtag, comm, request);                                               \
    });                                                                                                     \
  }                                                                                                         \
  int Isendrecv_replace(void* buf, C count, MPI_Datatype type, int dest, int sendtag, int source,           \
                        int recvtag, MPI_Comm comm, MPI_Request* request) {                                 \
    return iexchange(count, type, dest, source, comm, request, [=] {                                        \
      return pmpi::Isendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, request);      \
    });                                                                                                     \
  }

NPLUS1_MESSAGES(int)
NPLUS1_MESSAGES(MPI_Count)

int Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return receive(source, comm, [=] { return pmpi::Probe(source, tag, comm, status); });
}
int Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  return receive(source, comm, [=] { return pmpi::Mprobe(source, tag, comm, message, status); });
}
int Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  Scope scope{comm};
  scope.waits_for(source, page_wait::kReceive);
  scope.publish();
  return pmpi::Iprobe(source, tag, comm, flag, status);
}
int Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  Scope scope{comm};
  scope.waits_for(source, page_wait::kReceive);
  scope.publish();
  return pmpi::Improbe(source, tag, comm, flag, message, status);
}

int Wait(MPI_Request* request, MPI_Status* status) {
  return wait(request, 1, true, [=] { return pmpi::Wait(request, status); });
}
int Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return wait(requests, count, true, [=] { return pmpi::Waitall(count, requests, statuses); });
}
int Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  return wait(requests, count, true, [=] { return pmpi::Waitany(count, requests, index, status); });
}
int Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  return wait(requests, count, true,
              [=] { return pmpi::Waitsome(count, requests, done, indices, statuses); });
}
int Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return wait(request, 1, false, [=] { return pmpi::Test(request, flag, status); });
}
int Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  return wait(requests, count, false, [=] { return pmpi::Testall(count, requests, flag, statuses); });
}
int Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  return wait(requests, count, false, [=] { return pmpi::Testany(count, requests, index, flag, status); });
}
int Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  return wait(requests, count, false,
              [=] { return pmpi::Testsome(count, requests, done, indices, statuses); });
}
int Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return wait(&request, 1, false, [=] { return pmpi::Request_get_status(request, flag, status); });
}

int Start(MPI_Request* request) {
  Scope scope;
  scope.publish();
  const int code = pmpi::Start(request);
  when(code, [&] { statistics::count_start(scope, *request); });
  return code;
}
int Startall(int count, MPI_Request requests[]) {
  Scope scope;
  scope.publish();
  const int code = pmpi::Startall(count, requests);
  when(code, [&] {
    for (int i = 0; i < count; ++i) statistics::count_start(scope, requests[i]);
  });
  return code;
}
int Request_free(MPI_Request* request) {
  Scope scope;
  scope.publish();
  const MPI_Request handle = *request;
  // First: another thread may get the same handle as soon as MPI has freed it.
  std::unique_ptr<statistics::Prepared> prepared;
  guarded([&] { prepared = scope.recorder().unprepare(handle); });
  const int code = pmpi::Request_free(request);
  if (code != MPI_SUCCESS && prepared != nullptr)
    guarded([&] { scope.recorder().prepare(handle, std::move(prepared)); });
  return code;
}

}  // namespace handlers
}  // namespace nplus1::stubs
