// Completing calls in virtual time: whichever requests it says are complete are then completed natively, where they are, too.
#include <algorithm>
#include <span>

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/completion/completing.hpp"
#include "stubs/runtime/completion/completion.hpp"
#include "stubs/runtime/completion/file_requests.hpp"
#include "stubs/runtime/completion/partitioned.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"

namespace nplus1::stubs {
namespace {

using events::CompletionMode;
using events::EventKind;

bool all_known(Call& call, const Selection& s) {
  call.rt.absorb();
  if (!all_can_be_compared(call, s.requests)) return false;
  return std::all_of(s.requests.begin(), s.requests.end(), [](const Request* r) { return r->known; });
}

Time end_of_any(const Request& r, Time entry) {
  return std::max(entry, r.at) + r.overhead;
}

/// Position (in the selection) of the request with the earliest virtual completion; its event; the exit.
int end_any(Call& call, const Selection& s) {
  std::vector<std::uint32_t> slots;
  const events::Event event = completion_event(EventKind::kWait, CompletionMode::kAny, s.requests, slots);
  if (all_known(call, s)) {
    call.emit(event, slots.data());
    const auto first = std::min_element(s.requests.begin(), s.requests.end(),
                                        [](const Request* a, const Request* b) { return a->at < b->at; });
    call.exit_at(end_of_any(**first, call.entry()));
    return static_cast<int>(first - s.requests.begin());
  }
  const auto answer = call.ask(event, slots.data());
  if (!answer) return -1;
  call.exit_at(answer->exit());
  return answer->index;
}

Duration overheads(std::span<Request* const> requests) {
  Duration sum{};
  for (const Request* r : requests) sum += r->overhead;
  return sum;
}

/// What is to follow from a native completion does not, if MPI reports an error (a communicator that was not
/// made).
void note_error(Request& request, int code) {
  if (code != MPI_SUCCESS) request.when_complete = nullptr;
}

/// Completes one virtually finished request natively; reports no error.
int complete_quietly(Call& call, MPI_Request& handle, Request& request, MPI_Status* status) {
  const QuietErrors errors;
  settle_native(call, request);
  int code = MPI_SUCCESS;
  if (request.native == MPI_REQUEST_NULL)
    set_empty(status);
  else
    code = pmpi::Wait(&request.native, status);
  note_error(request, code);
  if (request.partitioned) describe_partitions(*request.partitioned, status);
  if (Accesses* accesses = call.rt.accesses()) accesses->fills_status(request, status);
  retire(call, handle);
  return code;
}

/// MPI_Wait and MPI_Test.
int complete_one(Call& call, MPI_Request& handle, Request& request, MPI_Status* status) {
  const bool knows = request.comm && (library::kMessagesKnowTheirCommunicator || request.persistent ||
                                      request.kind == RequestKind::kCollective);
  const MPI_Comm comm = knows ? request.comm->handle : world();
  const int code = complete_quietly(call, handle, request, status);
  return code == MPI_SUCCESS ? code : call.unlocked([&] { return report(comm, code); });
}

/// Where MPI_Waitany and its like report an error of `request`.
MPI_Comm reported_at(const Request& request) {
  return library::kMessagesKnowTheirCommunicator && request.comm ? request.comm->handle : world();
}

/// MPI_Waitany and MPI_Testany.
int complete_any(Call& call, MPI_Request& handle, Request& request, MPI_Status* status) {
  const MPI_Comm comm = reported_at(request);
  const int code = complete_quietly(call, handle, request, status);
  return code == MPI_SUCCESS ? code : call.unlocked([&] { return report(comm, code); });
}

/// After an error MPI may leave the requests behind it as they are (MPI_ERR_PENDING), although they are complete: this one
/// has ended in virtual time.
void complete_pending(MPI_Request& native, MPI_Status* status, bool persistent) {
  const bool told = status != MPI_STATUS_IGNORE;
  const bool pending = told ? status->MPI_ERROR == MPI_ERR_PENDING : !persistent;
  if (native == MPI_REQUEST_NULL || !pending) return;
  const QuietErrors errors;
  const int code = pmpi::Wait(&native, status);
  if (told) status->MPI_ERROR = code;
}

int complete_all_native(Call& call, const Selection& s, MPI_Status statuses[]) {
  MPI_Request* const handles = s.handles;
  const int count = s.count;
  std::vector<MPI_Request> natives(handles, handles + count);
  for (std::size_t i = 0; i < s.requests.size(); ++i) {
    settle_native(call, *s.requests[i]);
    natives[static_cast<std::size_t>(s.positions[i])] = s.requests[i]->native;
  }
  if (s.foreign) {
    for (const MPI_Request& native : natives)
      if (native != MPI_REQUEST_NULL) call.await(native);
  }
  const int code = pmpi::Waitall(count, natives.data(), statuses);
  for (int i = 0; i < count; ++i) {
    Request* ours = call.rt.requests.find(handles[i]);
    if (ours != nullptr && code != MPI_SUCCESS)
      complete_pending(natives[static_cast<std::size_t>(i)],
                       statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i], ours->persistent);
    if (ours == nullptr)
      handles[i] = natives[static_cast<std::size_t>(i)];
    else if (ours->active) {
      const bool told = code == MPI_ERR_IN_STATUS && statuses != MPI_STATUSES_IGNORE;
      note_error(*ours, told ? statuses[i].MPI_ERROR : code);
      if (Accesses* accesses = call.rt.accesses(); accesses != nullptr && statuses != MPI_STATUSES_IGNORE)
        accesses->fills_status(*ours, &statuses[i]);
      if (ours->partitioned && statuses != MPI_STATUSES_IGNORE)
        describe_partitions(*ours->partitioned, &statuses[i]);
      retire(call, handles[i]);
    }
  }
  return code;
}

/// Completes the selected entries `chosen` natively, in their order; statuses are packed. MPI_ERR_IN_STATUS
/// if one failed.
int complete_some_native(Call& call, const Selection& s, const std::vector<int>& chosen, int indices[],
                         MPI_Status statuses[]) {
  int first = MPI_SUCCESS;  // error, and where MPI reports it
  MPI_Comm comm = world();
  std::vector<int> codes;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const auto at = static_cast<std::size_t>(chosen[k]);
    indices[k] = s.positions[at];
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[k];
    const MPI_Comm own = reported_at(*s.requests[at]);
    codes.push_back(complete_quietly(call, s.handles[indices[k]], *s.requests[at], status));
    if (first == MPI_SUCCESS && codes.back() != MPI_SUCCESS) first = codes.back(), comm = own;
  }
  if (first == MPI_SUCCESS) return first;
  if (statuses != MPI_STATUSES_IGNORE)
    for (std::size_t k = 0; k < codes.size(); ++k) statuses[k].MPI_ERROR = codes[k];
  if (!library::kMessagesKnowTheirCommunicator)
    return call.unlocked([&] { return report(comm, MPI_ERR_IN_STATUS); });
  call.unlocked([&] { return report(comm, first); });
  return MPI_ERR_IN_STATUS;
}

