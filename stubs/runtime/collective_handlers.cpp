// The collectives of MPI 4.0, chapter 6, each described once (see collective_forms.hpp).
//
// A rank that receives nothing from others leaves when its virtual time says so: its send data then goes into
// a private copy (research: natively the root of a 32 KiB Bcast stays inside until its late peer enters).
#include <algorithm>
#include <numeric>

#include "stubs/runtime/collective_forms.hpp"
#include "stubs/runtime/own_block.hpp"

namespace nplus1::stubs {

Collective describe(CollectiveKind kind, MPI_Comm comm, bool synchronises) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  Collective c;
  c.kind = kind;
  c.comm = rt.communicators.find(comm);
  c.synchronises =
      synchronises && !(c.comm != nullptr && c.comm->inter);  // a group may leave before its last
  return c;
}

namespace {

using Keep = std::vector<std::shared_ptr<void>>;

PrivateCopy& keep_copy(Keep& keep, const void* buffer, MPI_Count count, MPI_Datatype type,
                       bool packable = true) {
  auto copy = std::make_shared<PrivateCopy>(buffer, count, type, packable);
  keep.push_back(copy);
  return *copy;
}

bool is_me(const Collective& c, int rank) {
  return c.comm != nullptr && !c.comm->inter && rank == c.comm->my_index;
}
bool intra(const Collective& c) {
  return c.comm != nullptr && !c.comm->inter;
}
bool inter(const Collective& c) {
  return c.comm != nullptr && c.comm->inter;
}
/// Whom the lists of a v-form are about: the other group of an intercommunicator.
std::size_t members(const Collective& c) {
  return c.comm->peers().size();
}

/// Between groups: the rest of the root's group, none of whose arguments count.
bool takes_no_part(const Collective& c) {
  return inter(c) && c.root == MPI_PROC_NULL;
}
/// Between groups: the root, which sends or receives the other group's data.
bool is_intercomm_root(const Collective& c) {
  return inter(c) && c.root == MPI_ROOT;
}

template <class C>
std::vector<std::int64_t> bytes_each(const Collective& c, const C counts[], MPI_Datatype type) {
  std::vector<std::int64_t> sizes;
  const MPI_Count one = payload_bytes(1, type);
  for (std::size_t i = 0; i < members(c); ++i) sizes.push_back(one * counts[i]);
  return sizes;
}

template <class C>
std::vector<std::int64_t> bytes_each(const Collective& c, const C counts[], const MPI_Datatype types[]) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < members(c); ++i) sizes.push_back(payload_bytes(counts[i], types[i]));
  return sizes;
}

/// A private copy of what the blocks of a v-form span; the result stands for `buffer`.
template <class C, class D>
const void* copy_blocks(Keep& keep, const void* buffer, std::size_t blocks, const C counts[],
                        const D displacements[], MPI_Datatype type) {
  MPI_Count begin = 0;
  MPI_Count end = 0;
  bool any = false;
  for (std::size_t i = 0; i < blocks; ++i) {
    if (counts[i] <= 0) continue;
    const MPI_Count first{displacements[i]};
    begin = any ? std::min(begin, first) : first;
    end = any ? std::max(end, first + MPI_Count{counts[i]}) : first + MPI_Count{counts[i]};
    any = true;
  }
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  pmpi::Type_get_extent_x(type, &lower, &extent);
  PrivateCopy& mine =
      keep_copy(keep, static_cast<const std::byte*>(buffer) + extent * begin, end - begin, type, false);
  return static_cast<const std::byte*>(mine.buffer()) - extent * begin;
}

/// Bcast and Scatter natively: everything straight from the root, as MPICH's Iscatterv does it. Who receives
/// then waits for the root alone, and leaves when its virtual time says so whatever algorithm is simulated:
/// MPI's own Ibcast of a large vector keeps everybody inside until the last member has entered, who may be
/// polling for what one of them does next. Block i begins `stride` elements after the one before it. Counts
/// are 0 where there are no bytes: Iscatterv skips the message of a block by its count, on each side by its
/// own.
int from_root(const void* blocks, MPI_Count count, MPI_Count stride, MPI_Datatype type, void* mine,
              MPI_Count my_count, MPI_Datatype my_type, int root, std::size_t members, MPI_Comm comm,
              MPI_Request* request, Keep& keep) {
  auto counts = std::make_shared<std::vector<MPI_Count>>(members, count);
  auto places = std::make_shared<std::vector<MPI_Aint>>(members);
  for (std::size_t i = 0; i < members; ++i)
    (*places)[i] = static_cast<MPI_Aint>(stride * static_cast<MPI_Count>(i));
  keep.push_back(counts);
  keep.push_back(places);
  return pmpi::Iscatterv(blocks, counts->data(), places->data(), type, mine, my_count, my_type, root, comm,
                         request);
}

