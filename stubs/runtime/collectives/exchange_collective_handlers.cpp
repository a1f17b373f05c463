// Barrier, Allgather(v) and Alltoall(v, w) of MPI 4.0, chapter 6, each described once (collective_forms.hpp).
#include <algorithm>

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/runtime/arguments/own_block.hpp"
#include "stubs/runtime/collectives/collective_arguments.hpp"
#include "stubs/runtime/collectives/collective_forms.hpp"

namespace nplus1::stubs {
namespace {

template <class C, class D>
Collective barrier(MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kBarrier, comm, true);
  c.blocking = [=] { return pmpi::Barrier(comm); };
  c.start = [=](MPI_Request* request, Keep&) { return pmpi::Ibarrier(comm, request); };
  return c;
}

/// Between groups a block of the own group and one of the other may differ.
void set_blocks_of_groups(Collective& c, std::int64_t own, std::int64_t remote) {
  c.size = own;
  if (remote != own) c.sizes = {remote};
}

/// Between groups whose other side gives nothing a member has what it gets as soon as it has given its own: MPI's own form
/// waits for the rest of its group all the same.
bool empty(std::int64_t block) {
  return block == 0;
}

template <class C, class D>
Collective allgather(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf, C recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAllgather, comm, true, sendbuf);
  if (c.comm != nullptr) {
    check_data(recvbuf, recvcount, recvtype);
    if (!(intra(c) && sendbuf == MPI_IN_PLACE)) check_data(sendbuf, sendcount, sendtype);
    refuse_if(intra(c) && sendcount > 0 && sendcount == recvcount && sendtype == recvtype &&
              sendbuf == block_at(recvbuf, MPI_Count{recvcount} * c.comm->my_index, recvtype));
  }
  c.data.shown = contribution(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
  c.size = payload_bytes(recvcount, recvtype);
  c.leaves_early = inter(c) && empty(c.size);
  if (inter(c)) set_blocks_of_groups(c, payload_bytes(sendcount, sendtype), c.size);
  c.blocking = [=] {
    return pmpi::Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    const PrivateCopy* mine = early ? keep_copy(keep, sendbuf, sendcount, sendtype) : nullptr;
    if (mine == nullptr)
      return pmpi::Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
    return pmpi::Iallgather(mine->buffer(), mine->count(), mine->type(), recvbuf, MPI_Count{recvcount},
                            recvtype, comm, request);
  };
  return c;
}

template <class C, class D>
Collective allgatherv(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const C recvcounts[], const D displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAllgatherv, comm, true, sendbuf);
  if (c.comm != nullptr) {
    check_blocks(recvbuf, recvcounts, displs, recvtype, members(c));
    if (!(intra(c) && sendbuf == MPI_IN_PLACE)) check_data(sendbuf, sendcount, sendtype);
    const auto me = static_cast<std::size_t>(c.comm->my_index);
    refuse_if(intra(c) && sendcount > 0 && sendcount == recvcounts[me] && sendtype == recvtype &&
              sendbuf == block_at(recvbuf, displs[me], recvtype));
  }
  if (sendbuf != MPI_IN_PLACE) c.data.shown = {sendbuf, sendcount, sendtype};
  if (c.comm != nullptr) {
    c.sizes = bytes_each(c, recvcounts, recvtype);
    c.size =
        inter(c) ? payload_bytes(sendcount, sendtype) : c.sizes[static_cast<std::size_t>(c.comm->my_index)];
    c.leaves_early = inter(c) && std::all_of(c.sizes.begin(), c.sizes.end(), empty);
  }
  c.blocking = [=] {
    return pmpi::Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  };
  const std::size_t blocks = c.sizes.size();
  c.start = [=, early = c.leaves_early](MPI_Request* request, Keep& keep) {
    const PrivateCopy* mine = early ? keep_copy(keep, sendbuf, sendcount, sendtype) : nullptr;
    if (mine == nullptr)
      return pmpi::Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                               request);
    // The program's lists are its own again before MPI's form is complete.
    const auto counts = std::make_shared<std::vector<C>>(recvcounts, recvcounts + blocks);
    const auto places = std::make_shared<std::vector<D>>(displs, displs + blocks);
    keep.push_back(std::shared_ptr<void>{counts});
    keep.push_back(std::shared_ptr<void>{places});
    return pmpi::Iallgatherv(mine->buffer(), static_cast<C>(mine->count()), mine->type(), recvbuf,
                             counts->data(), places->data(), recvtype, comm, request);
  };
  return c;
}

