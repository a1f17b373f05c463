// Neighbourhood collectives (MPI 4.0, section 8.6): send to every destination, receive from every source of
// the process topology.
#include <algorithm>
#include <numeric>

#include "stubs/library/library_of_mpi.hpp"
#include "stubs/runtime/collectives/collective_arguments.hpp"
#include "stubs/runtime/collectives/collective_forms.hpp"
#include "stubs/runtime/communicators/topology_neighbors.hpp"

namespace nplus1::stubs {
namespace {

/// The extension of docs/formats/events.md: numbers of sources and destinations, their member indices and,
/// where destinations get different amounts, the bytes to each. `bytes_to(i)` goes to the i-th destination.
/// `check(out, in)` holds the data against the numbers of destinations and sources.
template <class Check, class BytesTo>
Collective describe_exchange(CollectiveKind kind, MPI_Comm comm, Check check, BytesTo bytes_to) {
  Collective c = describe(kind, comm, false);
  if (c.comm == nullptr) return c;
  int topology = MPI_UNDEFINED;
  pmpi::Topo_test(comm, &topology);
  refuse_if(topology == MPI_UNDEFINED);
  Neighbors n = neighbors(comm, c.comm->my_index);
  check(n.destinations.size(), n.sources.size());
  std::erase(n.sources, MPI_PROC_NULL);
  std::vector<std::uint32_t> destinations;
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < n.destinations.size(); ++i) {
    if (n.destinations[i] == MPI_PROC_NULL) continue;
    destinations.push_back(static_cast<std::uint32_t>(n.destinations[i]));
    sizes.push_back(bytes_to(i));
  }
  c.words = {static_cast<std::uint32_t>(n.sources.size()), static_cast<std::uint32_t>(destinations.size())};
  for (const int r : n.sources) c.words.push_back(static_cast<std::uint32_t>(r));
  c.words.insert(c.words.end(), destinations.begin(), destinations.end());
  if (sizes.empty()) return c;
  c.size = std::accumulate(sizes.begin(), sizes.end(), MPI_Count{0}) / static_cast<MPI_Count>(sizes.size());
  if (std::equal(sizes.begin() + 1, sizes.end(), sizes.begin())) return c;
  for (const std::int64_t size : sizes) {
    c.words.push_back(static_cast<std::uint32_t>(size));
    c.words.push_back(static_cast<std::uint32_t>(size >> 32));
  }
  return c;
}

struct Block {
  MPI_Count count;
  MPI_Aint place;  // bytes behind the buffer
  MPI_Datatype type;
};

/// The lists of MPI_Ineighbor_alltoallw.
struct Blocks {
  std::vector<library::Count> counts;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;

  void add(const Block& block) {
    counts.push_back(static_cast<library::Count>(block.count));
    places.push_back(block.place);
    types.push_back(block.type);
  }
};

/// Whether one process is the neighbour at both sides of dimension `i / 2`, so that MPI's non-blocking form takes each of its
/// blocks for the other.
bool is_swapped(const Neighbors& n, std::size_t i) {
  return n.sources[i] != MPI_PROC_NULL && n.sources[i] == n.sources[i ^ 1];
}

/// The blocking form has each block in its place: `out(i)` and `in(i)` are the blocks of the i-th neighbour.
template <class Out, class In>
void put_blocks_in_order(Collective& c, const void* sendbuf, Out out, void* recvbuf, In in, MPI_Comm comm) {
  if (!library::kSwapsBlocksOfOneNeighbor || c.comm == nullptr) return;
  int topology = MPI_UNDEFINED;
  pmpi::Topo_test(comm, &topology);
  if (topology != MPI_CART) return;
  const Neighbors n = neighbors(comm, c.comm->my_index);
  const std::size_t count = n.sources.size();
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) any = any || is_swapped(n, i);
  if (!any) return;
  c.start_of_blocking = [=](MPI_Request* request, Keep& keep) {
    const auto sent = std::make_shared<Blocks>();
    const auto received = std::make_shared<Blocks>();
    for (std::size_t i = 0; i < count; ++i) {
      sent->add(out(i));
      received->add(in(is_swapped(n, i) ? i ^ 1 : i));
    }
    keep.push_back(std::shared_ptr<void>{sent});
    keep.push_back(std::shared_ptr<void>{received});
    return pmpi::Ineighbor_alltoallw(sendbuf, sent->counts.data(), sent->places.data(), sent->types.data(),
                                     recvbuf, received->counts.data(), received->places.data(),
                                     received->types.data(), comm, request);
  };
}