/// What a rank contributes to a collective in which MPI_IN_PLACE makes the receive side its data.
Payload contribution(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, const void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype) {
  if (sendbuf == MPI_IN_PLACE) return {recvbuf, recvcount, recvtype};
  return {sendbuf, sendcount, sendtype};
}

template <class C>
MPI_Count sum(const Collective& c, const C counts[]) {
  return std::accumulate(counts, counts + members(c), MPI_Count{0});
}

template <class C, class D>
Collective barrier(MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kBarrier, comm, true);
  c.blocking = [=] { return pmpi::Barrier(comm); };
  c.start = [=](MPI_Request* request, Keep&) { return pmpi::Ibarrier(comm, request); };
  return c;
}

template <class C, class D>
Collective bcast(void* buffer, C count, MPI_Datatype type, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kBcast, comm, false);
  c.root = root;
  if (!takes_no_part(c)) {
    c.data.shown = {buffer, count, type};
    c.size = payload_bytes(count, type);
  }
  c.leaves_early = is_me(c, root);
  c.blocking = [=] { return pmpi::Bcast(buffer, count, type, root, comm); };
  const std::size_t receivers = c.comm == nullptr ? 0 : members(c);
  const bool at_root = is_me(c, root);
  const MPI_Count n = c.size == 0 ? 0 : count;
  c.start = [=](MPI_Request* request, Keep& keep) {
    if (receivers == 0) return pmpi::Ibcast(buffer, count, type, root, comm, request);
    if (!at_root)  // also the root of an intercommunicator, which waits
      return from_root(buffer, n, 0, type, buffer, n, type, root, receivers, comm, request, keep);
    PrivateCopy& mine = keep_copy(keep, buffer, n, type);
    return from_root(mine.buffer(), n == 0 ? 0 : mine.count(), 0, mine.type(), MPI_IN_PLACE, 0, mine.type(),
                     root, receivers, comm, request, keep);
  };
  return c;
}

template <class C, class D>
Collective gather(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf, C recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kGather, comm, false);
  c.root = root;
  const bool by_recvcount = sendbuf == MPI_IN_PLACE || is_intercomm_root(c);
  if (!takes_no_part(c))
    c.size = by_recvcount ? payload_bytes(recvcount, recvtype) : payload_bytes(sendcount, sendtype);
  if (!takes_no_part(c) && !is_intercomm_root(c))
    c.data.shown = contribution(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
  c.leaves_early = intra(c) && !is_me(c, root);
  c.blocking = [=] {
    return pmpi::Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  };
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    if (!early)
      return pmpi::Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
    PrivateCopy& mine = keep_copy(keep, sendbuf, sendcount, sendtype);
    return pmpi::Igather(mine.buffer(), mine.count(), mine.type(), recvbuf, MPI_Count{recvcount}, recvtype,
                         root, comm, request);
  };
  return c;
}

template <class C, class D>
Collective gatherv(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const C recvcounts[], const D displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kGatherv, comm, false);
  c.root = root;
  const bool contributes = !takes_no_part(c) && !is_intercomm_root(c);
  if (contributes && sendbuf != MPI_IN_PLACE) c.data.shown = {sendbuf, sendcount, sendtype};
  if (is_me(c, root) || is_intercomm_root(c)) c.sizes = bytes_each(c, recvcounts, recvtype);
  if (sendbuf == MPI_IN_PLACE)
    c.size = intra(c) ? payload_bytes(recvcounts[root], recvtype) : 0;
  else if (contributes)
    c.size = payload_bytes(sendcount, sendtype);
  c.leaves_early = intra(c) && !is_me(c, root);
  c.blocking = [=] {
    return pmpi::Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
  };
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    if (!early)
      return pmpi::Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
                            request);
    PrivateCopy& mine = keep_copy(keep, sendbuf, sendcount, sendtype);
    return pmpi::Igatherv(mine.buffer(), static_cast<C>(mine.count()), mine.type(), recvbuf, recvcounts,
                          displs, recvtype, root, comm, request);
  };
  return c;
}

