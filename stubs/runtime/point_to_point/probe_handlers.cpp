// Probes and matched probes (MPI 4.0, section 3.8).
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/completion/native_calls.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/runtime/point_to_point.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

using events::EventKind;

struct Probe {
  int source;
  int tag;
  Communicator* comm;
  bool takes;  // a matched probe
};

/// What a probe found, in the communicator's ranks.
struct Found {
  int source = MPI_PROC_NULL;
  std::int32_t tag = MPI_ANY_TAG;
  semantics::Message message;
};

/// Messages that a matched probe took, by MPI's handle.
std::unordered_map<MPI_Message, semantics::Message>& taken_messages() {
  static auto* const messages = new std::unordered_map<MPI_Message, semantics::Message>;
  return *messages;
}

events::Event event_of(const Probe& p, EventKind kind) {
  events::Event event;
  event.kind = kind;
  event.flags = p.takes ? events::kTakesMessage : 0;
  event.comm = p.comm->number;
  event.peer = p.comm->world(p.source).value;
  event.tag = p.tag == MPI_ANY_TAG ? kAnyTag : p.tag;
  return event;
}

/// What a matched probe and receives of other threads get from each other only the simulator can tell.
bool local(const Runtime& rt, const Probe& p) {
  if (p.takes && rt.threads.count() > 1) return false;
  return rt.messages.direct() && p.source != MPI_ANY_SOURCE && p.comm->undecided == 0 && !rt.degraded();
}

const semantics::Message* peek(Runtime& rt, const Probe& p) {
  return rt.messages.mailbox().peek(p.comm->key, p.comm->world(p.source),
                                    p.tag == MPI_ANY_TAG ? kAnyTag : p.tag);
}

Found take(Runtime& rt, const Probe& p, const semantics::Message& message) {
  Found found{p.comm->rank_of(message.source.value), message.tag, message};
  if (p.takes) rt.messages.mailbox().take(p.comm->key, message.source, message.sequence);
  return found;
}

Found from_answer(Runtime& rt, const Probe& p, const events::Answer& answer) {
  const RankId source{answer.source};
  if (p.takes && rt.messages.direct()) rt.messages.take(*p.comm, source, answer.sequence);
  semantics::Message message;
  message.source = source;
  message.tag = answer.tag;
  message.size = bytes(answer.size);
  message.sequence = answer.sequence;
  return {p.comm->rank_of(answer.source), answer.tag, message};
}

/// While it is not said which message a matched probe gets, or that one is not taken natively: receives that other
/// threads post meanwhile are left to the simulator, as those behind a receive from any source are. Posted at once, such a
/// one could get that message natively, and the probe wait for one that is sent only when the first has been received.
class Taking {
 public:
  Taking(Runtime& rt, Communicator& comm) : rt_{rt}, comm_{comm.shared_from_this()} {
    rt_.messages.count_undecided(*comm_, +1);
  }
  ~Taking() {
    rt_.messages.count_undecided(*comm_, -1);
    rt_.messages.free_if_due(*comm_);
  }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;

 private:
  Runtime& rt_;
  std::shared_ptr<Communicator> comm_;
};

std::optional<Found> probe(Call& call, const Probe& p) {
  const events::Event event = event_of(p, EventKind::kProbe);
  const Time entry = call.entry();
  if (local(call.rt, p)) {
    call.emit(event);
    const semantics::Message* message = nullptr;
    if (!call.wait([&] { return (message = peek(call.rt, p)) != nullptr; })) return std::nullopt;
    call.exit_at(std::max(entry, call.rt.messages.mailbox().visible(*message)));
    return take(call.rt, p, *message);
  }
  std::optional<Taking> taking;
  if (p.takes) taking.emplace(call.rt, *p.comm);
  const auto answer = call.ask(event);
  if (!answer) return std::nullopt;
  call.exit_at(answer->exit());
  return from_answer(call.rt, p, *answer);
}

