#include "stubs/runtime/collectives/collective.hpp"

#include <cstring>

#include "netmodel/collectives/schedule.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/collectives/collective_forms.hpp"
#include "stubs/runtime/completion/completion.hpp"
#include "stubs/runtime/detached_sends.hpp"
#include "stubs/runtime/hooks/collective_lengths.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

using events::EventKind;

/// The event's extension: bytes per member, or neighbourhood edges.
std::vector<std::byte> extension_of(const Collective& c, events::Event& event) {
  const std::size_t used =
      c.sizes.empty() ? c.words.size() * sizeof(std::uint32_t) : c.sizes.size() * sizeof(std::int64_t);
  const std::size_t slots = (used + events::kSlotBytes - 1) / events::kSlotBytes;
  std::vector<std::byte> bytes(slots * events::kSlotBytes);
  if (!c.sizes.empty())
    std::memcpy(bytes.data(), c.sizes.data(), used);
  else if (used > 0)
    std::memcpy(bytes.data(), c.words.data(), used);
  event.extension = static_cast<std::uint32_t>(slots);
  event.aux = c.sizes.empty() ? c.words.size() : c.sizes.size();
  if (!c.sizes.empty()) event.flags |= events::kHasBytesPerMember;
  return bytes;
}

/// Between groups the root is called MPI_ROOT by itself and MPI_PROC_NULL by the rest of its group.
std::int32_t root_in_event(const Collective& c) {
  if (c.comm->inter && c.root == MPI_ROOT) return events::kIntercommRoot;
  return c.comm->inter && c.root == MPI_PROC_NULL ? kProcNull.value : c.root;
}

events::Event event_of(const Collective& c, EventKind kind) {
  events::Event event;
  event.kind = kind;
  event.operation = static_cast<std::uint8_t>(c.kind);
  event.comm = c.comm->number;
  event.peer = c.rooted() ? root_in_event(c) : -1;
  event.size = c.size;
  if (c.in_place) event.flags |= events::kInPlace;
  if (c.empty_blocks_travel) event.flags |= events::kEmptyBlocksTravel;
  return event;
}

/// Then nobody waits for anybody in virtual time, whatever the form natively waits for: MPI_Allreduce of MPICH 4.0.2
/// waits for all members also where it has no elements. All members can tell, so that all take the same form.
bool moves_nothing(const Collective& c) {
  return !c.comm->inter && netmodel::moves_nothing(c.kind, Bytes{c.size}, c.sizes);
}

/// The same of this member alone, between groups too.
bool moves_nothing_here(const Collective& c) {
  return c.comm->inter ? netmodel::moves_nothing_between_groups(c.kind, Bytes{c.size}, c.sizes)
                       : moves_nothing(c);
}

void emit(Call& call, const Collective& c, EventKind kind, RequestId id, bool asks) {
  events::Event event = event_of(c, kind);
  event.request = id;
  if (asks) event.flags |= events::kNeedsAnswer;
  const std::vector<std::byte> extension = extension_of(c, event);
  call.emit(event, extension.data(), &c.data);
}

/// Natively first: that ends when all have entered, and waits for nobody's virtual end. The other way round
/// who has left in virtual time would wait here for a member whose end is known only after the leaver's next
/// call: on a network with contention that is everybody who leaves later. A match that is decided meanwhile
/// posts its receive from MPI's idle polls (Runtime::idle).
int native_then_virtual(Call& call, const std::function<int()>& native) {
  const int code = native();  // meanwhile the simulator answers
  if (const auto answer = call.await_answer()) call.exit_at(answer->exit());
  return code;
}

/// The call as the members of one group see it who all leave after all have entered, and give and get blocks of one size; nothing
/// of another.
std::optional<netmodel::CollectiveCall> call_that_all_see(const Collective& c) {
  switch (c.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kAllgather:
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kAlltoall:
    case CollectiveKind::kReduceScatterBlock:
      break;
    default:
      return std::nullopt;
  }
  if (!c.synchronises || c.comm->inter) return std::nullopt;
  netmodel::CollectiveCall call;
  call.kind = c.kind;
  call.in_place = c.in_place;
  call.size = Bytes{c.size};
  return call;
}

/// When it ends the members find out by themselves; else the simulator is asked, by the next call.
int run_together(Call& call, const Collective& c, const netmodel::CollectiveCall& seen) {
  emit(call, c, EventKind::kCollective, kNoRequest, false);
  call.rt.collective_ends.enter(c.comm->key, c.comm->collectives++, c.comm->local, seen, call.entry());
  call.thread.ends_itself = true;
  const int code = call.unlocked(c.blocking);
  call.thread.ends_itself = false;
  if (const auto exit = call.rt.collective_ends.exit())
    call.exit_at(*exit);
  else
    call.drift_off();
  return code;
}