template <class C, class D>
Collective scatter(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf, C recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kScatter, comm, false);
  c.root = root;
  if (!takes_no_part(c)) {
    const bool gives = is_me(c, root) || is_intercomm_root(c);
    c.data.shown = gives ? Payload{sendbuf, sendcount, sendtype} : Payload{recvbuf, recvcount, recvtype};
    c.size = gives ? payload_bytes(sendcount, sendtype) : payload_bytes(recvcount, recvtype);
  }
  c.leaves_early = is_me(c, root) && can_copy_own_block(sendbuf, MPI_Count{sendcount} * root, sendcount,
                                                        sendtype, recvbuf, recvcount, recvtype);
  c.blocking = [=] {
    return pmpi::Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  };
  const MPI_Count blocks = c.comm == nullptr ? 0 : static_cast<MPI_Count>(members(c));
  const MPI_Count given = c.size == 0 ? 0 : sendcount;
  const MPI_Count taken = c.size == 0 ? 0 : recvcount;
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    if (blocks == 0)
      return pmpi::Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
    const auto members = static_cast<std::size_t>(blocks);
    if (!early)
      return from_root(sendbuf, given, sendcount, sendtype, recvbuf, taken, recvtype, root, members, comm,
                       request, keep);
    if (recvbuf != MPI_IN_PLACE) {
      const int code = copy_own_block(sendbuf, MPI_Count{sendcount} * root, sendcount, sendtype, recvbuf,
                                      recvcount, recvtype);
      if (code != MPI_SUCCESS) return code;
    }
    PrivateCopy& mine = keep_copy(keep, sendbuf, sendcount * blocks, sendtype, false);
    return from_root(mine.buffer(), given, sendcount, sendtype, MPI_IN_PLACE, taken, recvtype, root, members,
                     comm, request, keep);
  };
  return c;
}

template <class C, class D>
Collective scatterv(const void* sendbuf, const C sendcounts[], const D displs[], MPI_Datatype sendtype,
                    void* recvbuf, C recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kScatterv, comm, false);
  c.root = root;
  const bool receives = !takes_no_part(c) && !is_intercomm_root(c);
  if (receives && recvbuf != MPI_IN_PLACE) c.data.shown = {recvbuf, recvcount, recvtype};
  if (is_me(c, root) || is_intercomm_root(c)) c.sizes = bytes_each(c, sendcounts, sendtype);
  if (receives)
    c.size = is_me(c, root) ? c.sizes[static_cast<std::size_t>(root)] : payload_bytes(recvcount, recvtype);
  c.leaves_early = is_me(c, root) && can_copy_own_block(sendbuf, displs[root], sendcounts[root], sendtype,
                                                        recvbuf, recvcount, recvtype);
  c.blocking = [=] {
    return pmpi::Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
  };
  const std::size_t blocks = c.comm == nullptr ? 0 : members(c);
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    if (!early)
      return pmpi::Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
                             request);
    if (recvbuf != MPI_IN_PLACE) {
      const int code =
          copy_own_block(sendbuf, displs[root], sendcounts[root], sendtype, recvbuf, recvcount, recvtype);
      if (code != MPI_SUCCESS) return code;
    }
    const void* mine = copy_blocks(keep, sendbuf, blocks, sendcounts, displs, sendtype);
    auto counts = std::make_shared<std::vector<C>>(sendcounts, sendcounts + blocks);
    auto places = std::make_shared<std::vector<D>>(displs, displs + blocks);
    keep.push_back(counts);
    keep.push_back(places);
    return pmpi::Iscatterv(mine, counts->data(), places->data(), sendtype, MPI_IN_PLACE, recvcount, recvtype,
                           root, comm, request);
  };
  return c;
}

/// Between groups a block of the own group and one of the other may differ.
void set_blocks_of_groups(Collective& c, std::int64_t own, std::int64_t remote) {
  c.size = own;
  if (remote != own) c.sizes = {remote};
}

template <class C, class D>
Collective allgather(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf, C recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAllgather, comm, true);
  c.data.shown = contribution(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
  c.size = payload_bytes(recvcount, recvtype);
  if (inter(c)) set_blocks_of_groups(c, payload_bytes(sendcount, sendtype), c.size);
  c.blocking = [=] {
    return pmpi::Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  };
  return c;
}

