// Bcast, Gather(v) and Scatter(v) of MPI 4.0, chapter 6, each described once (collective_forms.hpp).
//
// A rank that receives nothing from others leaves when its virtual time says so: its send data then goes into
// a private copy (research: natively the root of a 32 KiB Bcast stays inside until its late peer enters).
#include <utility>

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/runtime/arguments/own_block.hpp"
#include "stubs/runtime/collectives/collective_arguments.hpp"
#include "stubs/runtime/collectives/collective_forms.hpp"

namespace nplus1::stubs {
namespace {

/// Bcast and Scatter natively: everything straight from the root, as MPICH's Iscatterv does it. Who receives
/// then waits for the root alone, and leaves when its virtual time says so whatever algorithm is simulated:
/// Blocks of `count` elements that begin `stride` elements after each other.
struct EqualBlocks {
  EqualBlocks(std::size_t members, MPI_Count count, MPI_Count stride)
      : counts(members, static_cast<library::Count>(count)), places(members) {
    for (std::size_t i = 0; i < members; ++i)
      places[i] = static_cast<library::Displacement>(stride * static_cast<MPI_Count>(i));
  }

  std::vector<library::Count> counts;
  std::vector<library::Displacement> places;
};

/// MPI's own Ibcast of a large vector keeps everybody inside until the last member has entered, who may be
/// polling for what one of them does next. Block i begins `stride` elements after the one before it. Counts
/// are 0 where there are no bytes: Iscatterv skips the message of a block by its count, on each side by its
/// own.
int from_root(const void* blocks, MPI_Count count, MPI_Count stride, MPI_Datatype type, void* mine,
              MPI_Count my_count, MPI_Datatype my_type, int root, std::size_t members, MPI_Comm comm,
              MPI_Request* request, Keep& keep) {
  const auto each = std::make_shared<EqualBlocks>(members, count, stride);
  keep.push_back(each);
  return pmpi::Iscatterv(blocks, each->counts.data(), each->places.data(), type, mine,
                         static_cast<library::Count>(my_count), my_type, root, comm, request);
}

/// At a root whose own block, of `c.size` bytes, is longer than what it receives that into. MPI's non-blocking forms then
/// fail before they have sent or received anything, at the root alone; its blocking ones, that most others are served.
bool cuts_off_its_own_block(const Collective& c, const void* passed, MPI_Count count, MPI_Datatype type) {
  return intra(c) && is_me(c, c.root) && passed != MPI_IN_PLACE && c.size > payload_bytes(count, type);
}

template <class C, class D>
Collective bcast(void* buffer, C count, MPI_Datatype type, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kBcast, comm, false);
  c.root = root;
  if (c.comm != nullptr) {
    check_root(c);
    if (!takes_no_part(c)) check_data(buffer, count, type);
  }
  if (!takes_no_part(c)) {
    c.data.shown = {buffer, count, type};
    c.size = payload_bytes(count, type);
  }
  c.leaves_early = is_me(c, root);
  if (intra(c) && !c.leaves_early) c.receives_exactly = static_cast<std::size_t>(c.size);
  c.blocking = [=] { return pmpi::Bcast(buffer, count, type, root, comm); };
  const std::size_t receivers = c.comm == nullptr ? 0 : members(c);
  const bool at_root = is_me(c, root);
  const MPI_Count n = c.size == 0 ? 0 : count;
  c.start = [=](MPI_Request* request, Keep& keep) {
    if (receivers == 0) return pmpi::Ibcast(buffer, count, type, root, comm, request);
    if (!at_root)  // also the root of an intercommunicator, which waits
      return from_root(buffer, n, 0, type, buffer, n, type, root, receivers, comm, request, keep);
    const PrivateCopy* mine = keep_copy(keep, buffer, n, type);
    if (mine == nullptr)
      return from_root(buffer, n, 0, type, MPI_IN_PLACE, 0, type, root, receivers, comm, request, keep);
    return from_root(mine->buffer(), n == 0 ? 0 : mine->count(), 0, mine->type(), MPI_IN_PLACE, 0,
                     mine->type(), root, receivers, comm, request, keep);
  };
  return c;
}

/// From the root to each, too: through the members of MPI's own tree data come only when these have started theirs.
template <class C>
int bcast_init(void* buffer, C count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
               MPI_Request* request) {
  Collective c = bcast<C, C>(buffer, count, type, root, comm);
  if (c.comm == nullptr || members(c) == 0)
    return make_persistent(std::move(c), request,
                           [&] { return pmpi::Bcast_init(buffer, count, type, root, comm, info, request); });
  const MPI_Count n = c.size == 0 ? 0 : count;
  const bool at_root = is_me(c, root);
  const auto each = std::make_shared<EqualBlocks>(members(c), n, 0);
  Keep keep;
  keep.push_back(each);
  return make_persistent(
      std::move(c), request,
      [&] {
        return pmpi::Scatterv_init(
            buffer, each->counts.data(), each->places.data(), type, at_root ? MPI_IN_PLACE : buffer,
            static_cast<library::Count>(at_root ? 0 : n), type, root, comm, info, request);
      },
      std::move(keep));
}

template <class C, class D>
Collective gather(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf, C recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kGather, comm, false, sendbuf);
  c.root = root;
  if (c.comm != nullptr) {
    check_root(c);
    const bool takes = is_me(c, root) || is_intercomm_root(c);
    if (takes) check_data(recvbuf, recvcount, recvtype);
    const bool gives = !takes_no_part(c) && !is_intercomm_root(c);
    if (gives && !(takes && sendbuf == MPI_IN_PLACE)) check_data(sendbuf, sendcount, sendtype);
  }
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
    const PrivateCopy* mine = early ? keep_copy(keep, sendbuf, sendcount, sendtype) : nullptr;
    if (mine == nullptr)
      return pmpi::Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
    return pmpi::Igather(mine->buffer(), mine->count(), mine->type(), recvbuf, MPI_Count{recvcount}, recvtype,
                         root, comm, request);
  };
  // Who has too little room for its own block has too little for those of the others, which are as long.
  if (cuts_off_its_own_block(c, sendbuf, recvcount, recvtype)) {
    c.own_block_is_cut_off = true;
    c.start_of_blocking = [=, each = c.size, all = members(c)](MPI_Request* request, Keep& keep) {
      const auto room = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(each) * all);
      keep.push_back(room);
      return pmpi::Igather(sendbuf, MPI_Count{sendcount}, sendtype, room->data(), MPI_Count{each}, MPI_BYTE,
                           root, comm, request);
    };
  }
  return c;
}