/// By MPI's blocking form, which nobody leaves before everybody has entered, or who has to stay in it for as long as it lasts.
int run_blocking(Call& call, const Collective& c) {
  const bool may_end_itself =
      call.rt.collective_ends.are_known() && !call.rt.degraded() && !c.runs_the_programs_operation;
  const auto seen = may_end_itself ? call_that_all_see(c) : std::nullopt;
  if (seen) return run_together(call, c, *seen);
  const bool drifts = call.may_drift();
  emit(call, c, EventKind::kCollective, kNoRequest, !drifts);
  const auto native = [&] { return call.unlocked(c.blocking); };
  if (drifts) return call.drift_off(), native();
  if (call.rt.line.last_to_arrive(*c.comm)) call.rt.line.ring();
  return native_then_virtual(call, native);
}

/// Who receives from others stays natively until that has come, and no longer: what it sends must not keep it. Who
/// receives nothing leaves with private copies, except from persistent forms, whose request the program starts again.
void detach_sends(const Collective& c, Keep& keep, bool persistent = false) {
  const bool waits_for_its_own = !c.leaves_early && (!c.rooted() || c.comm->inter);
  if (!c.synchronises && (waits_for_its_own || persistent)) keep.push_back(std::make_shared<DetachedSends>());
}

template <class Start>
int begin(CollectiveLengths* lengths, Start&& start) {
  const CollectiveLengths::Begins begins{lengths};
  return start();
}

/// What MPI's own non-blocking form checks of itself.
std::shared_ptr<CollectiveLengths> checked_of_request(const Collective& c) {
  return c.receives_exactly ? std::make_shared<CollectiveLengths>(c.receives_exactly) : nullptr;
}

/// The error of the blocking form at the end of a call that was carried out by the other.
int report_of_blocking(Call& call, const Collective& c, const CollectiveLengths& lengths, int code) {
  if (code == MPI_SUCCESS && !c.own_block_is_cut_off) return code;
  const bool truncated = lengths.truncated() || c.own_block_is_cut_off;
  return call.unlocked([&] { return report(c.comm->handle, truncated ? MPI_ERR_TRUNCATE : code); });
}

/// Starts natively first, so that the data moves while the virtual end is awaited.
int run_rooted(Call& call, const Collective& c) {
  if (call.rt.native()) {
    emit(call, c, EventKind::kCollective, kNoRequest, false);
    return call.unlocked(c.blocking);
  }
  MPI_Request native = MPI_REQUEST_NULL;
  Keep keep;
  detach_sends(c, keep);
  const auto lengths = std::make_shared<CollectiveLengths>(c.receives_exactly);
  const auto& start = c.start_of_blocking ? c.start_of_blocking : c.start;
  const int code = begin(lengths.get(), [&] { return start(&native, keep); });
  if (code != MPI_SUCCESS) return code;
  keep.may_leave = keep.may_leave || moves_nothing_here(c);
  call_has_begun();
  const bool drifts =
      !keep.may_leave && call.may_drift();  // who may leave keeps copies, which virtual time bounds
  emit(call, c, EventKind::kCollective, kNoRequest, !drifts);
  if (drifts)
    call.drift_off();
  else if (const auto answer = call.await_answer())
    call.exit_at(answer->exit());
  if (!keep.may_leave || call.rt.degraded())
    return report_of_blocking(call, c, *lengths, call.finish(native, MPI_STATUS_IGNORE, kAnySource, c.comm));
  const QuietErrors errors;  // who leaves before others have come learns of no error
  int flag = 0;
  if (pmpi::Test(&native, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0) return MPI_SUCCESS;
  keep.push_back(lengths);
  call.rt.background.leave(native, *c.comm, std::move(keep.objects));
  return MPI_SUCCESS;
}

void announce(Call& call, const Collective& c, Request& request, bool may_leave) {
  request.kind = RequestKind::kCollective;
  request.comm = c.comm->shared_from_this();
  request.id = call.rt.messages.next_request_id();
  request.active = true;
  request.may_leave = may_leave;
  request.peer = kAnySource;
  if (Accesses* accesses = call.rt.accesses()) accesses->works_on_memory(request);
  emit(call, c, EventKind::kIcollective, request.id, false);
}

int start_request(Call& call, const Collective& c, Request& request) {
  Keep keep;
  detach_sends(c, keep);
  const auto lengths = checked_of_request(c);
  const int code = begin(lengths.get(), [&] { return c.start(&request.native, keep); });
  if (lengths != nullptr) keep.push_back(lengths);
  if (code != MPI_SUCCESS) return code;
  call_has_begun();
  request.keep = std::move(keep.objects);
  announce(call, c, request, keep.may_leave || moves_nothing_here(c));
  return MPI_SUCCESS;
}

/// Persistent collectives match in the order of their initialisation, and each rank may start them in another
/// order (MPI 4.0, section 6.13). So MPI's own request is started, and to the simulator each is alone on a
/// communicator.
int start_persistent(Call& call, const Collective& c, Request& request) {
  Keep keep;
  detach_sends(c, keep, true);
  // One that moves nothing stays inactive natively, at all members, so that nobody waits for it. Between groups those
  // beside a root cannot tell.
  const bool all_can_tell = !c.comm->inter || !c.rooted();
  const bool nothing = all_can_tell && moves_nothing_here(c) && !call.rt.native();
  const auto lengths = checked_of_request(c);
  const int code = nothing ? MPI_SUCCESS : begin(lengths.get(), [&] { return pmpi::Start(&request.app); });
  if (code != MPI_SUCCESS) return code;
  request.native = nothing ? MPI_REQUEST_NULL : request.app;
  if (lengths != nullptr) keep.push_back(lengths);
  request.keep = std::move(keep.objects);
  announce(call, c, request, false);
  return MPI_SUCCESS;
}

events::Event synchronisation(const Communicator& comm) {
  events::Event event;
  event.kind = EventKind::kCollective;
  event.operation = static_cast<std::uint8_t>(CollectiveKind::kSynchronize);
  event.comm = comm.number;
  event.peer = -1;
  return event;
}

std::shared_ptr<Communicator> persistent_communicator(Runtime& rt, Communicator& comm) {
  constexpr std::uint64_t kCreation = 0x70657273;
  std::shared_ptr<Communicator> own = rt.communicators.make(comm.all, comm, kCreation);
  own->handle = comm.handle;
  own->inter = comm.inter;
  own->my_index = comm.my_index;
  own->first_group = comm.first_group;
  own->local = comm.local;
  own->remote = comm.remote;
  rt.line.define(*own);
  return own;
}

}  // namespace

