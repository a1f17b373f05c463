// Reduce, Allreduce, Reduce_scatter(_block), Scan and Exscan of MPI 4.0, chapter 6, each described once
// (collective_forms.hpp).
#include "stubs/runtime/collective_arguments.hpp"
#include "stubs/runtime/collective_forms.hpp"
#include "stubs/runtime/own_block.hpp"

namespace nplus1::stubs {
namespace {

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

#define NPLUS1_COLLECTIVES(C, D)                                                                 \
  NPLUS1_FORM(Reduce, Ireduce, reduce, C, D,                                                     \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm), \
              (s, r, n, t, op, root, comm))                                                      \
  NPLUS1_FORM(Allreduce, Iallreduce, allreduce, C, D,                                            \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),           \
              (s, r, n, t, op, comm))                                                            \
  NPLUS1_FORM(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter_block, C, D,           \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),           \
              (s, r, n, t, op, comm))                                                            \
  NPLUS1_FORM(Reduce_scatter, Ireduce_scatter, reduce_scatter, C, D,                             \
              (const void* s, void* r, const C n[], MPI_Datatype t, MPI_Op op, MPI_Comm comm),   \
              (s, r, n, t, op, comm))                                                            \
  NPLUS1_FORM(Scan, Iscan, scan, C, D,                                                           \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),           \
              (s, r, n, t, op, comm))                                                            \
  NPLUS1_FORM(Exscan, Iexscan, exscan, C, D,                                                     \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),           \
              (s, r, n, t, op, comm))

NPLUS1_COLLECTIVES(int, int)
NPLUS1_COLLECTIVES(MPI_Count, MPI_Aint)

}  // namespace handlers
}  // namespace nplus1::stubs
