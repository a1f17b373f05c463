#include "stubs/runtime/communicators/topology_neighbors.hpp"

#include "stubs/pmpi.hpp"

namespace nplus1::stubs {
namespace {

Neighbors cartesian(MPI_Comm comm) {
  int dimensions = 0;
  pmpi::Cartdim_get(comm, &dimensions);
  Neighbors n;
  for (int d = 0; d < dimensions; ++d) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    pmpi::Cart_shift(comm, d, 1, &below, &above);
    n.sources.insert(n.sources.end(), {below, above});
  }
  n.destinations = n.sources;
  return n;
}

Neighbors graph(MPI_Comm comm, int me) {
  int count = 0;
  pmpi::Graph_neighbors_count(comm, me, &count);
  Neighbors n;
  n.sources.resize(static_cast<std::size_t>(count));
  pmpi::Graph_neighbors(comm, me, count, n.sources.data());
  n.destinations = n.sources;
  return n;
}

Neighbors distributed_graph(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  pmpi::Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  Neighbors n;
  n.sources.resize(static_cast<std::size_t>(in));
  n.destinations.resize(static_cast<std::size_t>(out));
  pmpi::Dist_graph_neighbors(comm, in, n.sources.data(), pmpi::unweighted(), out, n.destinations.data(),
                             pmpi::unweighted());
  return n;
}

}  // namespace

Neighbors neighbors(MPI_Comm comm, int me) {
  int topology = MPI_UNDEFINED;
  pmpi::Topo_test(comm, &topology);
  if (topology == MPI_CART) return cartesian(comm);
  if (topology == MPI_GRAPH) return graph(comm, me);
  if (topology == MPI_DIST_GRAPH) return distributed_graph(comm);
  return {};
}

}  // namespace nplus1::stubs