template <class C, class D>
Collective alltoall(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf, C recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAlltoall, comm, true, sendbuf);
  if (c.comm != nullptr) {
    check_data(recvbuf, recvcount, recvtype);
    if (!(intra(c) && sendbuf == MPI_IN_PLACE)) check_data(sendbuf, sendcount, sendtype);
    refuse_if(intra(c) && sendcount > 0 && sendcount == recvcount && sendtype == recvtype &&
              sendbuf == recvbuf);
  }
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

template <class C>
std::int64_t bytes_of_block(const C counts[], MPI_Datatype type, std::size_t i) {
  return payload_bytes(counts[i], type);
}
template <class C>
std::int64_t bytes_of_block(const C counts[], const MPI_Datatype types[], std::size_t i) {
  return payload_bytes(counts[i], types[i]);
}

/// What a native form is told of `counts`: elements of a type without data are none where the library would send them to a
/// member that names none, and waits for no message.
template <class C>
const C* counts_of_data(Keep& keep, std::size_t blocks, const C counts[], MPI_Datatype type) {
  if (!library::kSendsElementsWithoutData || blocks == 0 || payload_bytes(1, type) != 0) return counts;
  const auto none = std::make_shared<std::vector<C>>(blocks, C{0});
  keep.push_back(std::shared_ptr<void>{none});
  return none->data();
}
template <class C>
const C* counts_of_data(Keep& keep, std::size_t blocks, const C counts[], const MPI_Datatype types[]) {
  if (!library::kSendsElementsWithoutData || blocks == 0) return counts;
  const auto of_data = std::make_shared<std::vector<C>>(counts, counts + blocks);
  for (std::size_t i = 0; i < blocks; ++i)
    if (bytes_of_block(counts, types, i) == 0) (*of_data)[i] = 0;
  keep.push_back(std::shared_ptr<void>{of_data});
  return of_data->data();
}

/// In place natively: from a copy, as not in place. MPI's own algorithm exchanges with one member after the other, also
/// where there is nothing to exchange, so that who is late for one of them keeps everybody.
template <class C, class D, class Type>
const void* copied_in_place(Keep& keep, const void* recvbuf, std::size_t blocks, const C counts[],
                            const D displacements[], Type types) {
  static constexpr char kNothing = 0;
  const void* copy = copy_blocks(keep, recvbuf, blocks, counts, displacements, types);
  keep.may_leave = false;  // it receives
  if (copy != nullptr) return copy;
  // Elements of a type without data are nothing either, and another member may have none of a type that has some: all
  // must take the same form.
  bool empty = true;
  for (std::size_t i = 0; i < blocks; ++i) empty = empty && bytes_of_block(counts, types, i) == 0;
  return empty ? &kNothing : MPI_IN_PLACE;  // or there is no memory for it
}

template <class C, class D>
Collective alltoallv(const void* sendbuf, const C sendcounts[], const D sdispls[], MPI_Datatype sendtype,
                     void* recvbuf, const C recvcounts[], const D rdispls[], MPI_Datatype recvtype,
                     MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAlltoallv, comm, false, sendbuf);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (c.comm != nullptr) {
    check_blocks(recvbuf, recvcounts, rdispls, recvtype, members(c), library::kExchangesRefuseBottom);
    if (!(in_place && intra(c)))
      check_blocks(sendbuf, sendcounts, sdispls, sendtype, members(c), library::kExchangesRefuseBottom);
  }
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
    const C* received = counts_of_data(keep, blocks, recvcounts, recvtype);
    if (in_place && blocks > 0)
      return pmpi::Ialltoallv(copied_in_place(keep, recvbuf, blocks, recvcounts, rdispls, recvtype), received,
                              rdispls, recvtype, recvbuf, received, rdispls, recvtype, comm, request);
    const C* sent = counts_of_data(keep, blocks, sendcounts, sendtype);
    // Without my own block.
    const auto counts = std::make_shared<std::vector<C>>();
    if (early) {
      counts->assign(sent, sent + blocks);
      (*counts)[me] = 0;
    }
    const void* mine =
        early ? copy_blocks(keep, sendbuf, blocks, counts->data(), sdispls, sendtype) : nullptr;
    if (mine == nullptr)
      return pmpi::Ialltoallv(sendbuf, sent, sdispls, sendtype, recvbuf, received, rdispls, recvtype, comm,
                              request);
    // My own block goes to myself at once; natively it becomes empty.
    const auto places = std::make_shared<std::vector<D>>(sdispls, sdispls + blocks);
    const auto nothing = std::make_shared<std::vector<C>>(blocks, C{0});
    const auto nowhere = std::make_shared<std::vector<D>>(blocks, D{0});
    for (const auto& p : {std::shared_ptr<void>{counts}, std::shared_ptr<void>{places},
                          std::shared_ptr<void>{nothing}, std::shared_ptr<void>{nowhere}})
      keep.push_back(p);
    const int code = copy_own_block(sendbuf, sdispls[me], sendcounts[me], sendtype,
                                    block_at(recvbuf, rdispls[me], recvtype), recvcounts[me], recvtype);
    if (code != MPI_SUCCESS) return code;
    return pmpi::Ialltoallv(mine, counts->data(), places->data(), sendtype, recvbuf, nothing->data(),
                            nowhere->data(), recvtype, comm, request);
  };
  return c;
}