Collective describe(CollectiveKind kind, MPI_Comm comm, bool synchronises, const void* own) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  Collective c;
  c.kind = kind;
  c.in_place = own == MPI_IN_PLACE;
  c.comm = rt.communicators.find(comm);
  c.synchronises =
      synchronises && !(c.comm != nullptr && c.comm->inter);  // a group may leave before its last
  return c;
}

int run(Collective&& c) {
  if (c.comm == nullptr) {
    const UnmodelledScope scope{current_call()};
    return c.blocking();
  }
  Call call{true, Clock::kAdrift};
  const bool blocks = c.has_to_block || (c.synchronises && !moves_nothing(c));
  return blocks ? run_blocking(call, c) : run_rooted(call, c);
}

int start(Collective&& c, MPI_Request* handle) {
  if (c.comm == nullptr) {
    const UnmodelledScope scope{current_call()};
    auto keep = new Keep;  // as long as the process: nobody sees this request complete
    return c.start(handle, *keep);
  }
  Call call{true, Clock::kAdrift};
  std::unique_ptr<Request> request = call.rt.requests.make();
  const int code = start_request(call, c, *request);
  if (code != MPI_SUCCESS) return code;
  *handle = request->native;
  call.rt.requests.insert(*handle, std::move(request));
  return MPI_SUCCESS;
}

int make_persistent(Collective&& c, MPI_Request* handle, const std::function<int()>& make_handle,
                    Keep&& keep) {
  const int code = make_handle();
  if (code != MPI_SUCCESS || c.comm == nullptr) return code;
  Call call;
  if (Capture* capture = call.rt.capture()) c.data.datatype = capture->datatype(c.data.shown.type, false);
  const std::shared_ptr<Communicator> own = persistent_communicator(call.rt, *c.comm);
  std::unique_ptr<Request> request = call.rt.requests.make();
  request->persistent = true;
  request->kind = RequestKind::kCollective;
  c.comm = own.get();
  request->start = [collective = std::move(c), own, keep = std::move(keep)](Call& starting, Request& r) {
    return start_persistent(starting, collective, r);
  };
  call.rt.requests.insert(*handle, std::move(request));
  return MPI_SUCCESS;
}

int synchronize(Call& call, const Communicator& comm, const std::function<int()>& native, bool* told) {
  const auto tell = [&call, &comm] {
    events::Event event = synchronisation(comm);
    event.flags = events::kNeedsAnswer;
    call.emit(event);
    call.rt.line.ring();
  };
  if (told == nullptr || !callbacks_exist() || call.rt.native()) {
    tell();
    return native_then_virtual(call, native);
  }
  LateWord word{tell, call.rt.threads.mine()};
  const int code = native();
  *told = word.said() || code == MPI_SUCCESS;
  if (!*told) return code;
  word.say();
  if (const auto answer = call.await_answer()) call.exit_at(answer->exit());
  return code;
}

int synchronize_in_turn(Call& call, std::span<const std::shared_ptr<Communicator>> comms,
                        const std::function<int()>& native) {
  for (const std::shared_ptr<Communicator>& comm : comms) {
    events::Event event = synchronisation(*comm);
    if (comm == comms.back()) event.flags = events::kNeedsAnswer;
    if (comm == comms.front())
      call.emit(event);
    else
      call.emit_next(event);
  }
  call.rt.line.ring();
  return native_then_virtual(call, native);
}

}  // namespace nplus1::stubs
