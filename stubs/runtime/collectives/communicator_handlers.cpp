// Creation and freeing of communicators (MPI 4.0, sections 7.4, 7.6, 8.5). In virtual time all members of the
// parent wait for each other; natively each call runs when all are there.
#include <algorithm>

#include "stubs/handlers.hpp"
#include "stubs/library/library_of_mpi.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/collectives/collective.hpp"
#include "stubs/runtime/point_to_point.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

/// What tells creations on one parent apart; equal on all members.
enum Creation : std::uint64_t { kFromParent = 1, kFromGroup = 2, kIntercomm = 3, kMerge = 4 };

void add_and_define(Call& call, MPI_Comm comm, Origin origin, std::uint64_t creation) {
  if (comm == MPI_COMM_NULL) return;
  call.rt.line.define(call.rt.communicators.add(comm, origin, creation));
}

// What MPI refuses before anybody else is asked (arguments.hpp). `comm` is valid.

bool is_intercommunicator(MPI_Comm comm) {
  int inter = 0;
  pmpi::Comm_test_inter(comm, &inter);
  return inter != 0;
}

int topology_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  pmpi::Topo_test(comm, &topology);
  return topology;
}

void check_group(MPI_Comm comm, MPI_Group group) {
  refuse_if(!is_group(group));
  const Communicator* known = communicator(comm);
  if (known == nullptr) return;
  for (const std::int32_t member : world_ranks(group))
    refuse_if(std::find(known->local.begin(), known->local.end(), member) == known->local.end());
}

void check_grid(MPI_Comm comm, int dimensions, const int sizes[], const int periods[]) {
  refuse_if(is_intercommunicator(comm) || dimensions < 0);
  refuse_if(dimensions > 0 && (sizes == nullptr || periods == nullptr));
  int members = 0;
  pmpi::Comm_size(comm, &members);
  std::int64_t cells = 1;
  for (int i = 0; i < dimensions; ++i) {
    cells *= sizes[i];
    refuse_if(cells > members);
  }
}

void check_graph(MPI_Comm comm, int nodes, const int index[], const int edges[]) {
  int members = 0;
  pmpi::Comm_size(comm, &members);
  refuse_if(is_intercommunicator(comm) || nodes < 0 || nodes > members);
  refuse_if(nodes > 0 && (index == nullptr || edges == nullptr));
  for (int i = 0; i < nodes; ++i) refuse_if(index[i] < (i == 0 ? 0 : index[i - 1]));
  for (int i = 0; nodes > 0 && i < index[nodes - 1]; ++i) refuse_if(edges[i] < 0 || edges[i] >= nodes);
}

/// MPI has addresses that stand for no weights, none of them null.
void check_neighbors(int count, const int ranks[], const int weights[]) {
  refuse_if(count < 0 || (count > 0 && (ranks == nullptr || weights == nullptr)));
}

void check_distributed_graph(MPI_Comm comm, int nodes, const int sources[], const int degrees[],
                             const int destinations[], const int weights[]) {
  refuse_if(is_intercommunicator(comm) || nodes < 0);
  refuse_if(nodes > 0 && (sources == nullptr || degrees == nullptr));
  int edges = 0;
  for (int i = 0; i < nodes; ++i) {
    refuse_if(degrees[i] < 0);
    edges += degrees[i];
  }
  check_neighbors(edges, destinations, weights);
}

/// A creation that all members of `parent` take part in; `check` refuses arguments, `create` calls MPI and fills
/// `*result`.
template <class Check, class Create>
int create_from(MPI_Comm parent, MPI_Comm* result, Creation creation, Check&& check, Create&& create) {
  Communicator* known = communicator(parent);
  if (known == nullptr) {
    const UnmodelledScope scope{current_call()};
    return create();
  }
  check();
  Call call;
  // What fails although all have come is made again without them.
  const bool owed = known->owed_creations > 0;
  if (owed) --known->owed_creations;
  bool told = true;
  const auto natively = [&] { return call.unlocked(create); };
  const int code = owed ? natively() : synchronize(call, *known, natively, &told);
  if (code == MPI_SUCCESS)
    add_and_define(call, *result, *known, creation);
  else if (told)
    ++known->owed_creations;
  return code;
}

