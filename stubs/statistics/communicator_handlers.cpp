// Creation and freeing of communicators, beginning and end of MPI, and calls of which only the time is counted.
#include <atomic>
#include <optional>

#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/statistics/hang.hpp"
#include "stubs/statistics/scope.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

using statistics::CommUse;
using statistics::Fan;
using statistics::Scope;

/// All members of `parent` take part. A communicator's key is the same on all members.
template <class Create>
int create_from(MPI_Comm parent, MPI_Comm* made, Create&& create) {
  Scope scope{parent};
  scope.takes_part(-1);
  scope.may_wait();
  scope.publish();
  const int code = create();
  if (code == MPI_SUCCESS)
    guarded([&] {
      constexpr std::uint64_t kFromParent = 1;
      const CommUse* from = scope.accepted_comm();
      if (from == nullptr) return;
      if (*made != MPI_COMM_NULL) scope.recorder().add_communicator(*made, *from->known, kFromParent);
      Fan fan;
      fan.kind = CollectiveKind::kSynchronize;
      scope.collective(fan, true);
    });
  return code;
}

/// What is made will be known when it is used.
template <class Create>
int create_unseen(Create&& create) {
  Scope scope;
  scope.may_wait();
  scope.publish();
  return create();
}

template <class Free>
int free_one(MPI_Comm* comm, Free&& free) {
  Scope scope;
  scope.publish();
  const MPI_Comm handle = *comm;
  // First: another thread may get the same handle as soon as MPI has freed it. Where MPI refuses, it is known again when
  // it is used.
  guarded([&] {
    if (handle != MPI_COMM_WORLD && handle != MPI_COMM_SELF) scope.recorder().forget(handle);
  });
  return free();
}

std::atomic<int> sessions{0};

void begin() noexcept {
  guarded([] {
    int level = MPI_THREAD_MULTIPLE;  // sessions may have any
    if (!world_is_of_sessions()) pmpi::Query_thread(&level);
    statistics::Recorder* made = statistics::Recorder::make(level);
    if (made == nullptr) return;
    statistics::set_recorder(made);
    statistics::watch_for_hangs(*made);
    set_active(true);
  });
}

/// In a job that begins with sessions alone. Once: one that has ended its last session has written its file.
void begin_by_session() noexcept {
  guarded([] {
    int rank = 0, ranks = 0;
    if (statistics::recorder() == nullptr && find_place_by_session(rank, ranks) && make_world_of_sessions())
      begin();
  });
}

void end() noexcept {
  guarded([] {
    set_active(false);
    statistics::stop_watching();
    statistics::recorder()->finish();
  });
}

}  // namespace

namespace {
/// Of the thread's call: there is at most one.
thread_local std::optional<Scope> unmodelled;
}  // namespace

UnmodelledScope::UnmodelledScope(events::MpiCall call) noexcept : call_{call} {
  guarded([] {
    unmodelled.emplace();
    unmodelled->publish();
  });
}
UnmodelledScope::~UnmodelledScope() {
  static_cast<void>(call_);
  unmodelled.reset();
}

namespace handlers {

int Init(int* argc, char*** argv) {
  const int code = pmpi::Init(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}
int Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = pmpi::Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}
int Finalize() {
  if (!world_is_of_sessions()) end();
  return pmpi::Finalize();
}
int Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  std::optional<UnmodelledScope> scope;
  if (active()) scope.emplace(current_call());
  const int code = pmpi::Session_init(info, handler, session);
  if (code != MPI_SUCCESS) return code;
  if (!active()) begin_by_session();
  sessions.fetch_add(1);
  return code;
}
int Session_finalize(MPI_Session* session) {
  if (sessions.fetch_sub(1) > 1 || !world_is_of_sessions()) {
    std::optional<UnmodelledScope> scope;
    if (active()) scope.emplace(current_call());
    return pmpi::Session_finalize(session);
  }
  end();
  free_world_of_sessions();
  return pmpi::Session_finalize(session);
}

int Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return create_from(comm, made, [=] { return pmpi::Comm_dup(comm, made); });
}
int Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return create_from(comm, made, [=] { return pmpi::Comm_dup_with_info(comm, info, made); });
}
int Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return create_from(comm, made, [=] { return pmpi::Comm_create(comm, group, made); });
}
int Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return create_from(comm, made, [=] { return pmpi::Comm_split(comm, color, key, made); });
}
int Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return create_from(comm, made, [=] { return pmpi::Comm_split_type(comm, type, key, info, made); });
}
int Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                MPI_Comm* made) {
  return create_from(comm, made,
                     [=] { return pmpi::Cart_create(comm, ndims, dims, periods, reorder, made); });
}
int Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* made) {
  return create_from(comm, made, [=] { return pmpi::Cart_sub(comm, remain, made); });
}
int Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                 MPI_Comm* made) {
  return create_from(comm, made,
                     [=] { return pmpi::Graph_create(comm, nodes, index, edges, reorder, made); });
}
int Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info info, int reorder,
                      MPI_Comm* made) {
  return create_from(comm, made, [=] {
    return pmpi::Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder, made);
  });
}
int Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int sourceweights[],
                               int outdegree, const int destinations[], const int destweights[],
                               MPI_Info info, int reorder, MPI_Comm* made) {
  return create_from(comm, made, [=] {
    return pmpi::Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree, destinations,
                                            destweights, info, reorder, made);
  });
}
int Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* made) {
  return create_from(comm, made, [=] { return pmpi::Intercomm_merge(comm, high, made); });
}
int Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return create_unseen([=] { return pmpi::Comm_idup(comm, made, request); });
}
int Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  return create_unseen([=] { return pmpi::Comm_idup_with_info(comm, info, made, request); });
}
int Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return create_unseen([=] { return pmpi::Comm_create_group(comm, group, tag, made); });
}
int Intercomm_create(MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm* made) {
  return create_unseen([=] { return pmpi::Intercomm_create(local, leader, peer, remote, tag, made); });
}
int Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler,
                           MPI_Comm* made) {
  return create_unseen([=] { return pmpi::Comm_create_from_group(group, tag, info, handler, made); });
}
int Intercomm_create_from_groups(MPI_Group local, int leader, MPI_Group remote, int remote_leader,
                                 const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* made) {
  return create_unseen([=] {
    return pmpi::Intercomm_create_from_groups(local, leader, remote, remote_leader, tag, info, handler, made);
  });
}
int Comm_free(MPI_Comm* comm) {
  return free_one(comm, [=] { return pmpi::Comm_free(comm); });
}
int Comm_disconnect(MPI_Comm* comm) {
  return free_one(comm, [=] { return pmpi::Comm_disconnect(comm); });
}

}  // namespace handlers
}  // namespace nplus1::stubs
