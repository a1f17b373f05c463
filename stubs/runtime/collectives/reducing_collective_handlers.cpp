// Reduce, Allreduce, Reduce_scatter(_block), Scan and Exscan of MPI 4.0, chapter 6, each described once
// (collective_forms.hpp).
#include "stubs/library/library_of_mpi.hpp"
#include "stubs/runtime/arguments/own_block.hpp"
#include "stubs/runtime/collectives/collective_arguments.hpp"
#include "stubs/runtime/collectives/collective_forms.hpp"

namespace nplus1::stubs {
namespace {

/// Whether one can see in the result in which order operands were combined. All members have the same operation and type.
bool order_shows(MPI_Datatype type, MPI_Op op) {
  for (const MPI_Op exact :
       {MPI_MAX, MPI_MIN, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC})
    if (op == exact) return false;
  if (op != MPI_SUM && op != MPI_PROD) return true;
  for (const MPI_Datatype exact :
       {MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
        MPI_INT32_T, MPI_INT64_T, MPI_UINT32_T, MPI_UINT64_T, MPI_INTEGER})
    if (type == exact) return false;
  return true;
}

bool has_to_block(const Collective& c, MPI_Datatype type, MPI_Op op) {
  return library::kNonBlockingFormsReduceOtherwise && intra(c) && order_shows(type, op);
}

/// The vectors of a reduction in which everybody gets a result.
void check_vectors(const Collective& c, const void* sendbuf, const void* recvbuf, MPI_Count sent,
                   MPI_Count got, MPI_Datatype type, MPI_Op op) {
  if (c.comm == nullptr) return;
  check_data(recvbuf, got, type);
  if (!(intra(c) && sendbuf == MPI_IN_PLACE)) check_data(sendbuf, sent, type);
  check_operation(type, op);
  refuse_if(intra(c) && sent > 0 && sendbuf == recvbuf);
}

template <class C, class D>
Collective reduce(const void* sendbuf, void* recvbuf, C count, MPI_Datatype type, MPI_Op op, int root,
                  MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kReduce, comm, false, sendbuf);
  c.root = root;
  if (c.comm != nullptr) {
    check_root(c);
    const bool takes = is_me(c, root) || is_intercomm_root(c);
    if (takes) check_data(recvbuf, count, type);
    const bool gives = !takes_no_part(c) && !is_intercomm_root(c);
    if (gives && !(takes && sendbuf == MPI_IN_PLACE)) check_data(sendbuf, count, type);
    if (!takes_no_part(c)) check_operation(type, op);
    refuse_if(takes && intra(c) && count > 0 && sendbuf == recvbuf);
  }
  if (!takes_no_part(c)) {
    if (!is_intercomm_root(c)) c.data.shown = {sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type};
    c.size = payload_bytes(count, type);
  }
  c.leaves_early = intra(c) && !is_me(c, root);
  c.has_to_block = has_to_block(c, type, op);
  c.blocking = [=] { return pmpi::Reduce(sendbuf, recvbuf, count, type, op, root, comm); };
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    const PrivateCopy* mine = early ? keep_copy(keep, sendbuf, count, type, false) : nullptr;
    return pmpi::Ireduce(mine == nullptr ? sendbuf : mine->buffer(), recvbuf, count, type, op, root, comm,
                         request);
  };
  return c;
}

template <class C, class D>
Collective allreduce(const void* sendbuf, void* recvbuf, C count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAllreduce, comm, true, sendbuf);
  check_vectors(c, sendbuf, recvbuf, count, count, type, op);
  c.data.shown = {sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type};
  c.size = payload_bytes(count, type);
  c.runs_the_programs_operation = !library::is_builtin(op);
  c.blocking = [=] { return pmpi::Allreduce(sendbuf, recvbuf, count, type, op, comm); };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Iallreduce(sendbuf, recvbuf, count, type, op, comm, request);
  };
  return c;
}

template <class C, class D>
Collective reduce_scatter_block(const void* sendbuf, void* recvbuf, C recvcount, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kReduceScatterBlock, comm, true, sendbuf);
  check_vectors(c, sendbuf, recvbuf, recvcount, recvcount, type, op);
  c.data.shown = {sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, recvcount, type};
  c.size = payload_bytes(recvcount, type);
  c.runs_the_programs_operation = !library::is_builtin(op);
  c.blocking = [=] { return pmpi::Reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm); };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ireduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm, request);
  };
  return c;
}