template <class Create>
int create_from(MPI_Comm parent, MPI_Comm* result, Creation creation, Create&& create) {
  return create_from(
      parent, result, creation, [] {}, std::forward<Create>(create));
}

template <class Create>
int create_later(MPI_Comm parent, MPI_Comm* result, MPI_Request* handle, Create&& create) {
  Communicator* known = communicator(parent);
  Collective c;
  c.kind = CollectiveKind::kSynchronize;
  c.comm = known;
  c.blocking = [=] { return create(handle); };
  c.start = [=](MPI_Request* request, Keep&) { return create(request); };
  const int code = start(std::move(c), handle);
  if (code != MPI_SUCCESS || known == nullptr) return code;
  const std::lock_guard guard{runtime()->lock};
  // Numbered now: the requests may complete in another order elsewhere. What MPI has refused has no number.
  std::shared_ptr<Communicator> future = runtime()->communicators.make(known->all, *known, kFromParent);
  future->local = known->local;
  future->first_group = known->first_group;
  Request* request = runtime()->requests.find(*handle);
  request->when_complete = [result, future] {  // runs inside the completing call, lock held
    Runtime& rt = *runtime();
    rt.line.define(rt.communicators.adopt(*result, future));
  };
  return MPI_SUCCESS;
}

/// Whom the simulator does not know is waited for within MPI, which it is told.
template <class Create>
int create_unseen(MPI_Comm* made, Creation creation, Create&& create) {
  int code = MPI_SUCCESS;
  {
    const UnmodelledScope scope{current_call()};
    code = create();
  }
  if (code != MPI_SUCCESS || *made == MPI_COMM_NULL) return code;
  Call call{false};
  add_and_define(call, *made, Origin{0}, creation);
  return code;
}

template <class Create>
int connect_unseen(MPI_Comm* made, Create&& create) {
  return create_unseen(made, kIntercomm, std::forward<Create>(create));
}

/// What the leader of a group knows of the other.
struct Leaders {
  Origin origin{0};         // the same for both
  std::int32_t other = -1;  // world rank; -1: I am no leader, or it is not in sight
};

/// Two groups that don't know each other: each meets, then their leaders do, then each group again, which tells it
/// that the other one has come; on communicators that only the simulator has. Natively all are in the call by then, or on
/// their way to it without waiting for anybody.
template <class Create>
int connect_groups(const std::vector<std::int32_t>& group, Origin origin, const Leaders& leaders,
                   MPI_Comm* made, Create&& create) {
  Call call;
  std::vector<std::shared_ptr<Communicator>> meetings;
  const auto meet = [&](std::vector<std::int32_t> members, Origin of) {
    meetings.push_back(call.rt.communicators.make(std::move(members), of, kIntercomm));
    call.rt.line.define(*meetings.back());
  };
  meet(group, origin);
  if (leaders.other >= 0) {
    const std::int32_t me = call.rt.me().value;
    meet({std::min(me, leaders.other), std::max(me, leaders.other)}, leaders.origin);
  }
  meet(group, origin);
  const int code = synchronize_in_turn(call, meetings, [&] { return call.unlocked(create); });
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL) add_and_define(call, *made, Origin{0}, kIntercomm);
  return code;
}

/// World ranks of a group whose members all call with `tag`; empty if one is out of sight, or MPI will refuse the call.
std::vector<std::int32_t> members_in_sight(MPI_Group group, const char* tag) {
  if (tag == nullptr || !is_group(group)) return {};
  std::vector<std::int32_t> members = world_ranks(group);
  if (std::any_of(members.begin(), members.end(), [](std::int32_t m) { return m < 0; })) return {};
  return members;
}

/// FNV-1a: the same on all members.
std::uint64_t hash_of(const char* text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (; *text != 0; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
  return hash;
}

}  // namespace