/// `found` only when the message was there at the virtual time of the call.
bool iprobe(Call& call, const Probe& p, Found& found) {
  const events::Event event = event_of(p, EventKind::kIprobe);
  if (local(call.rt, p)) {
    call.rt.absorb();
    const semantics::Message* message = peek(call.rt, p);
    if (message != nullptr && call.rt.messages.mailbox().visible(*message) <= call.entry()) {
      call.emit(event);
      found = take(call.rt, p, *message);
      return true;
    }
  }
  std::optional<Taking> taking;
  if (p.takes) taking.emplace(call.rt, *p.comm);
  const auto answer = call.ask(event);
  if (!answer) return false;
  call.exit_at(answer->exit());
  if (answer->flag == 0) return false;
  found = from_answer(call.rt, p, *answer);
  return true;
}

void set_status(MPI_Status* status, const Found& found) {
  if (status == MPI_STATUS_IGNORE) return;
  pmpi::Status_set_elements_x(status, MPI_BYTE, count(found.message.size));
  pmpi::Status_set_cancelled(status, 0);
  status->MPI_SOURCE = found.source;
  status->MPI_TAG = found.tag;
}

/// Gets MPI's handle of the message that a matched probe took in virtual time.
int native_mprobe(Call& call, const Probe& p, const Found& found, MPI_Message* message, MPI_Status* status) {
  const Taking taking{call.rt, *p.comm};
  int flag = 0;
  int code = MPI_SUCCESS;
  call.rt.absorb();  // receives that were matched before are posted before
  call.poll_native(
      [&] {
        code = pmpi::Improbe(found.source, found.tag, p.comm->handle, &flag, message, status);
        return flag != 0 || code != MPI_SUCCESS;
      },
      found.message.source);
  if (code == MPI_SUCCESS) {
    semantics::Message kept = found.message;
    kept.comm = p.comm->number.value;
    taken_messages()[*message] = kept;
  }
  return code;
}

/// Without a simulator: what MPI itself finds. `message` null: the probe takes nothing.
int probe_natively(Call& call, const Probe& p, int* flag, MPI_Message* message, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* told = status == MPI_STATUS_IGNORE ? &own : status;
  MPI_Comm comm = p.comm->handle;
  const int code = call.unlocked([&] {
    if (message == nullptr)
      return flag == nullptr ? pmpi::Probe(p.source, p.tag, comm, told)
                             : pmpi::Iprobe(p.source, p.tag, comm, flag, told);
    return flag == nullptr ? pmpi::Mprobe(p.source, p.tag, comm, message, told)
                           : pmpi::Improbe(p.source, p.tag, comm, flag, message, told);
  });
  if (!call.rt.native() || code != MPI_SUCCESS) return code;
  call.outcome().answer.flag = flag == nullptr || *flag != 0 ? 1 : 0;
  if (call.outcome().answer.flag == 0) return code;
  native::note_message(call, *p.comm, *told);
  if (message == nullptr) return code;
  static std::uint64_t taken =
      0;  // the simulator numbers messages; until it has, these have numbers of their own
  events::Answer& answer = call.outcome().answer;
  answer.sequence = ++taken;
  semantics::Message kept;
  kept.comm = p.comm->number.value;
  kept.source = RankId{answer.source};
  kept.tag = answer.tag;
  kept.size = bytes(answer.size);
  kept.sequence = answer.sequence;
  taken_messages()[*message] = kept;
  return code;
}

/// Receives a message that a matched probe took.
int receive_matched(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* handle, MPI_Status* status,
                    MPI_Request* request_handle) {
  Call call;
  const auto it = taken_messages().find(*handle);
  const semantics::Message message = it->second;
  std::unique_ptr<Request> request = call.rt.requests.make();
  request->kind = RequestKind::kReceive;
  request->peer = message.source;
  request->engine_decided = true;  // no message will come for it any more: the simulator knows when it ends
  const int code = pmpi::Imrecv(buf, count, type, handle, &request->native);
  if (code != MPI_SUCCESS) return code;  // the message can still be received
  taken_messages().erase(it);
  request->id = call.rt.messages.next_request_id();
  request->active = true;
  request->posted = call.entry();
  events::Event event;
  event.kind = request_handle == nullptr ? EventKind::kRecv : EventKind::kIrecv;
  event.flags = events::kMatched;
  event.comm = CommId{static_cast<std::uint32_t>(message.comm)};
  event.request = request->id;
  event.peer = message.source.value;
  event.tag = message.tag;
  event.size = payload_bytes(count, type);
  event.aux = message.sequence;
  const CallData data{{buf, count, type}};
  if (Accesses* accesses = call.rt.accesses())
    accesses->use(call, data.shown, true, request_handle != nullptr, *request);
  if (request_handle == nullptr) {
    if (const auto answer = call.ask(event, nullptr, true, &data)) call.exit_at(answer->exit());
    events::Answer& outcome = call.outcome().answer;
    outcome.source = message.source.value;
    outcome.tag = message.tag;
    outcome.size = nplus1::count(message.size);
    outcome.sequence = message.sequence;
    const int finished = call.finish(request->native, status, message.source);
    return call.unlocked([&] { return report(world(), finished); });  // a message has no communicator
  }
  call.emit(event, nullptr, &data);
  *request_handle = request->native;
  call.rt.requests.insert(*request_handle, std::move(request));
  return MPI_SUCCESS;
}