template <class C, class D>
Collective gatherv(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const C recvcounts[], const D displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kGatherv, comm, false, sendbuf);
  c.root = root;
  const bool contributes = !takes_no_part(c) && !is_intercomm_root(c);
  if (c.comm != nullptr) {
    check_root(c);
    const bool takes = is_me(c, root) || is_intercomm_root(c);
    if (takes) check_blocks(recvbuf, recvcounts, displs, recvtype, members(c));
    if (contributes && !(takes && sendbuf == MPI_IN_PLACE)) check_data(sendbuf, sendcount, sendtype);
  }
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
    const PrivateCopy* mine = early ? keep_copy(keep, sendbuf, sendcount, sendtype) : nullptr;
    if (mine == nullptr)
      return pmpi::Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
                            request);
    return pmpi::Igatherv(mine->buffer(), static_cast<C>(mine->count()), mine->type(), recvbuf, recvcounts,
                          displs, recvtype, root, comm, request);
  };
  if (contributes && is_me(c, root) && cuts_off_its_own_block(c, sendbuf, recvcounts[root], recvtype)) {
    c.own_block_is_cut_off = true;
    c.start_of_blocking = [=](MPI_Request* request, Keep&) {
      return pmpi::Igatherv(MPI_IN_PLACE, C{0}, recvtype, recvbuf, recvcounts, displs, recvtype, root, comm,
                            request);
    };
  }
  return c;
}