namespace handlers {

int Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return create_from(comm, made, kFromParent, [=] { return pmpi::Comm_dup(comm, made); });
}
int Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return create_from(comm, made, kFromParent, [=] { return pmpi::Comm_dup_with_info(comm, info, made); });
}
int Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return create_from(
      comm, made, kFromParent, [=] { check_group(comm, group); },
      [=] { return pmpi::Comm_create(comm, group, made); });
}
int Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return create_from(comm, made, kFromParent, [=] { return pmpi::Comm_split(comm, color, key, made); });
}
int Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return create_from(
      comm, made, kFromParent, [=] { refuse_if(type != MPI_UNDEFINED && !library::is_split_type(type)); },
      [=] { return pmpi::Comm_split_type(comm, type, key, info, made); });
}
int Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
                MPI_Comm* made) {
  return create_from(
      comm, made, kFromParent, [=] { check_grid(comm, ndims, dims, periods); },
      [=] { return pmpi::Cart_create(comm, ndims, dims, periods, reorder, made); });
}
int Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* made) {
  return create_from(
      comm, made, kFromParent,
      [=] {
        refuse_if(topology_of(comm) != MPI_CART);
        int dimensions = 0;  // of a grid without any nothing is to be said
        pmpi::Cartdim_get(comm, &dimensions);
        refuse_if(dimensions > 0 && remain == nullptr);
      },
      [=] { return pmpi::Cart_sub(comm, remain, made); });
}
int Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                 MPI_Comm* made) {
  return create_from(
      comm, made, kFromParent, [=] { check_graph(comm, nodes, index, edges); },
      [=] { return pmpi::Graph_create(comm, nodes, index, edges, reorder, made); });
}
int Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info info, int reorder,
                      MPI_Comm* made) {
  return create_from(
      comm, made, kFromParent,
      [=] { check_distributed_graph(comm, n, sources, degrees, destinations, weights); },
      [=] {
        return pmpi::Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder, made);
      });
}
int Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int sourceweights[],
                               int outdegree, const int destinations[], const int destweights[],
                               MPI_Info info, int reorder, MPI_Comm* made) {
  const auto check = [=] {
    refuse_if(is_intercommunicator(comm));
    check_neighbors(indegree, sources, sourceweights);
    check_neighbors(outdegree, destinations, destweights);
  };
  return create_from(comm, made, kFromParent, check, [=] {
    return pmpi::Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree, destinations,
                                            destweights, info, reorder, made);
  });
}
int Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* made) {
  return create_from(
      comm, made, kMerge, [=] { refuse_if(!is_intercommunicator(comm)); },
      [=] { return pmpi::Intercomm_merge(comm, high, made); });
}

int Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return create_later(comm, made, request, [=](MPI_Request* r) { return pmpi::Comm_idup(comm, made, r); });
}
int Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  return create_later(comm, made, request,
                      [=](MPI_Request* r) { return pmpi::Comm_idup_with_info(comm, info, made, r); });
}

/// Only the group takes part: it synchronises on the new communicator, known to the simulator before it
/// exists.
int Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  Communicator* known = communicator(comm);
  int me = MPI_UNDEFINED;
  refuse_if(!is_group(group));
  pmpi::Group_rank(group, &me);
  if (known == nullptr || me == MPI_UNDEFINED) {
    const UnmodelledScope scope{current_call()};
    return pmpi::Comm_create_group(comm, group, tag, made);
  }
  Call call;
  const std::uint64_t creation = kFromGroup + (static_cast<std::uint64_t>(tag) << 8);
  std::shared_ptr<Communicator> future = call.rt.communicators.make(world_ranks(group), *known, creation);
  call.rt.line.define(*future);
  const int code = synchronize(call, *future, [&] {
    return call.unlocked([=] { return pmpi::Comm_create_group(comm, group, tag, made); });
  });
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL) call.rt.communicators.adopt(*made, std::move(future));
  return code;
}