template <class C, class D>
Collective allgatherv(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const C recvcounts[], const D displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAllgatherv, comm, true);
  if (sendbuf != MPI_IN_PLACE) c.data.shown = {sendbuf, sendcount, sendtype};
  if (c.comm != nullptr) {
    c.sizes = bytes_each(c, recvcounts, recvtype);
    c.size =
        inter(c) ? payload_bytes(sendcount, sendtype) : c.sizes[static_cast<std::size_t>(c.comm->my_index)];
  }
  c.blocking = [=] {
    return pmpi::Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                             request);
  };
  return c;
}

template <class C, class D>
Collective alltoall(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf, C recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAlltoall, comm, true);
  c.data.shown = contribution(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
  c.size = payload_bytes(recvcount, recvtype);
  if (inter(c)) set_blocks_of_groups(c, payload_bytes(sendcount, sendtype), c.size);
  c.blocking = [=] {
    return pmpi::Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
  };
  return c;
}

/// Bytes to each member, then bytes from each.
void set_exchange(Collective& c, std::vector<std::int64_t> out, const std::vector<std::int64_t>& in) {
  const auto me = static_cast<std::size_t>(c.comm->my_index);
  for (const std::int64_t bytes : out) c.size += bytes;
  bool receives = false;
  for (std::size_t i = 0; i < in.size(); ++i) receives = receives || (i != me && in[i] > 0);
  // Never c.synchronises: whether everybody sends me something is my own affair, and MPI does not match one
  // rank's blocking form with another's non-blocking one.
  c.leaves_early = !receives;
  c.sizes = std::move(out);
  c.sizes.insert(c.sizes.end(), in.begin(), in.end());
}

template <class C, class D>
Collective alltoallv(const void* sendbuf, const C sendcounts[], const D sdispls[], MPI_Datatype sendtype,
                     void* recvbuf, const C recvcounts[], const D rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAlltoallv, comm, false);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (intra(c))
    c.data.shown = in_place ? Payload{recvbuf, sum(c, recvcounts), recvtype}
                            : Payload{sendbuf, sum(c, sendcounts), sendtype};
  if (c.comm != nullptr)
    set_exchange(c, in_place ? bytes_each(c, recvcounts, recvtype) : bytes_each(c, sendcounts, sendtype),
                 bytes_each(c, recvcounts, recvtype));
  if (in_place || inter(c)) c.leaves_early = false;
  c.blocking = [=] {
    return pmpi::Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                           comm);
  };
  const std::size_t blocks = c.comm == nullptr ? 0 : members(c);
  const auto me = static_cast<std::size_t>(c.comm == nullptr ? 0 : c.comm->my_index);
  c.leaves_early = c.leaves_early &&
                   can_copy_own_block(sendbuf, sdispls[me], sendcounts[me], sendtype,
                                      block_at(recvbuf, rdispls[me], recvtype), recvcounts[me], recvtype);
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    if (!early)
      return pmpi::Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                              comm, request);
    // My own block goes through MPI_COMM_SELF at once; natively it becomes empty.
    const auto counts = std::make_shared<std::vector<C>>(sendcounts, sendcounts + blocks);
    const auto places = std::make_shared<std::vector<D>>(sdispls, sdispls + blocks);
    const auto nothing = std::make_shared<std::vector<C>>(blocks, C{0});
    const auto nowhere = std::make_shared<std::vector<D>>(blocks, D{0});
    for (const auto& p : {std::shared_ptr<void>{counts}, std::shared_ptr<void>{places},
                          std::shared_ptr<void>{nothing}, std::shared_ptr<void>{nowhere}})
      keep.push_back(p);
    const int code = copy_own_block(sendbuf, sdispls[me], sendcounts[me], sendtype,
                                    block_at(recvbuf, rdispls[me], recvtype), recvcounts[me], recvtype);
    if (code != MPI_SUCCESS) return code;
    (*counts)[me] = 0;
    const void* mine = copy_blocks(keep, sendbuf, blocks, counts->data(), sdispls, sendtype);
    return pmpi::Ialltoallv(mine, counts->data(), places->data(), sendtype, recvbuf, nothing->data(),
                            nowhere->data(), recvtype, comm, request);
  };
  return c;
}

template <class C, class D>
Collective alltoallw(const void* sendbuf, const C sendcounts[], const D sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const C recvcounts[], const D rdispls[],
                     const MPI_Datatype recvtypes[], MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAlltoallv, comm, false);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (c.comm != nullptr)
    set_exchange(c, in_place ? bytes_each(c, recvcounts, recvtypes) : bytes_each(c, sendcounts, sendtypes),
                 bytes_each(c, recvcounts, recvtypes));
  c.leaves_early = false;
  c.blocking = [=] {
    return pmpi::Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                           comm);
  };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                            comm, request);
  };
  return c;
}