MPI_Aint bytes_between_blocks(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  pmpi::Type_get_extent(type, &lower, &extent);
  return extent;
}

template <class C, class D>
Collective neighbor_allgather(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf,
                              C recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const auto block = [=](std::size_t) { return payload_bytes(sendcount, sendtype); };
  const auto check = [=](std::size_t, std::size_t) {
    check_data(sendbuf, sendcount, sendtype);
    check_data(recvbuf, recvcount, recvtype);
  };
  Collective c = describe_exchange(CollectiveKind::kNeighborAllgather, comm, check, block);
  c.data.shown = {sendbuf, sendcount, sendtype};
  c.blocking = [=] {
    return pmpi::Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                     request);
  };
  return c;
}

template <class C, class D>
Collective neighbor_allgatherv(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const C recvcounts[], const D displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  const auto block = [=](std::size_t) { return payload_bytes(sendcount, sendtype); };
  const auto check = [=](std::size_t, std::size_t in) {
    check_data(sendbuf, sendcount, sendtype);
    check_blocks(recvbuf, recvcounts, displs, recvtype, in);
  };
  Collective c = describe_exchange(CollectiveKind::kNeighborAllgather, comm, check, block);
  c.data.shown = {sendbuf, sendcount, sendtype};
  c.blocking = [=] {
    return pmpi::Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                     comm);
  };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                      comm, request);
  };
  return c;
}

template <class C, class D>
Collective neighbor_alltoall(const void* sendbuf, C sendcount, MPI_Datatype sendtype, void* recvbuf,
                             C recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const auto block = [=](std::size_t) { return payload_bytes(sendcount, sendtype); };
  const auto check = [=](std::size_t, std::size_t) {
    check_data(sendbuf, sendcount, sendtype);
    check_data(recvbuf, recvcount, recvtype);
  };
  Collective c = describe_exchange(CollectiveKind::kNeighborAlltoall, comm, check, block);
  c.data.shown = {sendbuf, sendcount, sendtype};
  c.blocking = [=] {
    return pmpi::Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                    request);
  };
  const auto at = [](C count, MPI_Datatype type) {
    return [=](std::size_t i) {
      return Block{
          count, bytes_between_blocks(type) * static_cast<MPI_Aint>(count) * static_cast<MPI_Aint>(i), type};
    };
  };
  put_blocks_in_order(c, sendbuf, at(sendcount, sendtype), recvbuf, at(recvcount, recvtype), comm);
  return c;
}

template <class C, class D>
Collective neighbor_alltoallv(const void* sendbuf, const C sendcounts[], const D sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const C recvcounts[], const D rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm) {
  const auto block = [=](std::size_t i) { return payload_bytes(sendcounts[i], sendtype); };
  MPI_Count elements = 0;
  const auto check = [=, &elements](std::size_t out, std::size_t in) {
    check_blocks(sendbuf, sendcounts, sdispls, sendtype, out);
    check_blocks(recvbuf, recvcounts, rdispls, recvtype, in);
    elements = std::accumulate(sendcounts, sendcounts + out, MPI_Count{0});
  };
  Collective c = describe_exchange(CollectiveKind::kNeighborAlltoall, comm, check, block);
  c.data.shown = {sendbuf, elements, sendtype};
  c.blocking = [=] {
    return pmpi::Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                    recvtype, comm);
  };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                     recvtype, comm, request);
  };
  const auto at = [](const C counts[], const D places[], MPI_Datatype type) {
    return [=](std::size_t i) { return Block{counts[i], bytes_between_blocks(type) * places[i], type}; };
  };
  put_blocks_in_order(c, sendbuf, at(sendcounts, sdispls, sendtype), recvbuf,
                      at(recvcounts, rdispls, recvtype), comm);
  return c;
}

