// MPI_Put and its relatives (MPI 4.0, section 12.3). MPI is asked first, so that what it refuses is no event; the origin
// goes on when it has told its network interface, which it computes by itself (docs/one_sided.md).
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/private_copy.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/send_hook.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

using events::OneSidedOperation;

/// A transfer that MPI has taken: then its arguments are valid.
struct Moved {
  OneSidedOperation operation{};
  MPI_Count there = 0;  // bytes to the target
  MPI_Count back = 0;   // bytes that come back
  Payload shown;        // of the origin's, for recordings
};

void announce(Call& call, const Window& window, int target, const Moved& moved, RequestId request) {
  call_has_begun();
  events::Event event;
  event.kind = events::EventKind::kOneSided;
  event.operation = static_cast<std::uint8_t>(moved.operation);
  event.comm = window.comm->number;
  event.request = request;
  event.peer = target == MPI_PROC_NULL ? kProcNull.value : window.comm->world(target).value;
  event.size = moved.there;
  event.aux = static_cast<std::uint64_t>(moved.back);
  const CallData data{moved.shown};
  call.emit(event, nullptr, &data);
  if (target == MPI_PROC_NULL) return;
  const auto sent = semantics::send_eager(call.rt.network(), call.entry(), call.rt.me(), event.peer_rank(),
                                          event.payload(), call.thread.interface_free);
  call.exit_at(sent.sender_free);
}

template <class Native>
int ask_mpi(Call& call, const Window& window, int target, Native&& native) {
  const MayNeed help{window.is_member(target) ? window.comm->world(target) : kProcNull};
  return call.unlocked(native);
}

/// `describe` is called when MPI has taken the call.
template <class Native, class Describe>
int move(MPI_Win handle, int target, Native&& native, Describe&& describe) {
  const Window* window = find_window(handle);
  if (window == nullptr) {
    const UnmodelledScope scope{current_call()};
    return native();
  }
  Call call;
  const int code = ask_mpi(call, *window, target, native);
  if (code == MPI_SUCCESS) announce(call, *window, target, describe(), kNoRequest);
  return code;
}

template <class Native, class Describe>
int start(MPI_Win handle, int target, MPI_Request* request, Native&& native, Describe&& describe) {
  const Window* window = find_window(handle);
  if (window == nullptr) {
    const UnmodelledScope scope{current_call()};
    return native();
  }
  Call call;
  const int code = ask_mpi(call, *window, target, native);
  if (code != MPI_SUCCESS) return code;
  std::unique_ptr<Request> made = call.rt.requests.make();
  made->kind = RequestKind::kOneSided;
  made->id = call.rt.messages.next_request_id();
  made->active = true;
  made->peer = target == MPI_PROC_NULL ? kProcNull : window->comm->world(target);
  made->native = *request;
  announce(call, *window, target, describe(), made->id);
  call.rt.requests.insert(*request, std::move(made));
  return code;
}

Moved put(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {OneSidedOperation::kPut, payload_bytes(count, type), 0, {buffer, count, type}};
}
Moved get(void* buffer, MPI_Count count, MPI_Datatype type) {
  return {OneSidedOperation::kGet, 0, payload_bytes(count, type), {buffer, count, type}};
}
Moved accumulate(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return {OneSidedOperation::kAccumulate, payload_bytes(count, type), 0, {buffer, count, type}};
}
/// With MPI_NO_OP nothing goes to the target but the request.
Moved get_accumulate(const void* buffer, MPI_Count count, MPI_Datatype type, const void* result,
                     MPI_Count results, MPI_Datatype result_type, MPI_Op op) {
  if (op == MPI_NO_OP)
    return {OneSidedOperation::kGetAccumulate,
            0,
            payload_bytes(results, result_type),
            {result, results, result_type}};
  return {OneSidedOperation::kGetAccumulate,
          payload_bytes(count, type),
          payload_bytes(results, result_type),
          {buffer, count, type}};
}

}  // namespace

namespace handlers {

// Each function, its form with a request, and their large-count forms.
#define NPLUS1_TRANSFER(Name, RName, C, PARAMETERS, ARGUMENTS, DESCRIPTION)                                \
  int Name(NPLUS1_LIST PARAMETERS, MPI_Win win) {                                                          \
    return move(                                                                                           \
        win, target, [&] { return pmpi::Name(NPLUS1_LIST ARGUMENTS, win); }, [&] { return DESCRIPTION; }); \
  }                                                                                                        \
  int RName(NPLUS1_LIST PARAMETERS, MPI_Win win, MPI_Request* request) {                                   \
    return start(                                                                                          \
        win, target, request, [&] { return pmpi::RName(NPLUS1_LIST ARGUMENTS, win, request); },            \
        [&] { return DESCRIPTION; });                                                                      \
  }
#define NPLUS1_LIST(...) __VA_ARGS__
#define NPLUS1_TRANSFERS(C)                                                                                  \
  NPLUS1_TRANSFER(Put, Rput, C,                                                                              \
                  (const void* buffer, C count, MPI_Datatype type, int target, MPI_Aint at, C there,         \
                   MPI_Datatype their_type),                                                                 \
                  (buffer, count, type, target, at, there, their_type), put(buffer, count, type))            \
  NPLUS1_TRANSFER(                                                                                           \
      Get, Rget, C,                                                                                          \
      (void* buffer, C count, MPI_Datatype type, int target, MPI_Aint at, C there, MPI_Datatype their_type), \
      (buffer, count, type, target, at, there, their_type), get(buffer, count, type))                        \
  NPLUS1_TRANSFER(Accumulate, Raccumulate, C,                                                                \
                  (const void* buffer, C count, MPI_Datatype type, int target, MPI_Aint at, C there,         \
                   MPI_Datatype their_type, MPI_Op op),                                                      \
                  (buffer, count, type, target, at, there, their_type, op), accumulate(buffer, count, type)) \
  NPLUS1_TRANSFER(                                                                                           \
      Get_accumulate, Rget_accumulate, C,                                                                    \
      (const void* buffer, C count, MPI_Datatype type, void* result, C results, MPI_Datatype result_type,    \
       int target, MPI_Aint at, C there, MPI_Datatype their_type, MPI_Op op),                                \
      (buffer, count, type, result, results, result_type, target, at, there, their_type, op),                \
      get_accumulate(buffer, count, type, result, results, result_type, op))

NPLUS1_TRANSFERS(int)
NPLUS1_TRANSFERS(MPI_Count)
#undef NPLUS1_TRANSFERS
#undef NPLUS1_LIST
#undef NPLUS1_TRANSFER

int Fetch_and_op(const void* buffer, void* result, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op,
                 MPI_Win win) {
  return move(
      win, target, [&] { return pmpi::Fetch_and_op(buffer, result, type, target, at, op, win); },
      [&] {
        Moved moved = get_accumulate(buffer, 1, type, result, 1, type, op);
        moved.operation = OneSidedOperation::kFetchAndOp;
        return moved;
      });
}

/// Two elements go to the target.
int Compare_and_swap(const void* buffer, const void* compared, void* result, MPI_Datatype type, int target,
                     MPI_Aint at, MPI_Win win) {
  return move(
      win, target, [&] { return pmpi::Compare_and_swap(buffer, compared, result, type, target, at, win); },
      [&] {
        return Moved{OneSidedOperation::kCompareAndSwap,
                     2 * payload_bytes(1, type),
                     payload_bytes(1, type),
                     {buffer, 1, type}};
      });
}

}  // namespace handlers
}  // namespace nplus1::stubs