template <class C, class D>
Collective reduce(const void* sendbuf, void* recvbuf, C count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kReduce, comm, false);
  c.root = root;
  if (!takes_no_part(c)) {
    if (!is_intercomm_root(c)) c.data.shown = {sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type};
    c.size = payload_bytes(count, type);
  }
  c.leaves_early = intra(c) && !is_me(c, root);
  c.blocking = [=] { return pmpi::Reduce(sendbuf, recvbuf, count, type, op, root, comm); };
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    if (!early) return pmpi::Ireduce(sendbuf, recvbuf, count, type, op, root, comm, request);
    PrivateCopy& mine = keep_copy(keep, sendbuf, count, type, false);
    return pmpi::Ireduce(mine.buffer(), recvbuf, count, type, op, root, comm, request);
  };
  return c;
}

template <class C, class D>
Collective allreduce(const void* sendbuf, void* recvbuf, C count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAllreduce, comm, true);
  c.data.shown = {sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type};
  c.size = payload_bytes(count, type);
  c.blocking = [=] { return pmpi::Allreduce(sendbuf, recvbuf, count, type, op, comm); };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Iallreduce(sendbuf, recvbuf, count, type, op, comm, request);
  };
  return c;
}

template <class C, class D>
Collective reduce_scatter_block(const void* sendbuf, void* recvbuf, C recvcount, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kReduceScatterBlock, comm, true);
  c.data.shown = {sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, recvcount, type};
  c.size = payload_bytes(recvcount, type);
  c.blocking = [=] { return pmpi::Reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm); };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ireduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm, request);
  };
  return c;
}

template <class C, class D>
Collective reduce_scatter(const void* sendbuf, void* recvbuf, const C recvcounts[], MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kReduceScatter, comm, true);
  if (intra(c)) c.data.shown = {sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, sum(c, recvcounts), type};
  if (c.comm != nullptr) {
    const std::int64_t one = payload_bytes(1, type);
    for (std::size_t i = 0; i < c.comm->local.size(); ++i) c.sizes.push_back(one * recvcounts[i]);
    c.size = c.sizes[static_cast<std::size_t>(c.comm->my_index)];
  }
  c.blocking = [=] { return pmpi::Reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm); };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ireduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm, request);
  };
  return c;
}

/// Rank 0 of a prefix reduction has its own contribution as result (Scan) or none (Exscan).
template <class C, bool kInclusive>
Collective prefix(CollectiveKind kind, const void* sendbuf, void* recvbuf, C count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm) {
  Collective c = describe(kind, comm, false);
  c.data.shown = {sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type};
  c.size = payload_bytes(count, type);
  c.leaves_early = is_me(c, 0) && (sendbuf == MPI_IN_PLACE ||
                                   can_copy_own_block(sendbuf, 0, count, type, recvbuf, count, type));
  const auto native = [=](const void* from, void* to, MPI_Request* request) {
    return kInclusive ? pmpi::Iscan(from, to, count, type, op, comm, request)
                      : pmpi::Iexscan(from, to, count, type, op, comm, request);
  };
  c.blocking = [=] {
    return kInclusive ? pmpi::Scan(sendbuf, recvbuf, count, type, op, comm)
                      : pmpi::Exscan(sendbuf, recvbuf, count, type, op, comm);
  };
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    if (!early) return native(sendbuf, recvbuf, request);
    const bool in_place = sendbuf == MPI_IN_PLACE;
    PrivateCopy& mine = keep_copy(keep, in_place ? recvbuf : sendbuf, count, type, false);
    PrivateCopy& result = keep_copy(keep, in_place ? recvbuf : sendbuf, count, type, false);
    if (kInclusive && !in_place) {
      const int code = copy_own_block(sendbuf, 0, count, type, recvbuf, count, type);
      if (code != MPI_SUCCESS) return code;
    }
    return native(mine.buffer(), result.buffer(), request);
  };
  return c;
}

template <class C, class D>
Collective scan(const void* sendbuf, void* recvbuf, C count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return prefix<C, true>(CollectiveKind::kScan, sendbuf, recvbuf, count, type, op, comm);
}

