#include "stubs/runtime/completion/native_calls.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"

#include <algorithm>
#include <functional>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/completion/completing.hpp"
#include "stubs/runtime/completion/completion.hpp"

namespace nplus1::stubs::native {
namespace {

using events::CompletionMode;
using events::EventKind;
using Natives = std::vector<MPI_Request>;

void emit(Call& call, EventKind kind, CompletionMode mode, const Selection& c) {
  std::vector<std::uint32_t> slots;
  const events::Event event = completion_event(kind, mode, c.requests, slots);
  call.emit(event, slots.data());
}

/// The array with MPI's own handles in place of ours.
Natives natives_of(const Selection& c) {
  Natives natives(c.handles, c.handles + c.count);
  for (std::size_t i = 0; i < c.requests.size(); ++i)
    natives[static_cast<std::size_t>(c.positions[i])] = c.requests[i]->native;
  return natives;
}

/// The size that the status tells; MPI_UNDEFINED does not occur with bytes.
events::Answer message_of(const Communicator& comm, const MPI_Status& status) {
  MPI_Count bytes = 0;
  pmpi::Get_elements_x(&status, MPI_BYTE, &bytes);
  events::Answer answer;
  answer.source = status.MPI_SOURCE == MPI_PROC_NULL ? kProcNull.value : comm.world(status.MPI_SOURCE).value;
  answer.tag = status.MPI_TAG;
  answer.size = bytes;
  answer.flag = 1;
  return answer;
}

/// Of a receive of a message that a matching probe took.
events::Answer matched_message(const Request& request, const MPI_Status& status) {
  events::Answer answer;
  MPI_Count bytes = 0;
  pmpi::Get_elements_x(&status, MPI_BYTE, &bytes);
  answer.source = request.peer.value;
  answer.tag = status.MPI_TAG;
  answer.size = bytes;
  return answer;
}

bool was_cancelled(const MPI_Status& status) {
  int cancelled = 0;
  pmpi::Test_cancelled(&status, &cancelled);
  return cancelled != 0;
}

/// A request has been completed by MPI, which has freed its native one.
void completed(Call& call, MPI_Request& handle, Request& request, const MPI_Status& status) {
  if (request.kind == RequestKind::kReceive && request.peer != kProcNull && !was_cancelled(status)) {
    events::Answer match =
        request.comm ? message_of(*request.comm, status) : matched_message(request, status);
    match.request = request.id;
    call.note_match(match);
  }
  if (request.partner && request.partner->native != MPI_REQUEST_NULL)
    call.unlocked([&] { return pmpi::Wait(&request.partner->native, MPI_STATUS_IGNORE); });
  retire(call, handle);
}

/// Handles as MPI left them, for requests that are not ours.
void give_back(const Selection& c, const Natives& natives) {
  for (int i = 0; i < c.count; ++i)
    if (!std::binary_search(c.positions.begin(), c.positions.end(), i))
      c.handles[i] = natives[static_cast<std::size_t>(i)];
}

/// Where an entry of the array stands among ours; -1 if it is not ours.
int place_of(const Selection& c, int position) {
  const auto found = std::lower_bound(c.positions.begin(), c.positions.end(), position);
  return found == c.positions.end() || *found != position ? -1
                                                          : static_cast<int>(found - c.positions.begin());
}

int all(Call& call, const Selection& c, MPI_Status statuses[], EventKind kind, int* flag) {
  emit(call, kind, CompletionMode::kAll, c);
  Natives natives = natives_of(c);
  std::vector<MPI_Status> own(static_cast<std::size_t>(c.count));
  MPI_Status* told = statuses == MPI_STATUSES_IGNORE ? own.data() : statuses;
  const int code = call.unlocked([&] {
    return flag == nullptr ? pmpi::Waitall(c.count, natives.data(), told)
                           : pmpi::Testall(c.count, natives.data(), flag, told);
  });
  call.outcome().answer.flag = flag == nullptr || *flag != 0 ? 1 : 0;
  if (flag != nullptr && *flag == 0) return code;
  give_back(c, natives);
  for (std::size_t i = 0; i < c.requests.size(); ++i)
    completed(call, c.handles[c.positions[i]], *c.requests[i], told[c.positions[i]]);
  return code;
}

int any(Call& call, const Selection& c, int* index, MPI_Status* status, EventKind kind, int* flag) {
  emit(call, kind, CompletionMode::kAny, c);
  Natives natives = natives_of(c);
  MPI_Status own;
  MPI_Status* told = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call.unlocked([&] {
    return flag == nullptr ? pmpi::Waitany(c.count, natives.data(), index, told)
                           : pmpi::Testany(c.count, natives.data(), index, flag, told);
  });
  Call::Outcome& outcome = call.outcome();
  outcome.answer.index = -1;
  outcome.answer.flag = flag == nullptr || *flag != 0 ? 1 : 0;
  if (outcome.answer.flag == 0 || *index == MPI_UNDEFINED) return code;
  const int place = place_of(c, *index);
  if (place < 0) {
    c.handles[*index] = natives[static_cast<std::size_t>(*index)];
    return code;
  }
  outcome.answer.index = place;
  outcome.completed = {static_cast<std::uint32_t>(place)};
  completed(call, c.handles[*index], *c.requests[static_cast<std::size_t>(place)], *told);
  return code;
}

int some(Call& call, const Selection& c, int* outcount, int indices[], MPI_Status statuses[],
         EventKind kind) {
  emit(call, kind, CompletionMode::kSome, c);
  Natives natives = natives_of(c);
  std::vector<MPI_Status> own(static_cast<std::size_t>(c.count));
  MPI_Status* told = statuses == MPI_STATUSES_IGNORE ? own.data() : statuses;
  const int code = call.unlocked([&] {
    return kind == EventKind::kWait ? pmpi::Waitsome(c.count, natives.data(), outcount, indices, told)
                                    : pmpi::Testsome(c.count, natives.data(), outcount, indices, told);
  });
  Call::Outcome& outcome = call.outcome();
  for (int k = 0; *outcount != MPI_UNDEFINED && k < *outcount; ++k) {
    const int place = place_of(c, indices[k]);
    if (place < 0) {
      c.handles[indices[k]] = natives[static_cast<std::size_t>(indices[k])];
      continue;
    }
    outcome.completed.push_back(static_cast<std::uint32_t>(place));
    completed(call, c.handles[indices[k]], *c.requests[static_cast<std::size_t>(place)], told[k]);
  }
  outcome.answer.index = static_cast<std::int32_t>(outcome.completed.size());
  outcome.answer.flag = outcome.completed.empty() ? 0 : 1;
  return code;
}

class Native final : public Completing {
 public:
  int wait(Call& call, const Selection& s, MPI_Status* status) const override {
    return all(call, s, status, EventKind::kWait, nullptr);
  }
  int wait_all(Call& call, const Selection& s, MPI_Status statuses[]) const override {
    return all(call, s, statuses, EventKind::kWait, nullptr);
  }
  int wait_any(Call& call, const Selection& s, int* index, MPI_Status* status) const override {
    return any(call, s, index, status, EventKind::kWait, nullptr);
  }
  int wait_some(Call& call, const Selection& s, int* outcount, int indices[],
                MPI_Status statuses[]) const override {
    return some(call, s, outcount, indices, statuses, EventKind::kWait);
  }
  int test(Call& call, const Selection& s, int* flag, MPI_Status* status) const override {
    return all(call, s, status, EventKind::kTest, flag);
  }
  int test_all(Call& call, const Selection& s, int* flag, MPI_Status statuses[]) const override {
    return all(call, s, statuses, EventKind::kTest, flag);
  }
  int test_any(Call& call, const Selection& s, int* index, int* flag, MPI_Status* status) const override {
    return any(call, s, index, status, EventKind::kTest, flag);
  }
  int test_some(Call& call, const Selection& s, int* outcount, int indices[],
                MPI_Status statuses[]) const override {
    return some(call, s, outcount, indices, statuses, EventKind::kTest);
  }
};

}  // namespace

int finish_receive(Call& call, Request& request, MPI_Status* status) {
  MPI_Status own;
  MPI_Status* told = status == MPI_STATUS_IGNORE ? &own : status;
  const QuietErrors errors;
  const int code = call.unlocked([&] { return pmpi::Wait(&request.native, told); });
  if (code == MPI_SUCCESS && request.comm) note_message(call, *request.comm, *told);
  return code;
}

void note_message(Call& call, const Communicator& comm, const MPI_Status& status) {
  call.outcome().answer = message_of(comm, status);
}

}  // namespace nplus1::stubs::native

namespace nplus1::stubs {

const Completing& native_completing() {
  static constexpr native::Native strategy;
  return strategy;
}

}  // namespace nplus1::stubs