template <class C, class D>
Collective scatter(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf, C recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kScatter, comm, false, recvbuf);
  c.root = root;
  if (c.comm != nullptr) {
    check_root(c);
    const bool gives = is_me(c, root) || is_intercomm_root(c);
    if (gives) check_data(sendbuf, sendcount, sendtype);
    const bool takes = !takes_no_part(c) && !is_intercomm_root(c);
    if (takes && !(gives && recvbuf == MPI_IN_PLACE)) check_data(recvbuf, recvcount, recvtype);
  }
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
    if (blocks == 0 || !std::in_range<library::Displacement>(blocks * sendcount))
      return pmpi::Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request);
    const auto members = static_cast<std::size_t>(blocks);
    const PrivateCopy* mine = early ? keep_copy(keep, sendbuf, sendcount * blocks, sendtype, false) : nullptr;
    if (mine == nullptr)
      return from_root(sendbuf, given, sendcount, sendtype, recvbuf, taken, recvtype, root, members, comm,
                       request, keep);
    if (recvbuf != MPI_IN_PLACE) {
      const int code = copy_own_block(sendbuf, MPI_Count{sendcount} * root, sendcount, sendtype, recvbuf,
                                      recvcount, recvtype);
      if (code != MPI_SUCCESS) return code;
    }
    return from_root(mine->buffer(), given, sendcount, sendtype, MPI_IN_PLACE, taken, recvtype, root, members,
                     comm, request, keep);
  };
  if (cuts_off_its_own_block(c, recvbuf, recvcount, recvtype) &&
      std::in_range<library::Displacement>(blocks * sendcount)) {
    c.own_block_is_cut_off = true;
    c.start_of_blocking = [=](MPI_Request* request, Keep& keep) {
      copy_own_block(sendbuf, MPI_Count{sendcount} * root, sendcount, sendtype, recvbuf, recvcount, recvtype);
      return from_root(sendbuf, given, sendcount, sendtype, MPI_IN_PLACE, taken, recvtype, root,
                       static_cast<std::size_t>(blocks), comm, request, keep);
    };
  }
  return c;
}

template <class C, class D>
Collective scatterv(const void* sendbuf, const C sendcounts[], const D displs[], MPI_Datatype sendtype,
                    void* recvbuf, C recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kScatterv, comm, false, recvbuf);
  c.root = root;
  const bool receives = !takes_no_part(c) && !is_intercomm_root(c);
  if (c.comm != nullptr) {
    check_root(c);
    const bool gives = is_me(c, root) || is_intercomm_root(c);
    if (gives) check_blocks(sendbuf, sendcounts, displs, sendtype, members(c));
    if (receives && !(gives && recvbuf == MPI_IN_PLACE)) check_data(recvbuf, recvcount, recvtype);
  }
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
    const void* mine = early ? copy_blocks(keep, sendbuf, blocks, sendcounts, displs, sendtype) : nullptr;
    if (mine == nullptr)
      return pmpi::Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
                             request);
    if (recvbuf != MPI_IN_PLACE) {
      const int code =
          copy_own_block(sendbuf, displs[root], sendcounts[root], sendtype, recvbuf, recvcount, recvtype);
      if (code != MPI_SUCCESS) return code;
    }
    auto counts = std::make_shared<std::vector<C>>(sendcounts, sendcounts + blocks);
    auto places = std::make_shared<std::vector<D>>(displs, displs + blocks);
    keep.push_back(counts);
    keep.push_back(places);
    return pmpi::Iscatterv(mine, counts->data(), places->data(), sendtype, MPI_IN_PLACE, recvcount, recvtype,
                           root, comm, request);
  };
  if (receives && cuts_off_its_own_block(c, recvbuf, recvcount, recvtype)) {
    c.own_block_is_cut_off = library::kScattervChecksOwnBlock;
    c.start_of_blocking = [=](MPI_Request* request, Keep&) {
      copy_own_block(sendbuf, displs[root], sendcounts[root], sendtype, recvbuf, recvcount, recvtype);
      return pmpi::Iscatterv(sendbuf, sendcounts, displs, sendtype, MPI_IN_PLACE, recvcount, recvtype, root,
                             comm, request);
    };
  }
  return c;
}

}  // namespace

namespace handlers {

#define NPLUS1_COLLECTIVES(C, D)                                                                           \
  int Bcast(void* buf, C n, MPI_Datatype t, int root, MPI_Comm comm) {                                     \
    return run(bcast<C, D>(buf, n, t, root, comm));                                                        \
  }                                                                                                        \
  int Ibcast(void* buf, C n, MPI_Datatype t, int root, MPI_Comm comm, MPI_Request* request) {              \
    return start(bcast<C, D>(buf, n, t, root, comm), request);                                             \
  }                                                                                                        \
  int Bcast_init(void* buf, C n, MPI_Datatype t, int root, MPI_Comm comm, MPI_Info info,                   \
                 MPI_Request* request) {                                                                   \
    return bcast_init(buf, n, t, root, comm, info, request);                                               \
  }                                                                                                        \
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
              (s, n, at, t, r, m, u, root, comm))

NPLUS1_COLLECTIVES(int, int)
NPLUS1_COLLECTIVES(MPI_Count, MPI_Aint)
#undef NPLUS1_COLLECTIVES

}  // namespace handlers
}  // namespace nplus1::stubs
