// MPI_Psend_init, MPI_Pready and their relatives (MPI 4.0, chapter 4). What is not known to the simulator, or seems wrong, is
// MPI's own affair.
#include <algorithm>

#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/arguments/address.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/completion/completion.hpp"
#include "stubs/runtime/completion/partitioned.hpp"
#include "stubs/runtime/send_hook.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {

namespace {

template <class Native>
int make_partitioned_natively(Native&& native) {
  const UnmodelledScope scope{current_call()};
  return native();
}

/// A send that never waits for its receiver, who may not have posted a receive: as buffered ones, without MPI's buffer.
int send_at_once(Call& call, Transfer t, Request& request) {
  request.kind = RequestKind::kSend;
  request.comm = t.comm->shared_from_this();
  request.peer = RankId{t.peer};
  request.eager = true;
  request.copy = PrivateCopy{t.buffer, t.count, t.type};
  t.mode = events::SendMode::kBuffered;
  const SendingTo hint{t.peer};
  const bool copied = request.copy.buffer() != nullptr;
  const int code =
      pmpi::Isend(copied ? request.copy.buffer() : t.buffer, copied ? request.copy.count() : t.count,
                  copied ? request.copy.type() : t.type, t.peer, t.tag, t.comm->handle, &request.native);
  if (code != MPI_SUCCESS) return code;
  announce_send(call, t, request, events::EventKind::kIsend);
  call.exit_at(call.entry() + call.rt.network().send_overhead(bytes(payload_bytes(t.count, t.type))));
  return MPI_SUCCESS;
}

/// Not before the request is started, since who never starts it need not have a receiver.
void introduce(Call& call, Partitioned& p) {
  p.first = call.rt.partitions.take_tags(p.peer, p.partitions, call.rt.largest_tag());
  const Introduction introduction{p.name, p.size, p.partitions, p.first};
  const Transfer t{&introduction,
                   sizeof(introduction),
                   MPI_BYTE,
                   p.peer.value,
                   PartitionChannels::kIntroductionTag,
                   &call.rt.partitions.communicator(call.rt)};
  Request request;
  if (send_at_once(call, t, request) != MPI_SUCCESS) return;
  events::Event freed;
  freed.kind = events::EventKind::kRequestFree;
  freed.request = request.id;
  freed.comm = request.comm->number;
  call.emit(freed);
  call.rt.background.leave(request.native, std::move(request.copy));
}

int start_round(Call& call, Request& request) {
  Partitioned& p = *request.partitioned;
  request.active = true;
  if (p.peer == kProcNull) return MPI_SUCCESS;
  if (!p.sends) return p.introduction ? post_partitions(call, p) : MPI_SUCCESS;
  if (p.first == 0) introduce(call, p);
  p.ready.assign(static_cast<std::size_t>(p.partitions), false);
  p.missing = p.partitions;
  p.messages.resize(p.ready.size());
  return MPI_SUCCESS;
}

std::shared_ptr<Partitioned> partitioned_of(Call& call, bool sends, const Transfer& whole, int partitions) {
  auto made = std::make_shared<Partitioned>();
  made->whole = whole;
  made->sends = sends;
  made->partitions = partitions;
  made->peer = whole.comm->world(whole.peer);
  made->size = payload_bytes(whole.count, whole.type);
  made->element_size = payload_bytes(1, whole.type);
  MPI_Count lower = 0;
  pmpi::Type_get_extent_x(whole.type, &lower, &made->extent);
  if (Capture* capture = call.rt.capture()) made->whole.datatype = capture->datatype(whole.type, sends);
  made->type = call.rt.own_types.of(whole.type);
  made->whole.type = *made->type;
  made->whole.own = &made->type;
  if (made->peer == kProcNull) made->introduction.emplace();
  return made;
}

template <class Native>
int initialise(bool sends, const Transfer& whole, int partitions, MPI_Request* handle, Native&& native) {
  if (whole.comm == nullptr || runtime()->native()) return make_partitioned_natively(native);
  refuse_if(partitions < 0);
  if (sends)
    check_send(whole);
  else
    check_receive(whole);
  refuse_if(whole.peer == MPI_ANY_SOURCE || whole.tag == MPI_ANY_TAG);
  Call call;
  auto made = partitioned_of(call, sends, whole, partitions);
  const int code = pmpi::Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, quiet_self(), handle);
  if (code != MPI_SUCCESS) return code;
  call_has_begun();
  std::unique_ptr<Request> request = call.rt.requests.make();
  request->kind = RequestKind::kPartitioned;
  request->persistent = true;
  request->comm = whole.comm->shared_from_this();
  request->partitioned = made;
  request->start = [](Call& starting, Request& r) { return start_round(starting, r); };
  call.rt.requests.insert(*handle, std::move(request));
  if (made->peer == kProcNull) return MPI_SUCCESS;
  made->name = call.rt.partitions.name(sends, made->peer, *whole.comm, whole.tag);
  if (!sends) call.rt.partitions.expect(made);
  return MPI_SUCCESS;
}

