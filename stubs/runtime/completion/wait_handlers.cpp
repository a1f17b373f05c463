// MPI_Wait, MPI_Test and their relatives (MPI 4.0, sections 3.7.3 to 3.7.6).
#include <algorithm>

#include "stubs/handlers.hpp"
#include "stubs/library/library_of_mpi.hpp"
#include "stubs/library/shown_requests.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/completion/completing.hpp"
#include "stubs/runtime/completion/completion.hpp"
#include "stubs/runtime/completion/partitioned.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/runtime/hooks/progress_hook.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

Selection select(Runtime& rt, int count, MPI_Request handles[]) {
  refuse_if(count > 0 && handles == nullptr);
  Selection s;
  s.count = count;
  s.handles = handles;
  for (int i = 0; i < count; ++i) {
    if (handles[i] == MPI_REQUEST_NULL) continue;
    Request* request = rt.requests.find(handles[i]);
    if (request == nullptr) {
      s.foreign = true;
    } else if (request->active) {
      s.requests.push_back(request);
      s.partitioned = s.partitioned || request->partitioned != nullptr;
      s.positions.push_back(i);
    }
  }
  return s;
}

/// Selected under the lock but before a Call, so that a call without requests of ours costs no event.
Selection select_locked(int count, MPI_Request handles[]) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  return select(rt, count, handles);
}

/// Partitions compare times of their own.
Clock clock_for(const Selection& s) {
  return s.partitioned ? Clock::kKnown : Clock::kAdrift;
}

bool is_ours(MPI_Request handle) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  return rt.requests.find(handle) != nullptr;
}

/// Testany over the foreign requests among `handles` alone.
int test_foreign(int count, MPI_Request handles[], int* index, int* flag, MPI_Status* status) {
  std::vector<MPI_Request> foreign(handles, handles + count);
  {
    Runtime& rt = *runtime();
    const std::lock_guard guard{rt.lock};
    for (MPI_Request& h : foreign)
      if (rt.requests.find(h) != nullptr) h = MPI_REQUEST_NULL;
  }
  const int code = pmpi::Testany(count, foreign.data(), index, flag, status);
  if (*flag != 0 && *index == MPI_UNDEFINED) *flag = 0;
  if (*flag != 0) handles[*index] = foreign[static_cast<std::size_t>(*index)];
  return code;
}

/// A pending foreign request may depend on others in ways we don't see.
template <class Function>
int unmodelled(Function&& function) {
  const UnmodelledScope scope{current_call()};
  return function();
}

}  // namespace

