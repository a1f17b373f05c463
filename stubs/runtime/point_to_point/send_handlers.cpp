// MPI_Send and its relatives (MPI 4.0, sections 3.2, 3.4, 3.7).
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/point_to_point.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

using events::EventKind;
using events::SendMode;

int blocking_send(const Transfer& t) {
  Call call{true, Clock::kAdrift};
  Request request;
  const int code = post_send(call, t, request);
  if (code != MPI_SUCCESS) return code;
  if (request.eager) {
    announce_send(call, t, request, EventKind::kSend);
    call.exit_at(request.at);
    release_send(call, request);
  } else {
    announce_send(call, t, request, EventKind::kSend, events::kNeedsAnswer);
    if (const auto answer = call.await_answer()) call.exit_at(answer->exit());
    const bool waits = waits_natively(request);
    const int finished = waits ? call.finish(request.native, MPI_STATUS_IGNORE, request.peer) : MPI_SUCCESS;
    if (!waits) release_send(call, request);
    call.drift(call.native_cost());
    return finished;
  }
  call.drift(call.native_cost());
  return MPI_SUCCESS;
}

int nonblocking_send(const Transfer& t, MPI_Request* handle) {
  Call call{true, Clock::kAdrift};
  std::unique_ptr<Request> request = call.rt.requests.make();
  const int code = start_send(call, t, *request);
  if (code != MPI_SUCCESS) return code;
  *handle = request->native;
  call.rt.requests.insert(*handle, std::move(request));
  return MPI_SUCCESS;
}

template <class Native>
int send(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, SendMode mode,
         Native&& native) {
  Communicator* known = communicator(comm);
  if (known == nullptr) {
    const UnmodelledScope scope{current_call()};
    return native();
  }
  const Transfer transfer{buf, count, type, dest, tag, known, mode};
  check_send(transfer);
  return blocking_send(transfer);
}

template <class Native>
int isend(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
          SendMode mode, MPI_Request* request, Native&& native) {
  Communicator* known = communicator(comm);
  if (known == nullptr) {
    const UnmodelledScope scope{current_call()};
    return native();
  }
  const Transfer transfer{buf, count, type, dest, tag, known, mode};
  check_send(transfer);
  return nonblocking_send(transfer, request);
}

}  // namespace

namespace handlers {

// Each function and its large-count form.
#define NPLUS1_SEND(Name, mode)                                                                     \
  int Name(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) { \
    return send(buf, count, type, dest, tag, comm, mode,                                            \
                [&] { return pmpi::Name(buf, count, type, dest, tag, comm); });                     \
  }                                                                                                 \
  int Name(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {       \
    return Name(buf, MPI_Count{count}, type, dest, tag, comm);                                      \
  }
#define NPLUS1_ISEND(Name, mode)                                                                  \
  int Name(const void* buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
           MPI_Request* request) {                                                                \
    return isend(buf, count, type, dest, tag, comm, mode, request,                                \
                 [&] { return pmpi::Name(buf, count, type, dest, tag, comm, request); });         \
  }                                                                                               \
  int Name(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,       \
           MPI_Request* request) {                                                                \
    return Name(buf, MPI_Count{count}, type, dest, tag, comm, request);                           \
  }

NPLUS1_SEND(Send, SendMode::kStandard)
NPLUS1_SEND(Ssend, SendMode::kSynchronous)
NPLUS1_SEND(Bsend, SendMode::kBuffered)
NPLUS1_SEND(Rsend, SendMode::kReady)
NPLUS1_ISEND(Isend, SendMode::kStandard)
NPLUS1_ISEND(Issend, SendMode::kSynchronous)
NPLUS1_ISEND(Ibsend, SendMode::kBuffered)
NPLUS1_ISEND(Irsend, SendMode::kReady)

#undef NPLUS1_SEND
#undef NPLUS1_ISEND

}  // namespace handlers
}  // namespace nplus1::stubs