std::vector<int> words_as_positions(const ThreadState& thread, int n) {
  std::vector<int> chosen;
  for (int i = 0; i < n; ++i)
    chosen.push_back(static_cast<int>(thread.answer_words[static_cast<std::size_t>(i)]));
  return chosen;
}

std::vector<int> complete_by(const Selection& s, Time limit) {
  std::vector<int> chosen;
  for (std::size_t i = 0; i < s.requests.size(); ++i)
    if (s.requests[i]->at <= limit) chosen.push_back(static_cast<int>(i));
  return chosen;
}

Time end_of(const Selection& s, const std::vector<int>& chosen, Time entry) {
  std::vector<semantics::Completion> completions;
  for (const int i : chosen) {
    const Request& r = *s.requests[static_cast<std::size_t>(i)];
    completions.push_back({r.at, r.overhead});
  }
  return semantics::complete_all(entry, completions);
}

/// Without a simulator: the requests that MPI itself has completed. True if there is one.
bool first_native(const std::vector<Request*>& requests, std::vector<int>& ready) {
  ready.clear();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i]->kind == RequestKind::kFile ? has_ended(*requests[i]) : is_complete(requests[i]->native))
      ready.push_back(static_cast<int>(i));
  }
  return !ready.empty();
}

/// Which of the selection a Test finds complete, by place in it; empty: none. `mode` decides what counts.
std::vector<int> find_complete(Call& call, const Selection& s, CompletionMode mode, std::uint8_t flags = 0) {
  std::vector<std::uint32_t> slots;
  events::Event event = completion_event(EventKind::kTest, mode, s.requests, slots);
  event.flags = flags;
  const Time entry = call.entry();
  std::vector<int> done = all_known(call, s) ? complete_by(s, entry) : std::vector<int>{};
  // Only success is decided here: what a failed test costs is the simulator's business.
  const bool success = mode == CompletionMode::kAll ? done.size() == s.requests.size() : !done.empty();
  if (success) {
    call.emit(event, slots.data());
    if (mode == CompletionMode::kAny)
      done = {*std::min_element(done.begin(), done.end(), [&](int a, int b) {
        return s.requests[static_cast<std::size_t>(a)]->at < s.requests[static_cast<std::size_t>(b)]->at;
      })};
    call.exit_at((flags & events::kKeepsRequests) != 0 ? entry : end_of(s, done, entry));
    return done;
  }
  const auto answer = call.ask(event, slots.data());
  if (!answer) {
    first_native(s.requests, done);
    return done;
  }
  call.exit_at(answer->exit());
  if (answer->flag == 0) return {};
  if (mode == CompletionMode::kSome) return words_as_positions(call.thread, answer->index);
  if (mode == CompletionMode::kAny) return {answer->index};
  done.resize(s.requests.size());
  for (std::size_t i = 0; i < done.size(); ++i) done[i] = static_cast<int>(i);
  return done;
}