template <class C, class D>
Collective alltoallw(const void* sendbuf, const C sendcounts[], const D sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const C recvcounts[], const D rdispls[],
                     const MPI_Datatype recvtypes[], MPI_Comm comm) {
  Collective c = describe(CollectiveKind::kAlltoallv, comm, false, sendbuf);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (c.comm != nullptr) {
    check_blocks(recvbuf, recvcounts, rdispls, recvtypes, members(c), library::kExchangesRefuseBottom);
    if (!(in_place && intra(c)))
      check_blocks(sendbuf, sendcounts, sdispls, sendtypes, members(c), library::kExchangesRefuseBottom);
  }
  if (c.comm != nullptr)
    set_exchange(c, in_place ? bytes_each(c, recvcounts, recvtypes) : bytes_each(c, sendcounts, sendtypes),
                 bytes_each(c, recvcounts, recvtypes));
  const std::size_t blocks = c.comm == nullptr ? 0 : members(c);
  c.leaves_early = false;
  c.empty_blocks_travel = inter(c);  // as in MPICH, which skips them in MPI_Ialltoallv alone
  c.blocking = [=] {
    return pmpi::Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                           comm);
  };
  c.start = [=](MPI_Request* request, Keep& keep) {
    const C* received = counts_of_data(keep, blocks, recvcounts, recvtypes);
    if (in_place && blocks > 0)
      return pmpi::Ialltoallw(copied_in_place(keep, recvbuf, blocks, recvcounts, rdispls, recvtypes),
                              received, rdispls, recvtypes, recvbuf, received, rdispls, recvtypes, comm,
                              request);
    return pmpi::Ialltoallw(sendbuf, counts_of_data(keep, blocks, sendcounts, sendtypes), sdispls, sendtypes,
                            recvbuf, received, rdispls, recvtypes, comm, request);
  };
  return c;
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

#define NPLUS1_COLLECTIVES(C, D)                                                                         \
  NPLUS1_FORM(Allgather, Iallgather, allgather, C, D,                                                    \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),         \
              (s, n, t, r, m, u, comm))                                                                  \
  NPLUS1_FORM(Allgatherv, Iallgatherv, allgatherv, C, D,                                                 \
              (const void* s, C n, MPI_Datatype t, void* r, const C m[], const D at[], MPI_Datatype u,   \
               MPI_Comm comm),                                                                           \
              (s, n, t, r, m, at, u, comm))                                                              \
  NPLUS1_FORM(Alltoall, Ialltoall, alltoall, C, D,                                                       \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),         \
              (s, n, t, r, m, u, comm))                                                                  \
  NPLUS1_FORM(Alltoallv, Ialltoallv, alltoallv, C, D,                                                    \
              (const void* s, const C n[], const D from[], MPI_Datatype t, void* r, const C m[],         \
               const D to[], MPI_Datatype u, MPI_Comm comm),                                             \
              (s, n, from, t, r, m, to, u, comm))                                                        \
  NPLUS1_FORM(Alltoallw, Ialltoallw, alltoallw, C, D,                                                    \
              (const void* s, const C n[], const D from[], const MPI_Datatype t[], void* r, const C m[], \
               const D to[], const MPI_Datatype u[], MPI_Comm comm),                                     \
              (s, n, from, t, r, m, to, u, comm))

NPLUS1_COLLECTIVES(int, int)
NPLUS1_COLLECTIVES(MPI_Count, MPI_Aint)
#undef NPLUS1_COLLECTIVES

}  // namespace handlers
}  // namespace nplus1::stubs