/// Whether MPI would probe at all: MPI_PROC_NULL and bad arguments are its own affair.
bool is_probe(const Communicator* comm, int source, int tag) {
  return comm != nullptr && (source == MPI_ANY_SOURCE || comm->world(source) != kProcNull) &&
         (tag == MPI_ANY_TAG || (tag >= 0 && tag <= runtime()->largest_tag()));
}

/// MPI's own affair, which refuses bad arguments; unmodelled if others may take part.
template <class F>
int pass_on(bool nobody, F&& native) {
  if (nobody) return native();
  const UnmodelledScope scope{current_call()};
  return native();
}

bool is_taken(MPI_Message message) {
  const std::lock_guard guard{runtime()->lock};
  return taken_messages().count(message) != 0;
}

}  // namespace

namespace handlers {

int Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  Communicator* known = communicator(comm);
  if (!is_probe(known, source, tag))
    return pass_on(source == MPI_PROC_NULL || known != nullptr,
                   [&] { return pmpi::Probe(source, tag, comm, status); });
  Call call;
  const auto found = probe(call, {source, tag, known, false});
  if (!found) return probe_natively(call, {source, tag, known, false}, nullptr, nullptr, status);
  set_status(status, *found);
  return MPI_SUCCESS;
}

int Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  Communicator* known = communicator(comm);
  if (!is_probe(known, source, tag)) return pmpi::Iprobe(source, tag, comm, flag, status);
  Call call;
  Found found;
  *flag = iprobe(call, {source, tag, known, false}, found) ? 1 : 0;
  if (call.rt.degraded()) return probe_natively(call, {source, tag, known, false}, flag, nullptr, status);
  if (*flag != 0) set_status(status, found);
  return MPI_SUCCESS;
}

int Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  Communicator* known = communicator(comm);
  if (!is_probe(known, source, tag))
    return pass_on(source == MPI_PROC_NULL || known != nullptr,
                   [&] { return pmpi::Mprobe(source, tag, comm, message, status); });
  Call call;
  const stubs::Probe p{source, tag, known, true};
  const auto found = probe(call, p);
  if (!found) return probe_natively(call, p, nullptr, message, status);
  return native_mprobe(call, p, *found, message, status);
}

int Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  Communicator* known = communicator(comm);
  if (!is_probe(known, source, tag)) return pmpi::Improbe(source, tag, comm, flag, message, status);
  Call call;
  const stubs::Probe p{source, tag, known, true};
  Found found;
  *flag = iprobe(call, p, found) ? 1 : 0;
  if (call.rt.degraded()) return probe_natively(call, p, flag, message, status);
  return *flag == 0 ? MPI_SUCCESS : native_mprobe(call, p, found, message, status);
}

int Mrecv(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  if (is_taken(*message)) return receive_matched(buf, count, type, message, status, nullptr);
  return pass_on(*message == MPI_MESSAGE_NO_PROC,
                 [&] { return pmpi::Mrecv(buf, count, type, message, status); });
}
int Mrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  return Mrecv(buf, MPI_Count{count}, type, message, status);
}

int Imrecv(void* buf, MPI_Count count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  if (is_taken(*message)) return receive_matched(buf, count, type, message, MPI_STATUS_IGNORE, request);
  return pmpi::Imrecv(buf, count, type, message, request);
}
int Imrecv(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  return Imrecv(buf, MPI_Count{count}, type, message, request);
}

}  // namespace handlers
}  // namespace nplus1::stubs