Request& at(const Selection& s, int place) {
  return *s.requests[static_cast<std::size_t>(place)];
}

/// What MPI_Waitsome finds.
std::vector<int> end_some(Call& call, const Selection& s) {
  std::vector<std::uint32_t> slots;
  const events::Event event = completion_event(EventKind::kWait, CompletionMode::kSome, s.requests, slots);
  std::vector<int> chosen;
  if (all_known(call, s)) {
    call.emit(event, slots.data());
    Time first = kNever;
    for (const Request* r : s.requests) first = std::min(first, r->at);
    chosen = complete_by(s, std::max(call.entry(), first));
    call.exit_at(end_of(s, chosen, call.entry()));
  } else if (const auto answer = call.ask(event, slots.data())) {
    call.exit_at(answer->exit());
    chosen = words_as_positions(call.thread, answer->index);
  } else {
    call.poll_native([&] { return first_native(s.requests, chosen); });
  }
  return chosen;
}

class Simulated final : public Completing {
 public:
  int wait(Call& call, const Selection& s, MPI_Status* status) const override {
    Request& request = *s.requests.front();
    const std::vector<Request*> all = simulated(call, s.requests);
    const Time entry = call.entry();
    end_all(call, all);
    const bool was_there = call.entry() <= entry + request.overhead;
    const int code = complete_one(call, *s.handles, request, status);
    if (was_there) call.drift(call.native_cost());
    return code;
  }

  int wait_all(Call& call, const Selection& s, MPI_Status statuses[]) const override {
    const std::vector<Request*> all = simulated(call, s.requests);
    const Time entry = call.entry();
    end_all(call, all);
    const bool were_there = call.entry() <= entry + overheads(all);
    const int code = complete_all_native(call, s, statuses);
    if (were_there) call.drift(call.native_cost());  // Riesen 2006, figure 3: t2
    return code;
  }

  int wait_any(Call& call, const Selection& s, int* index, MPI_Status* status) const override {
    int chosen = end_any(call, s);
    if (chosen < 0) {  // the simulator died: as MPI does it
      std::vector<int> ready;
      call.poll_native([&] { return first_native(s.requests, ready); });
      chosen = ready.front();
    }
    *index = s.positions[static_cast<std::size_t>(chosen)];
    return complete_any(call, s.handles[*index], at(s, chosen), status);
  }

  int wait_some(Call& call, const Selection& s, int* outcount, int indices[],
                MPI_Status statuses[]) const override {
    const std::vector<int> chosen = end_some(call, s);
    *outcount = static_cast<int>(chosen.size());
    return complete_some_native(call, s, chosen, indices, statuses);
  }

  int test(Call& call, const Selection& s, int* flag, MPI_Status* status) const override {
    *flag = finds_all_complete(call, s) ? 1 : 0;
    return *flag == 0 ? MPI_SUCCESS : complete_one(call, *s.handles, *s.requests.front(), status);
  }

  int test_all(Call& call, const Selection& s, int* flag, MPI_Status statuses[]) const override {
    *flag = finds_all_complete(call, s) ? 1 : 0;
    return *flag == 0 ? MPI_SUCCESS : complete_all_native(call, s, statuses);
  }

  int test_any(Call& call, const Selection& s, int* index, int* flag, MPI_Status* status) const override {
    const std::vector<int> done = find_complete(call, s, CompletionMode::kAny);
    *flag = done.empty() ? 0 : 1;
    *index = MPI_UNDEFINED;
    if (done.empty()) return MPI_SUCCESS;
    *index = s.positions[static_cast<std::size_t>(done.front())];
    return complete_any(call, s.handles[*index], at(s, done.front()), status);
  }

  int test_some(Call& call, const Selection& s, int* outcount, int indices[],
                MPI_Status statuses[]) const override {
    const std::vector<int> done = find_complete(call, s, CompletionMode::kSome);
    *outcount = static_cast<int>(done.size());
    return complete_some_native(call, s, done, indices, statuses);
  }
};

}  // namespace

bool finds_all_complete(Call& call, const Selection& s, std::uint8_t flags) {
  Selection started = s;
  if (s.partitioned) {
    auto all = simulated_now(call, s.requests);
    if (!all) return false;
    if (all->empty()) return true;
    started.requests = std::move(*all);
  }
  return find_complete(call, started, CompletionMode::kAll, flags).size() == started.requests.size();
}

const Completing& simulated_completing() {
  static constexpr Simulated strategy;
  return strategy;
}

}  // namespace nplus1::stubs