template <class C, class D>
Collective exscan(const void* sendbuf, void* recvbuf, C count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return prefix<C, false>(CollectiveKind::kExscan, sendbuf, recvbuf, count, type, op, comm);
}

}  // namespace

namespace handlers {

int Barrier(MPI_Comm comm) {
  return run(barrier<int, int>(comm));
}
int Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return start(barrier<int, int>(comm), request);
}
int Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return make_persistent(barrier<int, int>(comm), request,
                         [&] { return pmpi::Barrier_init(comm, info, request); });
}

#define NPLUS1_COLLECTIVES(C, D)                                                                           \
  NPLUS1_FORM(Bcast, Ibcast, bcast, C, D, (void* buf, C n, MPI_Datatype t, int root, MPI_Comm comm),       \
              (buf, n, t, root, comm))                                                                     \
  NPLUS1_FORM(Gather, Igather, gather, C, D,                                                               \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, int root, MPI_Comm comm), \
              (s, n, t, r, m, u, root, comm))                                                              \
  NPLUS1_FORM(Gatherv, Igatherv, gatherv, C, D,                                                            \
              (const void* s, C n, MPI_Datatype t, void* r, const C m[], const D at[], MPI_Datatype u,     \
               int root, MPI_Comm comm),                                                                   \
              (s, n, t, r, m, at, u, root, comm))                                                          \
  NPLUS1_FORM(Scatter, Iscatter, scatter, C, D,                                                            \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, int root, MPI_Comm comm), \
              (s, n, t, r, m, u, root, comm))                                                              \
  NPLUS1_FORM(Scatterv, Iscatterv, scatterv, C, D,                                                         \
              (const void* s, const C n[], const D at[], MPI_Datatype t, void* r, C m, MPI_Datatype u,     \
               int root, MPI_Comm comm),                                                                   \
              (s, n, at, t, r, m, u, root, comm))                                                          \
  NPLUS1_FORM(Allgather, Iallgather, allgather, C, D,                                                      \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),           \
              (s, n, t, r, m, u, comm))                                                                    \
  NPLUS1_FORM(Allgatherv, Iallgatherv, allgatherv, C, D,                                                   \
              (const void* s, C n, MPI_Datatype t, void* r, const C m[], const D at[], MPI_Datatype u,     \
               MPI_Comm comm),                                                                             \
              (s, n, t, r, m, at, u, comm))                                                                \
  NPLUS1_FORM(Alltoall, Ialltoall, alltoall, C, D,                                                         \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),           \
              (s, n, t, r, m, u, comm))                                                                    \
  NPLUS1_FORM(Alltoallv, Ialltoallv, alltoallv, C, D,                                                      \
              (const void* s, const C n[], const D from[], MPI_Datatype t, void* r, const C m[],           \
               const D to[], MPI_Datatype u, MPI_Comm comm),                                               \
              (s, n, from, t, r, m, to, u, comm))                                                          \
  NPLUS1_FORM(Alltoallw, Ialltoallw, alltoallw, C, D,                                                      \
              (const void* s, const C n[], const D from[], const MPI_Datatype t[], void* r, const C m[],   \
               const D to[], const MPI_Datatype u[], MPI_Comm comm),                                       \
              (s, n, from, t, r, m, to, u, comm))                                                          \
  NPLUS1_FORM(Reduce, Ireduce, reduce, C, D,                                                               \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm),           \
              (s, r, n, t, op, root, comm))                                                                \
  NPLUS1_FORM(Allreduce, Iallreduce, allreduce, C, D,                                                      \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),                     \
              (s, r, n, t, op, comm))                                                                      \
  NPLUS1_FORM(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter_block, C, D,                     \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),                     \
              (s, r, n, t, op, comm))                                                                      \
  NPLUS1_FORM(Reduce_scatter, Ireduce_scatter, reduce_scatter, C, D,                                       \
              (const void* s, void* r, const C n[], MPI_Datatype t, MPI_Op op, MPI_Comm comm),             \
              (s, r, n, t, op, comm))                                                                      \
  NPLUS1_FORM(Scan, Iscan, scan, C, D,                                                                     \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),                     \
              (s, r, n, t, op, comm))                                                                      \
  NPLUS1_FORM(Exscan, Iexscan, exscan, C, D,                                                               \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),                     \
              (s, r, n, t, op, comm))

NPLUS1_COLLECTIVES(int, int)
NPLUS1_COLLECTIVES(MPI_Count, MPI_Aint)

}  // namespace handlers
}  // namespace nplus1::stubs