namespace handlers {

int Waitall(int count, MPI_Request handles[], MPI_Status statuses[]) {
  if (count > 0 && library::lacks_statuses(statuses))
    return pmpi::Waitall(count, ShownRequests{count, handles}.all(), statuses);
  const Selection s = select_locked(count, handles);
  if (s.requests.empty())
    return s.foreign ? unmodelled([&] { return pmpi::Waitall(count, handles, statuses); })
                     : pmpi::Waitall(count, handles, statuses);
  Call call{true, clock_for(s)};
  return completing(call.rt).wait_all(call, s, statuses);
}

int Wait(MPI_Request* handle, MPI_Status* status) {
  const Selection s = select_locked(1, handle);
  if (s.requests.empty())
    return s.foreign ? unmodelled([&] { return pmpi::Wait(handle, status); }) : pmpi::Wait(handle, status);
  Call call{true, clock_for(s)};
  return completing(call.rt).wait(call, s, status);
}

int Waitany(int count, MPI_Request handles[], int* index, MPI_Status* status) {
  const Selection s = select_locked(count, handles);
  if (s.requests.empty())
    return s.foreign ? unmodelled([&] { return pmpi::Waitany(count, handles, index, status); })
                     : pmpi::Waitany(count, handles, index, status);
  if (s.foreign || s.partitioned) {
    for (int flag = 0;; idle_wait()) {
      const int code = Testany(count, handles, index, &flag, status);
      if (flag != 0 || code != MPI_SUCCESS) return code;
    }
  }
  Call call{true, clock_for(s)};
  return completing(call.rt).wait_any(call, s, index, status);
}

int Waitsome(int incount, MPI_Request handles[], int* outcount, int indices[], MPI_Status statuses[]) {
  if (incount > 0 && (indices == nullptr || library::lacks_statuses(statuses)))
    return pmpi::Waitsome(incount, ShownRequests{incount, handles}.all(), outcount, indices, statuses);
  const Selection s = select_locked(incount, handles);
  if (s.requests.empty())
    return s.foreign
               ? unmodelled([&] { return pmpi::Waitsome(incount, handles, outcount, indices, statuses); })
               : pmpi::Waitsome(incount, handles, outcount, indices, statuses);
  if (s.foreign || s.partitioned) {
    for (;; idle_wait()) {
      const int code = Testsome(incount, handles, outcount, indices, statuses);
      if (*outcount != 0 || code != MPI_SUCCESS) return code;
    }
  }
  Call call{true, clock_for(s)};
  return completing(call.rt).wait_some(call, s, outcount, indices, statuses);
}

int Test(MPI_Request* handle, int* flag, MPI_Status* status) {
  const Selection s = select_locked(1, handle);
  if (s.requests.empty()) return pmpi::Test(handle, flag, status);
  Call call{true, clock_for(s)};
  return completing(call.rt).test(call, s, flag, status);
}

int Testall(int count, MPI_Request handles[], int* flag, MPI_Status statuses[]) {
  if (count > 0 && library::lacks_statuses(statuses))
    return pmpi::Testall(count, ShownRequests{count, handles}.all(), flag, statuses);
  const Selection s = select_locked(count, handles);
  if (s.requests.empty()) return pmpi::Testall(count, handles, flag, statuses);
  if (s.foreign) {
    for (int i = 0; i < count; ++i) {
      if (handles[i] == MPI_REQUEST_NULL || is_ours(handles[i])) continue;
      *flag = 0;
      if (!is_complete(handles[i])) return MPI_SUCCESS;
    }
  }
  Call call{true, clock_for(s)};
  return completing(call.rt).test_all(call, s, flag, statuses);
}

int Testany(int count, MPI_Request handles[], int* index, int* flag, MPI_Status* status) {
  const Selection s = select_locked(count, handles);
  if (s.requests.empty()) return pmpi::Testany(count, handles, index, flag, status);
  if (s.partitioned) return test_any_partitioned(count, handles, index, flag, status);
  if (s.foreign) {
    const int code = test_foreign(count, handles, index, flag, status);
    if (code != MPI_SUCCESS || *flag != 0) return code;
  }
  Call call{true, clock_for(s)};
  return completing(call.rt).test_any(call, s, index, flag, status);
}

int Testsome(int incount, MPI_Request handles[], int* outcount, int indices[], MPI_Status statuses[]) {
  if (incount > 0 && (indices == nullptr || library::lacks_statuses(statuses)))
    return pmpi::Testsome(incount, ShownRequests{incount, handles}.all(), outcount, indices, statuses);
  const Selection s = select_locked(incount, handles);
  if (s.requests.empty()) return pmpi::Testsome(incount, handles, outcount, indices, statuses);
  if (s.partitioned) return test_some_partitioned(incount, handles, outcount, indices, statuses);
  if (s.foreign) {
    int flag = 0;
    MPI_Status* first = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses;
    const int code = test_foreign(incount, handles, indices, &flag, first);
    if (code != MPI_SUCCESS || flag != 0) {
      *outcount = 1;
      return code;
    }
  }
  Call call{true, clock_for(s)};
  return completing(call.rt).test_some(call, s, outcount, indices, statuses);
}

int Request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  const Selection s = select_locked(1, &handle);
  if (s.requests.empty()) return pmpi::Request_get_status(handle, flag, status);
  Call call;
  Request& request = *s.requests.front();
  *flag = finds_all_complete(call, s, events::kKeepsRequests) ? 1 : 0;
  call.outcome().answer.flag = static_cast<std::uint8_t>(*flag);
  if (*flag == 0) return MPI_SUCCESS;
  if (request.partitioned) {
    settle_native(call, request);
    set_empty(status);
    describe_partitions(*request.partitioned, status);
    return MPI_SUCCESS;
  }
  if (may_finish_later(call, request)) {
    set_empty(status);
    if (Accesses* accesses = call.rt.accesses()) accesses->complete(request);
    return MPI_SUCCESS;
  }
  if (request.kind == RequestKind::kFile)
    settle_native(call, request);
  else
    call.await(request.native, request.peer,
               request.kind == RequestKind::kCollective ? request.comm.get() : nullptr);
  const int code = pmpi::Request_get_status(request.native, flag, status);
  if (Accesses* accesses = call.rt.accesses(); accesses != nullptr && *flag != 0) accesses->complete(request);
  return code;
}

}  // namespace handlers
}  // namespace nplus1::stubs