int Intercomm_create(MPI_Comm local, int local_leader, MPI_Comm peer, int remote_leader, int tag,
                     MPI_Comm* made) {
  const auto create = [=] {
    return pmpi::Intercomm_create(local, local_leader, peer, remote_leader, tag, made);
  };
  Communicator* known = communicator(local);
  if (known == nullptr || known->inter) return connect_unseen(made, create);
  refuse_if(local_leader < 0 || local_leader >= known->members());
  const bool leads = local_leader == known->my_index;
  Communicator* between = leads ? communicator(peer) : nullptr;
  if (between != nullptr)
    refuse_if(remote_leader < 0 || static_cast<std::size_t>(remote_leader) >= between->peers().size());
  Leaders leaders;
  if (between != nullptr) {
    leaders.origin = {*between, static_cast<std::uint64_t>(tag)};
    leaders.other = between->world(remote_leader).value;
  }
  return connect_groups(known->local, *known, leaders, made, create);
}

int Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler,
                           MPI_Comm* made) {
  const auto create = [=] { return pmpi::Comm_create_from_group(group, tag, info, handler, made); };
  const std::vector<std::int32_t> members = members_in_sight(group, tag);
  if (members.empty()) return create_unseen(made, kFromGroup, create);
  Call call;
  std::shared_ptr<Communicator> future =
      call.rt.communicators.make(members, Origin{hash_of(tag)}, kFromGroup);
  call.rt.line.define(*future);
  const int code = synchronize(call, *future, [&] { return call.unlocked(create); });
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL) call.rt.communicators.adopt(*made, std::move(future));
  return code;
}

int Intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote, int remote_leader,
                                 const char* tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm* made) {
  const auto create = [=] {
    return pmpi::Intercomm_create_from_groups(local, local_leader, remote, remote_leader, tag, info, handler,
                                              made);
  };
  const std::vector<std::int32_t> members = members_in_sight(local, tag);
  const auto leader = static_cast<std::size_t>(local_leader);
  if (local_leader < 0 || leader >= members.size()) return connect_unseen(made, create);
  Leaders leaders;
  if (members[leader] == runtime()->me().value) {
    const std::vector<std::int32_t> others = members_in_sight(remote, tag);
    if (remote_leader >= 0 && static_cast<std::size_t>(remote_leader) < others.size()) {
      leaders.origin = Origin{hash_of(tag)};
      leaders.other = others[static_cast<std::size_t>(remote_leader)];
    }
  }
  return connect_groups(members, Origin{hash_of(tag)}, leaders, made, create);
}

int Comm_free(MPI_Comm* comm) {
  Communicator* known = communicator(*comm);
  if (known == nullptr) return pmpi::Comm_free(comm);
  Call call;
  const std::shared_ptr<Communicator> kept = known->shared_from_this();
  if (kept->is_needed()) {  // by receives that are still to be posted, or collectives: MPI frees it after the last
    kept->free_later = true;
    call.rt.communicators.forget(*comm);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  const MPI_Comm handle = *comm;
  call.rt.communicators.forget(
      handle);  // first: another thread may get the same handle as soon as MPI has freed it
  const int code = call.unlocked([=] { return pmpi::Comm_free(comm); });
  if (code != MPI_SUCCESS) call.rt.communicators.adopt(handle, kept);
  return code;
}

int Comm_disconnect(MPI_Comm* comm) {
  Communicator* known = communicator(*comm);
  if (known == nullptr) return pmpi::Comm_disconnect(comm);
  refuse_if(*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF);
  Call call;
  const MPI_Comm handle = *comm;
  const int code = synchronize(call, *known, [&] {
    call.poll_native([&] {
      call.rt.background.progress(64);
      return !call.rt.background.has_any();
    });
    return call.unlocked([=] { return pmpi::Comm_disconnect(comm); });
  });
  if (code == MPI_SUCCESS) call.rt.communicators.forget(handle);
  return code;
}

/// It waits for nobody: buffered messages have left (point_to_point.cpp).
int Buffer_detach(void* buffer, int* size) {
  Call call;
  return call.unlocked([=] { return pmpi::Buffer_detach(buffer, size); });
}
int Buffer_detach(void* buffer, MPI_Count* size) {
  Call call;
  return call.unlocked([=] { return pmpi::Buffer_detach(buffer, size); });
}

}  // namespace handlers
}  // namespace nplus1::stubs
