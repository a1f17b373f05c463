#include "stubs/runtime/requests/requests.hpp"

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"

namespace nplus1::stubs {
std::unique_ptr<Request> RequestTable::make() {
  if (pool_.empty()) return std::make_unique<Request>();
  std::unique_ptr<Request> request = std::move(pool_.back());
  pool_.pop_back();
  return request;
}

MPI_Request RequestTable::own_handle() {
  if (spare_handles_.empty()) return library::handle_of_ours(++own_handles_, quiet_self());
  const MPI_Request handle = spare_handles_.back();
  spare_handles_.pop_back();
  return handle;
}

Request& RequestTable::insert(MPI_Request& handle, std::unique_ptr<Request> request) {
  if (handle == MPI_REQUEST_NULL || library::is_shared(handle) || by_handle_.count(handle) != 0) {
    handle = own_handle();
    request->own_handle = true;
  }
  request->app = handle;
  try {
    std::unique_ptr<Request>& place = by_handle_[handle];
    place = std::move(request);
    return *place;
  } catch (...) {                          // out of memory: the handle becomes one that we don't know
    static_cast<void>(request.release());  // MPI works on what it keeps
    throw;
  }
}

std::unique_ptr<Request> RequestTable::remove(MPI_Request handle) {
  const auto it = by_handle_.find(handle);
  if (it == by_handle_.end()) return nullptr;
  std::unique_ptr<Request> request = std::move(it->second);
  by_handle_.erase(it);
  if (request->own_handle) spare_handles_.push_back(handle);
  return request;
}

void RequestTable::recycle(std::unique_ptr<Request> request) {
  constexpr std::size_t kKept = 256;
  if (pool_.size() >= kKept) return;
  *request = Request{};
  pool_.push_back(std::move(request));
}

void RequestTable::drop_detached(const Request& request) {
  detached_.erase(&request);
}

}  // namespace nplus1::stubs
