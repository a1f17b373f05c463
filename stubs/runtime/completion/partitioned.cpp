#include "stubs/runtime/completion/partitioned.hpp"

#include <algorithm>
#include <utility>

#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/arguments/address.hpp"
#include "stubs/runtime/completion/completion.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"

namespace nplus1::stubs {
namespace {

/// Whether message after message can be received where it belongs.
bool fits_in_place(const Partitioned& p) {
  const Introduction& there = *p.introduction;
  return p.element_size > 0 && there.size % p.element_size == 0 &&
         there.size * there.messages <= p.size * p.partitions;
}

Transfer part_of_receive(Partitioned& p, Communicator& comm, std::int32_t i) {
  const Introduction& there = *p.introduction;
  Transfer t{nullptr, 0, MPI_PACKED, p.peer.value, there.first + i, &comm};
  if (fits_in_place(p)) {
    const MPI_Count elements = there.size / p.element_size;
    t.buffer = behind(p.whole.buffer, i * elements * p.extent);
    t.count = elements;
    t.type = p.whole.type;
    t.datatype = p.whole.datatype;
    t.own = p.whole.own;
  } else {
    t.buffer = p.packed.data() + i * there.size;
    t.count = there.size;
  }
  return t;
}

/// Waits for the next introduction from there, or looks whether it has come.
bool listen(Call& call, const Partitioned& p, bool waits) {
  PartitionChannels::Source& source = call.rt.partitions.from(p.peer);
  if (source.busy) {  // another thread does
    if (waits) call.poll_native([&] { return !source.busy; });
    return waits;
  }
  if (!source.receive) {
    source.receive = std::make_unique<Request>();
    const Transfer t{&source.incoming,
                     sizeof(Introduction),
                     MPI_BYTE,
                     p.peer.value,
                     PartitionChannels::kIntroductionTag,
                     &call.rt.partitions.communicator(call.rt)};
    start_receive(call, t, *source.receive);
  }
  source.busy = true;
  Request* const receive = source.receive.get();
  if (waits) end_all(call, {&receive, 1});
  const bool come = waits || have_come(call, {&receive, 1});
  if (come) {
    call.finish(receive->native, MPI_STATUS_IGNORE, p.peer);
    if (Accesses* accesses = call.rt.accesses()) accesses->complete(*receive);
    call.rt.requests.unindex(receive->id);
    PartitionChannels::hand_out(source);
  }
  source.busy = false;
  return come;
}

}  // namespace

int post_partitions(Call& call, Partitioned& p) {
  const Introduction& there = *p.introduction;
  Communicator& comm = call.rt.partitions.communicator(call.rt);
  if (!fits_in_place(p)) p.packed.resize(static_cast<std::size_t>(there.size * there.messages));
  p.posted = true;
  for (std::int32_t i = 0; i < there.messages; ++i) {
    p.messages.push_back(call.rt.requests.make());
    const int code = start_receive(call, part_of_receive(p, comm, i), *p.messages.back());
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

namespace {

/// Whether all messages of the round have been started; `waits`: they have when it returns.
bool is_under_way(Call& call, Partitioned& p, bool waits) {
  if (p.sends) {
    if (p.missing > 0 && waits) call.poll_native([&] { return p.missing == 0; });
    return p.missing == 0;
  }
  while (!p.introduction)
    if (!listen(call, p, waits)) return false;
  if (!p.posted) post_partitions(call, p);
  return true;
}

/// A test whose outcome is known without the simulator, and that has failed.
void fail_test(Call& call) {
  call.drift(call.thread.poll_cost.next());
}

}  // namespace

std::vector<Request*> simulated(Call& call, std::span<Request* const> requests) {
  for (Request* r : requests)
    if (r->partitioned) is_under_way(call, *r->partitioned, true);
  std::vector<Request*> all;
  for (Request* r : requests) {
    if (!r->partitioned) all.push_back(r);
    if (r->partner) all.push_back(r->partner.get());
    if (!r->partitioned) continue;
    for (const auto& message : r->partitioned->messages) all.push_back(message.get());
  }
  return all;
}

std::optional<std::vector<Request*>> simulated_now(Call& call, std::span<Request* const> requests) {
  std::vector<Request*> all;
  for (Request* r : requests) {
    if (!r->partitioned) {
      all.push_back(r);
      continue;
    }
    if (!is_under_way(call, *r->partitioned, false)) {
      if (r->partitioned->sends) fail_test(call);
      return std::nullopt;
    }
    for (const auto& message : r->partitioned->messages) all.push_back(message.get());
  }
  return all;
}

bool have_come(Call& call, std::span<Request* const> messages) {
  std::vector<std::uint32_t> slots;
  events::Event event =
      completion_event(events::EventKind::kTest, events::CompletionMode::kAll, messages, slots);
  event.flags = events::kKeepsRequests;
  call.rt.absorb();
  const Time entry = call.entry();
  if (std::all_of(messages.begin(), messages.end(),
                  [&](const Request* r) { return r->known && r->at <= entry; })) {
    call.emit(event, slots.data());
    call.exit_at(entry);
    return true;
  }
  if (const auto answer = call.ask(event, slots.data())) {
    call.exit_at(answer->exit());
    return answer->flag != 0;
  }
  return std::all_of(messages.begin(), messages.end(),
                     [](const Request* r) { return is_complete(r->native); });
}

void settle_partitions(Call& call, Partitioned& p) {
  for (const auto& message : p.messages) {
    if (message->native == MPI_REQUEST_NULL) continue;
    settle_native(call, *message);
    if (message->native != MPI_REQUEST_NULL) pmpi::Wait(&message->native, MPI_STATUS_IGNORE);
    if (Accesses* accesses = call.rt.accesses()) accesses->complete(*message);
  }
  if (p.packed.empty() || p.element_size == 0) return;
  MPI_Count position = 0;
  const auto bytes = static_cast<MPI_Count>(p.packed.size());
  const MPI_Count elements = std::min(p.whole.count * p.partitions, bytes / p.element_size);
  pmpi::Unpack(p.packed.data(), bytes, &position, const_cast<void*>(p.whole.buffer), elements, p.whole.type,
               p.whole.comm->handle);
  p.packed.clear();
}

void describe_partitions(const Partitioned& p, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE || p.sends) return;
  status->MPI_ERROR = MPI_SUCCESS;
  status->MPI_SOURCE = p.whole.peer;
  status->MPI_TAG = p.peer == kProcNull ? MPI_ANY_TAG : p.whole.tag;
  const MPI_Count come = p.introduction ? p.introduction->size * p.introduction->messages : 0;
  pmpi::Status_set_elements_x(status, MPI_BYTE, come);
}

void retire_partitions(Call& call, Partitioned& p) {
  for (auto& message : p.messages) {
    call.rt.requests.unindex(message->id);
    call.rt.requests.recycle(std::move(message));
  }
  p.messages.clear();
  p.posted = false;
  p.has_met = true;
}

void abandon_partitions(Call& call, const std::shared_ptr<Partitioned>& partitioned) {
  for (const auto& message : partitioned->messages) {
    if (message == nullptr) continue;
    if (Accesses* accesses = call.rt.accesses()) accesses->free(call, *message);
    events::Event event;
    event.kind = events::EventKind::kRequestFree;
    event.request = message->id;
    event.comm = message->comm->number;
    call.emit(event);
    call.rt.requests.unindex(message->id);
    if (message->native != MPI_REQUEST_NULL)
      call.rt.background.leave(message->native, std::move(message->copy), {partitioned});
  }
}

namespace {

/// The requests at which a completing call looks: neither null nor inactive ones of ours.
bool is_looked_at(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL) return false;
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  const Request* request = rt.requests.find(handle);
  return request == nullptr || request->active;
}

}  // namespace

int test_any_partitioned(int count, MPI_Request handles[], int* index, int* flag, MPI_Status* status) {
  *flag = 0;
  *index = MPI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    if (!is_looked_at(handles[i])) continue;
    const int code = handlers::Test(&handles[i], flag, status);
    if (code == MPI_SUCCESS && *flag == 0) continue;
    *index = i;
    return code;
  }
  return MPI_SUCCESS;
}

int test_some_partitioned(int count, MPI_Request handles[], int* outcount, int indices[],
                          MPI_Status statuses[]) {
  *outcount = 0;
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    if (!is_looked_at(handles[i])) continue;
    int flag = 0;
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*outcount];
    const int code = handlers::Test(&handles[i], &flag, status);
    if (code == MPI_SUCCESS && flag == 0) continue;
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
    failed = failed || code != MPI_SUCCESS;
    indices[(*outcount)++] = i;
  }
  return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

}  // namespace nplus1::stubs
