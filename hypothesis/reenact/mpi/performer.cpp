#include "hypothesis/reenact/mpi/performer.hpp"

#include <algorithm>
#include <chrono>

#include "hypothesis/reenact/mpi/large_count.hpp"

namespace nplus1::hypothesis::reenact {
namespace {

using events::CompletionMode;
using events::Event;
using events::EventKind;
using events::SendMode;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::chrono::nanoseconds nanoseconds(std::int64_t ps) {
  return std::chrono::nanoseconds{ps / 1000};
}

constexpr std::uint64_t kOwnNumbers = std::uint64_t{1} << 39U;  // no rank sends so many messages

std::uint64_t message_key(std::int32_t source, std::uint64_t sequence) {
  return (static_cast<std::uint64_t>(source) << 40U) ^ sequence;
}

int tag_of(const Event& event) {
  return event.tag == kAnyTag ? MPI_ANY_TAG : event.tag;
}

/// Calls of which only the computing before them matters here.
bool is_silent(EventKind kind) {
  switch (kind) {
    case EventKind::kUnmodelledEnter:
    case EventKind::kUnmodelledExit:
    case EventKind::kLocal:
    case EventKind::kRegionBegin:
    case EventKind::kRegionEnd:
    case EventKind::kFinalize:
    case EventKind::kOneSided:
    case EventKind::kWindowSync:
    case EventKind::kFileAccess:
      return true;
    default:
      return false;
  }
}

std::size_t buffered_bytes(const Script& script) {
  std::size_t bytes = 0;
  for (const RecordedCall& call : script.calls) {
    const bool sends = call.event.kind == EventKind::kSend || call.event.kind == EventKind::kIsend;
    if (sends && call.event.send_mode() == SendMode::kBuffered)
      bytes += static_cast<std::size_t>(call.event.size) + MPI_BSEND_OVERHEAD;
  }
  constexpr std::size_t kMost = std::size_t{1} << 28U;  // they leave it again as they are received
  return std::min(bytes, kMost);
}

}  // namespace

Performer::Performer(Script& script, const LiveCommunicators& communicators, std::size_t largest, bool adapts,
                     Watchdog& watchdog)
    : script_{script},
      communicators_{communicators},
      adapts_{adapts},
      watchdog_{watchdog},
      requests_{largest + 1},
      send_buffer_{largest + 1},
      receive_buffer_{largest + 1},
      attached_(buffered_bytes(script)) {
  if (!attached_.empty()) MPI_Buffer_attach(attached_.data(), static_cast<int>(attached_.size()));
}

/// Computing begins when the call before it has returned: what is done here meanwhile is a part of it.
Performed Performer::perform() {
  const auto begin = Clock::now();
  auto returned = begin;
  std::chrono::nanoseconds carried{};
  for (RecordedCall& call : script_.calls) {
    const auto until = returned + nanoseconds(call.event.compute_ps) + carried;
    carried = {};
    const bool wanted = !adapts_ || adaptation_.adapt(call);
    auto now = Clock::now();
    if (now > until) performed_.behind += std::chrono::duration<double>(now - until).count();
    while (now < until) now = Clock::now();
    if (is_silent(call.event.kind) || !wanted) {
      returned = now;
      continue;
    }
    watchdog_.calls(call.event);
    perform(call);
    returned = Clock::now();
    performed_.in_mpi += std::chrono::duration<double>(returned - now).count();
  }
  performed_.seconds = std::chrono::duration<double>(returned - begin).count();
  performed_.adaptation = adaptation_.counts();
  if (!attached_.empty()) {
    void* buffer = nullptr;
    int size = 0;
    MPI_Buffer_detach(&buffer, &size);
  }
  return performed_;
}

void Performer::perform(RecordedCall& call) {
  std::optional<RecordedCall> rest;
  for (const RecordedCall* next = &call; next != nullptr; next = rest ? &*rest : nullptr) {
    ++performed_.calls;
    const auto begin = Clock::now();
    CallOutcome outcome = make(*next);
    if (!adapts_) return;
    outcome.took = from_seconds(since(begin));
    rest = adaptation_.came_out(*next, outcome);
  }
}

CallOutcome Performer::make(const RecordedCall& call) {
  CallOutcome outcome;
  switch (call.event.kind) {
    case EventKind::kSend:
      send(call);
      break;
    case EventKind::kIsend:
      isend(call);
      break;
    case EventKind::kRecv:
      receive(call, outcome);
      break;
    case EventKind::kIrecv:
      ireceive(call);
      break;
    case EventKind::kWait:
    case EventKind::kTest:
      complete(call, outcome);
      break;
    case EventKind::kProbe:
    case EventKind::kIprobe:
      probe(call, outcome);
      break;
    case EventKind::kCancelled:
      cancel(call);
      break;
    case EventKind::kRequestFree:
      free(call);
      break;
    case EventKind::kCollective:
      collectives_.run(call, communicators_.of(call.event.comm));
      break;
    case EventKind::kIcollective:
      collectives_.start(call, communicators_.of(call.event.comm), requests_.open(call.event.request));
      break;
    default:
      break;
  }
  return outcome;
}

int Performer::peer_in(const LiveCommunicator& comm, std::int32_t world) const {
  if (world == kAnySource.value) return MPI_ANY_SOURCE;
  if (world < 0) return MPI_PROC_NULL;
  return comm.rank_of.at(static_cast<std::size_t>(world));
}

void Performer::count_message(const Event& event) {
  if (event.peer < 0) return;
  ++performed_.messages;
  performed_.message_bytes += static_cast<std::uint64_t>(event.size);
}

void Performer::send(const RecordedCall& call) {
  const Event& event = call.event;
  const LiveCommunicator& comm = communicators_.of(event.comm);
  const int peer = peer_in(comm, event.peer);
  const std::int64_t bytes = event.size;
  count_message(event);
  switch (event.send_mode()) {
    case SendMode::kSynchronous:
      NPLUS1_COUNTED(MPI_Ssend, send_buffer_.data(), bytes, MPI_BYTE, peer, event.tag, comm.handle);
      return;
    case SendMode::kBuffered:
      NPLUS1_COUNTED(MPI_Bsend, send_buffer_.data(), bytes, MPI_BYTE, peer, event.tag, comm.handle);
      return;
    case SendMode::kReady:  // its receive may now come later than it did
    case SendMode::kStandard:
      NPLUS1_COUNTED(MPI_Send, send_buffer_.data(), bytes, MPI_BYTE, peer, event.tag, comm.handle);
      return;
  }
}

void Performer::isend(const RecordedCall& call) {
  const Event& event = call.event;
  const LiveCommunicator& comm = communicators_.of(event.comm);
  const int peer = peer_in(comm, event.peer);
  const std::int64_t bytes = event.size;
  const bool buffered = event.send_mode() == SendMode::kBuffered;
  const bool synchronous = event.send_mode() == SendMode::kSynchronous;
  count_message(event);
  if (event.has(events::kPersistent))
    return begin_persistent(call, {true, event.operation, comm.handle, peer, event.tag, bytes});
  Pending& pending = requests_.open(event.request);
  const char* data = send_buffer_.data();
  MPI_Request* handle = &pending.handle;
  if (buffered)
    NPLUS1_COUNTED(MPI_Ibsend, data, bytes, MPI_BYTE, peer, event.tag, comm.handle, handle);
  else if (synchronous)
    NPLUS1_COUNTED(MPI_Issend, data, bytes, MPI_BYTE, peer, event.tag, comm.handle, handle);
  else
    NPLUS1_COUNTED(MPI_Isend, data, bytes, MPI_BYTE, peer, event.tag, comm.handle, handle);
}

/// A persistent request is made when it is first started, and used again by what is like it.
void Performer::begin_persistent(const RecordedCall& call, const PersistentKey& key) {
  Pending& pending = requests_.open(call.event.request);
  if (!requests_.reuse(key, pending)) {
    const auto& [sends, mode, comm, peer, tag, bytes] = key;
    pending.persistent = true;
    pending.key = key;
    const auto send_mode = static_cast<SendMode>(mode);
    const char* data = send_buffer_.data();
    MPI_Request* handle = &pending.handle;
    if (!sends) {
      pending.buffer = requests_.buffers().take();
      NPLUS1_COUNTED(MPI_Recv_init, pending.buffer, bytes, MPI_BYTE, peer, tag, comm, handle);
    } else if (send_mode == SendMode::kSynchronous) {
      NPLUS1_COUNTED(MPI_Ssend_init, data, bytes, MPI_BYTE, peer, tag, comm, handle);
    } else if (send_mode == SendMode::kBuffered) {
      NPLUS1_COUNTED(MPI_Bsend_init, data, bytes, MPI_BYTE, peer, tag, comm, handle);
    } else {
      NPLUS1_COUNTED(MPI_Send_init, data, bytes, MPI_BYTE, peer, tag, comm, handle);
    }
  }
  MPI_Start(&pending.handle);
}

void Performer::note_message(const LiveCommunicator& comm, const MPI_Status& status,
                             CallOutcome& outcome) const {
  MPI_Count bytes = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  outcome.flag = true;
  outcome.source = status.MPI_SOURCE < 0 ? kProcNull.value
                                         : comm.members[static_cast<std::size_t>(status.MPI_SOURCE)].value;
  outcome.tag = status.MPI_TAG;
  outcome.size = std::max<MPI_Count>(bytes, 0);
}

void Performer::receive(const RecordedCall& call, CallOutcome& outcome) {
  const Event& event = call.event;
  const LiveCommunicator& comm = communicators_.of(event.comm);
  const auto room = static_cast<std::int64_t>(receive_buffer_.size());
  MPI_Status status;
  if (!event.has(events::kMatched)) {
    NPLUS1_COUNTED(MPI_Recv, receive_buffer_.data(), room, MPI_BYTE, peer_in(comm, event.peer), tag_of(event),
                   comm.handle, &status);
    return note_message(comm, status, outcome);
  }
  const auto taken = taken_.find(message_key(event.peer, event.aux));
  if (taken == taken_.end()) {
    ++performed_.skipped;
    return;
  }
  NPLUS1_COUNTED(MPI_Mrecv, receive_buffer_.data(), room, MPI_BYTE, &taken->second, &status);
  taken_.erase(taken);
  note_message(comm, status, outcome);
}

void Performer::ireceive(const RecordedCall& call) {
  const Event& event = call.event;
  const LiveCommunicator& comm = communicators_.of(event.comm);
  const auto room = static_cast<std::int64_t>(requests_.buffers().block());
  const int peer = peer_in(comm, event.peer);
  if (event.has(events::kPersistent) && !event.has(events::kMatched))
    return begin_persistent(call, {false, 0, comm.handle, peer, tag_of(event), room});
  if (!event.has(events::kMatched)) {
    Pending& pending = requests_.open(event.request);
    pending.buffer = requests_.buffers().take();
    NPLUS1_COUNTED(MPI_Irecv, pending.buffer, room, MPI_BYTE, peer, tag_of(event), comm.handle,
                   &pending.handle);
    return;
  }
  const auto taken = taken_.find(message_key(event.peer, event.aux));
  if (taken == taken_.end()) {
    ++performed_.skipped;
    return;
  }
  Pending& pending = requests_.open(event.request);
  pending.buffer = requests_.buffers().take();
  NPLUS1_COUNTED(MPI_Imrecv, pending.buffer, room, MPI_BYTE, &taken->second, &pending.handle);
  taken_.erase(taken);
}

void Performer::probe(const RecordedCall& call, CallOutcome& outcome) {
  const Event& event = call.event;
  const LiveCommunicator& comm = communicators_.of(event.comm);
  const int peer = peer_in(comm, event.peer);
  int found = 1;
  MPI_Status status;
  if (!event.has(events::kTakesMessage)) {
    if (event.kind == EventKind::kProbe)
      MPI_Probe(peer, tag_of(event), comm.handle, &status);
    else
      MPI_Iprobe(peer, tag_of(event), comm.handle, &found, &status);
    if (found != 0) note_message(comm, status, outcome);
    return;
  }
  MPI_Message message = MPI_MESSAGE_NULL;
  if (event.kind == EventKind::kProbe)
    MPI_Mprobe(peer, tag_of(event), comm.handle, &message, &status);
  else
    MPI_Improbe(peer, tag_of(event), comm.handle, &found, &message, &status);
  if (found == 0) return;
  note_message(comm, status, outcome);
  // As the recording numbers it, so that its receive is found; another message gets a number of its own.
  const bool recorded = outcome.source == call.answer.source && outcome.tag == call.answer.tag;
  outcome.sequence = recorded ? call.answer.sequence : kOwnNumbers + others_taken_++;
  taken_[message_key(outcome.source, outcome.sequence)] = message;
}

void Performer::take_handles(const RecordedCall& call) {
  handles_.clear();
  for (const std::uint32_t id : call.words) {
    const Pending* pending = requests_.find(RequestId{id});
    handles_.push_back(pending == nullptr ? MPI_REQUEST_NULL : pending->handle);
  }
  indices_.resize(handles_.size());
}

void Performer::complete(const RecordedCall& call, CallOutcome& outcome) {
  take_handles(call);
  outcome.flag = true;
  if (call.event.kind == EventKind::kWait)
    wait(call, outcome);
  else
    test(call, outcome);
  if (!outcome.flag || call.event.has(events::kKeepsRequests)) return;
  if (call.event.completion_mode() == CompletionMode::kAll)
    for (const std::uint32_t id : call.words) requests_.done(RequestId{id});
  else
    for (const std::uint32_t position : outcome.completed) requests_.done(RequestId{call.words[position]});
}

void Performer::wait(const RecordedCall& call, CallOutcome& outcome) {
  const auto n = static_cast<int>(handles_.size());
  int done = 0;
  switch (call.event.completion_mode()) {
    case CompletionMode::kAll:
      if (n == 1)
        MPI_Wait(handles_.data(), MPI_STATUS_IGNORE);
      else
        MPI_Waitall(n, handles_.data(), MPI_STATUSES_IGNORE);
      return;
    case CompletionMode::kAny:
      MPI_Waitany(n, handles_.data(), &done, MPI_STATUS_IGNORE);
      if (done != MPI_UNDEFINED) outcome.completed.push_back(static_cast<std::uint32_t>(done));
      return;
    case CompletionMode::kSome:
      MPI_Waitsome(n, handles_.data(), &done, indices_.data(), MPI_STATUSES_IGNORE);
      for (int i = 0; i < done; ++i)
        outcome.completed.push_back(static_cast<std::uint32_t>(indices_[static_cast<std::size_t>(i)]));
      return;
  }
}

void Performer::test(const RecordedCall& call, CallOutcome& outcome) {
  const auto n = static_cast<int>(handles_.size());
  int flag = 0;
  int done = 0;
  switch (call.event.completion_mode()) {
    case CompletionMode::kAll:
      if (call.event.has(events::kKeepsRequests) && n == 1)
        MPI_Request_get_status(handles_.front(), &flag, MPI_STATUS_IGNORE);
      else
        MPI_Testall(n, handles_.data(), &flag, MPI_STATUSES_IGNORE);
      break;
    case CompletionMode::kAny:
      MPI_Testany(n, handles_.data(), &done, &flag, MPI_STATUS_IGNORE);
      if (flag != 0 && done != MPI_UNDEFINED) outcome.completed.push_back(static_cast<std::uint32_t>(done));
      break;
    case CompletionMode::kSome:
      MPI_Testsome(n, handles_.data(), &done, indices_.data(), MPI_STATUSES_IGNORE);
      for (int i = 0; i < done; ++i)
        outcome.completed.push_back(static_cast<std::uint32_t>(indices_[static_cast<std::size_t>(i)]));
      flag = done > 0 ? 1 : 0;
      break;
  }
  outcome.flag = flag != 0;
}

void Performer::cancel(const RecordedCall& call) {
  Pending* pending = requests_.find(call.event.request);
  if (pending != nullptr)
    MPI_Cancel(&pending->handle);
  else
    ++performed_.skipped;
}

void Performer::free(const RecordedCall& call) {
  Pending* pending = requests_.find(call.event.request);
  if (pending == nullptr) return;
  MPI_Request_free(&pending->handle);
  requests_.abandon(call.event.request);
}

}  // namespace nplus1::hypothesis::reenact
