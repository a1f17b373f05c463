// The requests that the application holds, by handle and by the id that the simulator knows them by.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "events/event.hpp"
#include "stubs/runtime/arguments/private_copy.hpp"
#include "stubs/runtime/communicators/communicators.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {

class Call;
struct Partitioned;

enum class RequestKind : std::uint8_t { kSend, kReceive, kCollective, kOneSided, kPartitioned, kFile };

/// A point-to-point operation's arguments, kept where it is started later (persistent, or held for a match).
struct Arguments {
  void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;  // our own duplicate
  int peer = MPI_PROC_NULL;               // as the application gave it
  int tag = 0;
  events::SendMode mode{};
};

namespace access {
struct Buffer;
}
/// A buffer whose accesses are recorded, and the call that uses it.
struct WatchedUse {
  access::Buffer* buffer = nullptr;
  std::uint64_t ordinal = 0;
  bool receives = false;
};

/// One request. `app` is the handle that the application holds, `native` what the MPI library works on; they
/// differ for persistent requests (each start is a native operation of its own), and where MPI has no handle that
/// is the request's alone (RequestTable::insert).
struct Request {
  RequestKind kind{};
  bool persistent = false;
  bool active = false;
  bool held = false;            // a receive without a native operation yet
  bool engine_decided = false;  // a receive that only the simulator can match
  bool met = false;             // it has matched it
  bool detached = false;        // Request_free: nobody will wait
  bool known = false;           // `at` and `overhead` are the virtual completion
  bool ended = false;       // an access to a file: `native` is an ended request of ours (file_accesses.hpp)
  bool eager = false;       // a send that waits for nobody
  bool may_leave = false;   // a collective that brings this rank nothing: its native part may finish later
  bool own_handle = false;  // `app` is one of RequestTable's
  RequestId id{};
  MPI_Request app = MPI_REQUEST_NULL;
  MPI_Request native = MPI_REQUEST_NULL;
  Time at{};
  Time posted{};
  Duration overhead{};
  RankId peer{};               // world rank, kAnySource
  std::uint64_t sequence = 0;  // of a send's message
  std::shared_ptr<Communicator> comm;
  std::unique_ptr<Request> partner;          // the send half of an Isendrecv, whose receive half this is
  std::shared_ptr<Partitioned> partitioned;  // kPartitioned
  PrivateCopy copy;
  Arguments arguments;
  std::function<int(Call&, Request&)> start;  // persistent: performs one start
  std::function<void()> when_complete;        // run once at native completion (Comm_idup)
  std::vector<std::shared_ptr<void>> keep;    // lives until the native operation is complete
  WatchedUse watched;
};

class RequestTable {
 public:
  Request* find(MPI_Request handle) {
    const auto it = by_handle_.find(handle);
    return it == by_handle_.end() ? nullptr : it->second.get();
  }
  Request* find(RequestId id) {
    const auto it = by_id_.find(id.value);
    return it == by_id_.end() ? nullptr : it->second;
  }
  /// A fresh request, from the pool.
  std::unique_ptr<Request> make();
  /// A request whose `handle` is not its own gets one of the table's: MPI has one for all that are complete at once,
  /// and none (MPI_REQUEST_NULL) for a receive that it has not seen yet and for both halves of an Isendrecv.
  Request& insert(MPI_Request& handle, std::unique_ptr<Request> request);
  /// Makes `request` findable by its id, for as long as a match is outstanding.
  void index(Request& request) { by_id_[request.id.value] = &request; }
  void unindex(RequestId id) { by_id_.erase(id.value); }
  /// Takes the request out of the table; a handle of the table's is free for others.
  std::unique_ptr<Request> remove(MPI_Request handle);
  void recycle(std::unique_ptr<Request> request);
  /// A request without a handle (Request_free on a held receive) lives here until it is matched.
  void detach(std::unique_ptr<Request> request) {
    const Request* const key = request.get();
    detached_.emplace(key, std::move(request));
  }
  void drop_detached(const Request& request);
  template <class Visit>
  void for_each(Visit&& visit) {
    for (auto& [handle, request] : by_handle_) visit(*request);
    for (auto& [key, request] : detached_) visit(*request);
  }
  [[nodiscard]] std::size_t size() const { return by_handle_.size(); }

 private:
  MPI_Request own_handle();

  std::unordered_map<MPI_Request, std::unique_ptr<Request>> by_handle_;
  std::unordered_map<std::uint32_t, Request*> by_id_;
  std::vector<std::unique_ptr<Request>> pool_;
  std::uint32_t own_handles_ = 0;  // made so far
  std::vector<MPI_Request> spare_handles_;
  std::unordered_map<const Request*, std::unique_ptr<Request>> detached_;
};

}  // namespace nplus1::stubs