/// Who has an empty block receives nothing, and in virtual time leaves before others have entered (the algorithms skip
/// what is empty), where MPI's own forms wait for all. All members know whether there is one, so that all take the same form.
template <class C, class D>
Collective reduce_scatter(const void* sendbuf, void* recvbuf, const C recvcounts[], MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kReduceScatter, comm, true, sendbuf);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const std::size_t blocks = c.comm == nullptr ? 0 : c.comm->local.size();
  MPI_Count total = 0;
  if (c.comm != nullptr) {
    refuse_if(recvcounts == nullptr || *std::min_element(recvcounts, recvcounts + blocks) < 0);
    total = std::accumulate(recvcounts, recvcounts + blocks, MPI_Count{0});
    check_vectors(c, sendbuf, recvbuf, total, recvcounts[c.comm->my_index], type, op);
    c.leaves_early = recvcounts[c.comm->my_index] == 0;
    if (*std::min_element(recvcounts, recvcounts + blocks) == 0) c.synchronises = false;
  }
  if (intra(c)) c.data.shown = {in_place ? recvbuf : sendbuf, total, type};
  if (c.comm != nullptr) {
    const std::int64_t one = payload_bytes(1, type);
    for (std::size_t i = 0; i < blocks; ++i) c.sizes.push_back(one * recvcounts[i]);
    c.size = std::accumulate(c.sizes.begin(), c.sizes.end(), std::int64_t{0});
  }
  c.has_to_block = has_to_block(c, type, op);
  c.blocking = [=] { return pmpi::Reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm); };
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    const PrivateCopy* mine =
        early ? keep_copy(keep, in_place ? recvbuf : sendbuf, total, type, false) : nullptr;
    if (mine == nullptr) return pmpi::Ireduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm, request);
    const auto counts = std::make_shared<std::vector<C>>(recvcounts, recvcounts + blocks);
    keep.push_back(counts);
    return pmpi::Ireduce_scatter(mine->buffer(), recvbuf, counts->data(), type, op, comm, request);
  };
  return c;
}

/// Rank 0 of a prefix reduction has its own contribution as result (Scan) or none (Exscan).
template <class C, bool kInclusive>
Collective prefix(CollectiveKind kind, const void* sendbuf, void* recvbuf, C count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm) {
  Collective c = describe(kind, comm, false, sendbuf);
  check_vectors(c, sendbuf, recvbuf, count, count, type, op);
  c.data.shown = {sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, type};
  c.size = payload_bytes(count, type);
  c.leaves_early = is_me(c, 0) && (sendbuf == MPI_IN_PLACE ||
                                   can_copy_own_block(sendbuf, 0, count, type, recvbuf, count, type));
  const auto native = [=](const void* from, void* to, MPI_Request* request) {
    return kInclusive ? pmpi::Iscan(from, to, count, type, op, comm, request)
                      : pmpi::Iexscan(from, to, count, type, op, comm, request);
  };
  c.has_to_block = has_to_block(c, type, op);
  c.blocking = [=] {
    return kInclusive ? pmpi::Scan(sendbuf, recvbuf, count, type, op, comm)
                      : pmpi::Exscan(sendbuf, recvbuf, count, type, op, comm);
  };
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    const bool in_place = sendbuf == MPI_IN_PLACE;
    const void* own = in_place ? recvbuf : sendbuf;
    const PrivateCopy* mine = early ? keep_copy(keep, own, count, type, false) : nullptr;
    PrivateCopy* result = mine == nullptr ? nullptr : keep_copy(keep, own, count, type, false);
    keep.may_leave = result != nullptr;
    if (result == nullptr) return native(sendbuf, recvbuf, request);
    if (kInclusive && !in_place) {
      const int code = copy_own_block(sendbuf, 0, count, type, recvbuf, count, type);
      if (code != MPI_SUCCESS) return code;
    }
    return native(mine->buffer(), result->buffer(), request);
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
#undef NPLUS1_COLLECTIVES

}  // namespace handlers
}  // namespace nplus1::stubs