int make_ready(Call& call, Partitioned& p, int partition) {
  const auto i = static_cast<std::size_t>(partition);
  Transfer t = p.whole;
  t.buffer = behind(p.whole.buffer, partition * p.whole.count * p.extent);
  t.peer = p.peer.value;
  t.tag = p.first + partition;
  t.comm = &call.rt.partitions.communicator(call.rt);
  p.messages[i] = call.rt.requests.make();
  const int code = p.has_met ? start_send(call, t, *p.messages[i]) : send_at_once(call, t, *p.messages[i]);
  if (code != MPI_SUCCESS) return code;
  p.ready[i] = true;
  --p.missing;
  return MPI_SUCCESS;
}

/// The active partitioned request behind the handle; null if there is none.
Partitioned* find_active(MPI_Request handle, bool sends) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  const Request* request = handle == MPI_REQUEST_NULL ? nullptr : rt.requests.find(handle);
  if (request == nullptr || !request->active || !request->partitioned) return nullptr;
  return request->partitioned->sends == sends ? request->partitioned.get() : nullptr;
}

/// Partitions `first`, then what `next` makes of it, and so on, `n` of them.
template <class Partition, class Native>
int make_all_ready(MPI_Request handle, int n, Partition&& partition, Native&& native) {
  Partitioned* const p = find_active(handle, true);
  if (p == nullptr) return make_partitioned_natively(native);
  for (int i = 0; i < n; ++i) refuse_if(partition(i) < 0 || partition(i) >= p->partitions);
  if (p->peer == kProcNull) return MPI_SUCCESS;
  Call call;
  for (int i = 0; i < n; ++i) refuse_if(p->ready[static_cast<std::size_t>(partition(i))]);
  for (int i = 0; i < n; ++i) {
    const int code = make_ready(call, *p, partition(i));
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

/// The messages that bring a partition of the receiver's: all, where they are not received in place.
std::vector<Request*> messages_of(const Partitioned& p, int partition) {
  std::vector<Request*> all;
  for (const auto& message : p.messages) all.push_back(message.get());
  const MPI_Count piece = p.introduction->size;
  if (!p.packed.empty() || p.size == 0 || piece == 0) return all;
  const auto last =
      std::min<MPI_Count>(((partition + 1) * p.size + piece - 1) / piece, static_cast<MPI_Count>(all.size()));
  const MPI_Count first = std::min(partition * p.size / piece, last);
  return {all.begin() + first, all.begin() + last};
}

bool has_arrived(Call& call, Request& request, int partition) {
  Partitioned& p = *request.partitioned;
  Request* const self = &request;
  if (!simulated_now(call, {&self, 1})) return false;
  const std::vector<Request*> messages = messages_of(p, partition);
  if (!messages.empty() && !have_come(call, messages)) return false;
  for (Request* message : messages) {
    call.await(message->native, p.peer);
    if (Accesses* accesses = call.rt.accesses()) {
      accesses->arrived(*message);
      accesses->complete(*message);
    }
  }
  if (!p.packed.empty()) settle_partitions(call, p);
  return true;
}

}  // namespace

namespace handlers {

int Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return initialise(true, {buf, count, type, dest, tag, communicator(comm)}, partitions, request, [=] {
    return pmpi::Psend_init(buf, partitions, count, type, dest, tag, comm, info, request);
  });
}

int Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag,
               MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return initialise(false, {buf, count, type, source, tag, communicator(comm)}, partitions, request, [=] {
    return pmpi::Precv_init(buf, partitions, count, type, source, tag, comm, info, request);
  });
}

int Pready(int partition, MPI_Request request) {
  return make_all_ready(
      request, 1, [=](int) { return partition; }, [=] { return pmpi::Pready(partition, request); });
}

int Pready_range(int low, int high, MPI_Request request) {
  return make_all_ready(
      request, high - low + 1, [=](int i) { return low + i; },
      [=] { return pmpi::Pready_range(low, high, request); });
}

int Pready_list(int length, int partitions[], MPI_Request request) {
  refuse_if(length > 0 && partitions == nullptr);
  return make_all_ready(
      request, length, [=](int i) { return partitions[i]; },
      [=] { return pmpi::Pready_list(length, partitions, request); });
}

int Parrived(MPI_Request handle, int partition, int* flag) {
  const auto native = [=] { return pmpi::Parrived(handle, partition, flag); };
  Request* request = nullptr;
  {
    Runtime& rt = *runtime();
    const std::lock_guard guard{rt.lock};
    request = handle == MPI_REQUEST_NULL ? nullptr : rt.requests.find(handle);
  }
  if (request == nullptr || !request->partitioned || request->partitioned->sends)
    return make_partitioned_natively(native);
  refuse_if(partition < 0 || partition >= request->partitioned->partitions);
  *flag = 1;  // of an inactive request too
  if (!request->active || request->partitioned->peer == kProcNull) return MPI_SUCCESS;
  Call call;
  *flag = has_arrived(call, *request, partition) ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace handlers
}  // namespace nplus1::stubs