template <class C, class D>
Collective neighbor_alltoallw(const void* sendbuf, const C sendcounts[], const D sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const C recvcounts[],
                              const D rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  const auto block = [=](std::size_t i) { return payload_bytes(sendcounts[i], sendtypes[i]); };
  const auto check = [=](std::size_t out, std::size_t in) {
    check_blocks(sendbuf, sendcounts, sdispls, sendtypes, out);
    check_blocks(recvbuf, recvcounts, rdispls, recvtypes, in);
  };
  Collective c = describe_exchange(CollectiveKind::kNeighborAlltoall, comm, check, block);
  c.blocking = [=] {
    return pmpi::Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                    recvtypes, comm);
  };
  c.start = [=](MPI_Request* request, Keep&) {
    return pmpi::Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                     recvtypes, comm, request);
  };
  const auto at = [](const C counts[], const D places[], const MPI_Datatype types[]) {
    return [=](std::size_t i) { return Block{counts[i], places[i], types[i]}; };
  };
  put_blocks_in_order(c, sendbuf, at(sendcounts, sdispls, sendtypes), recvbuf,
                      at(recvcounts, rdispls, recvtypes), comm);
  return c;
}

}  // namespace

namespace handlers {

#define NPLUS1_NEIGHBOR_COLLECTIVES(C, D)                                                              \
  NPLUS1_FORM(Neighbor_allgather, Ineighbor_allgather, neighbor_allgather, C, D,                       \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),       \
              (s, n, t, r, m, u, comm))                                                                \
  NPLUS1_FORM(Neighbor_allgatherv, Ineighbor_allgatherv, neighbor_allgatherv, C, D,                    \
              (const void* s, C n, MPI_Datatype t, void* r, const C m[], const D at[], MPI_Datatype u, \
               MPI_Comm comm),                                                                         \
              (s, n, t, r, m, at, u, comm))                                                            \
  NPLUS1_FORM(Neighbor_alltoall, Ineighbor_alltoall, neighbor_alltoall, C, D,                          \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),       \
              (s, n, t, r, m, u, comm))                                                                \
  NPLUS1_FORM(Neighbor_alltoallv, Ineighbor_alltoallv, neighbor_alltoallv, C, D,                       \
              (const void* s, const C n[], const D from[], MPI_Datatype t, void* r, const C m[],       \
               const D to[], MPI_Datatype u, MPI_Comm comm),                                           \
              (s, n, from, t, r, m, to, u, comm))

#define NPLUS1_NEIGHBOR_ALLTOALLW(C)                                                               \
  NPLUS1_FORM(Neighbor_alltoallw, Ineighbor_alltoallw, neighbor_alltoallw, C, MPI_Aint,            \
              (const void* s, const C n[], const MPI_Aint from[], const MPI_Datatype t[], void* r, \
               const C m[], const MPI_Aint to[], const MPI_Datatype u[], MPI_Comm comm),           \
              (s, n, from, t, r, m, to, u, comm))

NPLUS1_NEIGHBOR_COLLECTIVES(int, int)
NPLUS1_NEIGHBOR_COLLECTIVES(MPI_Count, MPI_Aint)
NPLUS1_NEIGHBOR_ALLTOALLW(int)
NPLUS1_NEIGHBOR_ALLTOALLW(MPI_Count)

}  // namespace handlers
}  // namespace nplus1::stubs
