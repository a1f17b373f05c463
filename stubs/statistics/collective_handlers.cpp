// Collectives: made unchanged, and counted as the messages that patterns draw for them (docs/formats/patterns.md,
// "Messages of a collective layer"): the sizes are those of docs/formats/events.md, taken once MPI has accepted the call.
#include <limits>
#include <utility>

#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/topology_neighbors.hpp"
#include "stubs/statistics/scope.hpp"

namespace nplus1::stubs {
namespace {

using statistics::bytes_of;
using statistics::CommUse;
using statistics::Fan;
using statistics::Scope;
using Kind = CollectiveKind;
using events::statistics::WaitKind;

/// As events have them; MPI's differ from library to library, and so does what is no rank.
constexpr int kNobody = -1, kProcNullRoot = -2, kIntercommRoot = -3;
constexpr int kNoRoot = std::numeric_limits<int>::min();

bool inter(const CommUse& c) {
  return c.known->inter;
}
std::size_t members(const CommUse& c) {
  return c.known->peers().size();
}
std::int64_t all(const CommUse& c) {
  return static_cast<std::int64_t>(c.size);
}

template <class C>
std::int64_t sum(const CommUse& c, const C counts[], MPI_Datatype type) {
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < members(c); ++i) elements += static_cast<std::int64_t>(counts[i]);
  return elements * bytes_of(1, type);
}
template <class C>
std::int64_t sum(const CommUse& c, const C counts[], const MPI_Datatype types[]) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < members(c); ++i) bytes += bytes_of(counts[i], types[i]);
  return bytes;
}

/// The other end of this rank's messages. Rank 0 stands in where there is no root.
Fan fan(Kind kind, const CommUse& c, int root = kNoRoot) {
  Fan f;
  f.kind = kind;
  if (root == kNoRoot)
    f.root = kNobody;
  else
    f.root = root == MPI_PROC_NULL ? kProcNullRoot : inter(c) && root == MPI_ROOT ? kIntercommRoot : root;
  if (f.root <= kProcNullRoot) return f;  // the other group's calls stand for the messages
  const std::size_t at = f.root < 0 ? 0 : static_cast<std::size_t>(f.root);
  const std::vector<std::int32_t>& ends = inter(c) && f.root >= 0 ? c.known->remote : c.known->all;
  f.unplaced = at >= ends.size() || ends[at] < 0;
  if (!f.unplaced && ends[at] != statistics::recorder()->header().rank) f.root_world = ends[at];
  return f;
}

Fan both(Kind kind, const CommUse& c, std::int64_t contributes, std::int64_t gets) {
  Fan f = fan(kind, c);
  f.to_root = contributes;
  f.from_root = gets;
  return f;
}
Fan out(Kind kind, const CommUse& c, int root, std::int64_t bytes) {
  Fan f = fan(kind, c, root);
  f.from_root = bytes;
  return f;
}
Fan in(Kind kind, const CommUse& c, int root, std::int64_t bytes) {
  Fan f = fan(kind, c, root);
  f.to_root = bytes;
  return f;
}

template <class BytesTo>
Fan edges(Kind kind, const CommUse& c, MPI_Comm comm, BytesTo bytes_to) {
  Fan f;
  f.kind = kind;
  const Neighbors n = neighbors(comm, c.known->my_index);
  for (std::size_t i = 0; i < n.destinations.size(); ++i)
    if (n.destinations[i] != MPI_PROC_NULL) f.edges.push_back({c.world(n.destinations[i]), bytes_to(i)});
  return f;
}

/// `describe` makes the fan of a communicator, from arguments that MPI has accepted.
template <class Describe, class Native>
int blocking(MPI_Comm comm, int root, Describe&& describe, Native&& native) {
  Scope scope{comm};
  scope.takes_part(root);
  scope.may_wait();
  scope.publish();
  const int code = native();
  if (code == MPI_SUCCESS)
    guarded([&] {
      if (const CommUse* c = scope.accepted_comm()) scope.collective(describe(*c), true);
    });
  return code;
}

template <class Describe, class Native>
int nonblocking(MPI_Comm comm, int root, MPI_Request* request, Describe&& describe, Native&& native) {
  Scope scope{comm};
  scope.takes_part(root);
  scope.publish();
  const int code = native();
  if (code == MPI_SUCCESS)
    guarded([&] {
      const CommUse* c = scope.accepted_comm();
      if (c == nullptr) return;
      scope.collective(describe(*c), false);
      scope.made(*request, MPI_PROC_NULL, WaitKind::kCollective);
    });
  return code;
}

template <class Describe, class Native>
int prepare(MPI_Comm comm, MPI_Request* request, Describe&& describe, Native&& native) {
  Scope scope{comm};
  scope.publish();
  const int code = native();
  if (code == MPI_SUCCESS)
    guarded([&] {
      CommUse* c = scope.accepted_comm();
      if (c == nullptr) return;
      auto prepared = std::make_unique<statistics::Prepared>();
      prepared->use.kind = WaitKind::kCollective;
      prepared->use.call = current_call();
      prepared->comm = c->shared_from_this();
      prepared->fan = describe(*c);
      prepared->fan->call = current_call();
      scope.recorder().prepare(*request, std::move(prepared));
    });
  return code;
}

/// The counts of MPI_Reduce_scatter are about the own group.
template <class C>
std::int64_t sum_own(const CommUse& c, const C counts[], MPI_Datatype type) {
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < c.known->local.size(); ++i) elements += static_cast<std::int64_t>(counts[i]);
  return elements * bytes_of(1, type);
}

bool in_place(const void* buffer) {
  return buffer == MPI_IN_PLACE;
}

}  // namespace

namespace handlers {

#define NPLUS1_UNPACK(...) __VA_ARGS__
/// The three forms of a collective. DESCRIBE is an expression of the arguments and of `c`, the communicator.
#define NPLUS1_FORM(X, IX, ROOT, PARAMETERS, ARGUMENTS, DESCRIBE)                         \
  int X(NPLUS1_UNPACK PARAMETERS) {                                                       \
    return blocking(                                                                      \
        comm, ROOT, [&]([[maybe_unused]] const CommUse& c) { return DESCRIBE; },          \
        [&] { return pmpi::X(NPLUS1_UNPACK ARGUMENTS); });                                \
  }                                                                                       \
  int IX(NPLUS1_UNPACK PARAMETERS, MPI_Request* request) {                                \
    return nonblocking(                                                                   \
        comm, ROOT, request, [&]([[maybe_unused]] const CommUse& c) { return DESCRIBE; }, \
        [&] { return pmpi::IX(NPLUS1_UNPACK ARGUMENTS, request); });                      \
  }                                                                                       \
  int X##_init(NPLUS1_UNPACK PARAMETERS, MPI_Info info, MPI_Request* request) {           \
    return prepare(                                                                       \
        comm, request, [&]([[maybe_unused]] const CommUse& c) { return DESCRIBE; },       \
        [&] { return pmpi::X##_init(NPLUS1_UNPACK ARGUMENTS, info, request); });          \
  }

#define NPLUS1_COLLECTIVES(C, D)                                                                             \
  NPLUS1_FORM(Bcast, Ibcast, root, (void* s, C n, MPI_Datatype t, int root, MPI_Comm comm),                  \
              (s, n, t, root, comm), out(Kind::kBcast, c, root, bytes_of(n, t)))                             \
  NPLUS1_FORM(Gather, Igather, root,                                                                         \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, int root, MPI_Comm comm),   \
              (s, n, t, r, m, u, root, comm),                                                                \
              in(Kind::kGather, c, root, in_place(s) || root == MPI_ROOT ? bytes_of(m, u) : bytes_of(n, t))) \
  NPLUS1_FORM(Gatherv, Igatherv, root,                                                                       \
              (const void* s, C n, MPI_Datatype t, void* r, const C m[], const D at[], MPI_Datatype u,       \
               int root, MPI_Comm comm),                                                                     \
              (s, n, t, r, m, at, u, root, comm),                                                            \
              in(Kind::kGatherv, c, root, in_place(s) || root < 0 ? 0 : bytes_of(n, t)))                     \
  NPLUS1_FORM(Scatter, Iscatter, root,                                                                       \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, int root, MPI_Comm comm),   \
              (s, n, t, r, m, u, root, comm),                                                                \
              out(Kind::kScatter, c, root, in_place(r) || root < 0 ? 0 : bytes_of(m, u)))                    \
  NPLUS1_FORM(Scatterv, Iscatterv, root,                                                                     \
              (const void* s, const C n[], const D at[], MPI_Datatype t, void* r, C m, MPI_Datatype u,       \
               int root, MPI_Comm comm),                                                                     \
              (s, n, at, t, r, m, u, root, comm),                                                            \
              out(Kind::kScatterv, c, root, in_place(r) || root < 0 ? 0 : bytes_of(m, u)))                   \
  NPLUS1_FORM(Allgather, Iallgather, kNoRoot,                                                                \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),             \
              (s, n, t, r, m, u, comm),                                                                      \
              both(Kind::kAllgather, c, inter(c) ? bytes_of(n, t) : bytes_of(m, u),                          \
                   all(c) * (inter(c) ? bytes_of(n, t) : bytes_of(m, u))))                                   \
  NPLUS1_FORM(Allgatherv, Iallgatherv, kNoRoot,                                                              \
              (const void* s, C n, MPI_Datatype t, void* r, const C m[], const D at[], MPI_Datatype u,       \
               MPI_Comm comm),                                                                               \
              (s, n, t, r, m, at, u, comm),                                                                  \
              both(Kind::kAllgatherv, c, inter(c) ? bytes_of(n, t) : bytes_of(m[c.known->my_index], u),      \
                   sum(c, m, u)))                                                                            \
  NPLUS1_FORM(Alltoall, Ialltoall, kNoRoot,                                                                  \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),             \
              (s, n, t, r, m, u, comm),                                                                      \
              both(Kind::kAlltoall, c, all(c) * (inter(c) ? bytes_of(n, t) : bytes_of(m, u)),                \
                   all(c) * (inter(c) ? bytes_of(n, t) : bytes_of(m, u))))                                   \
  NPLUS1_FORM(Alltoallv, Ialltoallv, kNoRoot,                                                                \
              (const void* s, const C n[], const D from[], MPI_Datatype t, void* r, const C m[],             \
               const D to[], MPI_Datatype u, MPI_Comm comm),                                                 \
              (s, n, from, t, r, m, to, u, comm),                                                            \
              both(Kind::kAlltoallv, c, in_place(s) ? sum(c, m, u) : sum(c, n, t), sum(c, m, u)))            \
  NPLUS1_FORM(Alltoallw, Ialltoallw, kNoRoot,                                                                \
              (const void* s, const C n[], const D from[], const MPI_Datatype t[], void* r, const C m[],     \
               const D to[], const MPI_Datatype u[], MPI_Comm comm),                                         \
              (s, n, from, t, r, m, to, u, comm),                                                            \
              both(Kind::kAlltoallv, c, in_place(s) ? sum(c, m, u) : sum(c, n, t), sum(c, m, u)))            \
  NPLUS1_FORM(Reduce, Ireduce, root,                                                                         \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm),             \
              (s, r, n, t, op, root, comm), in(Kind::kReduce, c, root, bytes_of(n, t)))                      \
  NPLUS1_FORM(Allreduce, Iallreduce, kNoRoot,                                                                \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),                       \
              (s, r, n, t, op, comm), both(Kind::kAllreduce, c, bytes_of(n, t), bytes_of(n, t)))             \
  NPLUS1_FORM(Scan, Iscan, kNoRoot, (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), \
              (s, r, n, t, op, comm), both(Kind::kScan, c, bytes_of(n, t), bytes_of(n, t)))                  \
  NPLUS1_FORM(Exscan, Iexscan, kNoRoot,                                                                      \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),                       \
              (s, r, n, t, op, comm), both(Kind::kExscan, c, bytes_of(n, t), bytes_of(n, t)))                \
  NPLUS1_FORM(Reduce_scatter_block, Ireduce_scatter_block, kNoRoot,                                          \
              (const void* s, void* r, C n, MPI_Datatype t, MPI_Op op, MPI_Comm comm),                       \
              (s, r, n, t, op, comm),                                                                        \
              both(Kind::kReduceScatterBlock, c, all(c) * bytes_of(n, t), bytes_of(n, t)))                   \
  NPLUS1_FORM(Reduce_scatter, Ireduce_scatter, kNoRoot,                                                      \
              (const void* s, void* r, const C n[], MPI_Datatype t, MPI_Op op, MPI_Comm comm),               \
              (s, r, n, t, op, comm),                                                                        \
              both(Kind::kReduceScatter, c, sum_own(c, n, t), bytes_of(n[c.known->my_index], t)))            \
  NPLUS1_FORM(Neighbor_allgather, Ineighbor_allgather, kNoRoot,                                              \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),             \
              (s, n, t, r, m, u, comm),                                                                      \
              edges(Kind::kNeighborAllgather, c, comm, [&](std::size_t) { return bytes_of(n, t); }))         \
  NPLUS1_FORM(Neighbor_allgatherv, Ineighbor_allgatherv, kNoRoot,                                            \
              (const void* s, C n, MPI_Datatype t, void* r, const C m[], const D at[], MPI_Datatype u,       \
               MPI_Comm comm),                                                                               \
              (s, n, t, r, m, at, u, comm),                                                                  \
              edges(Kind::kNeighborAllgather, c, comm, [&](std::size_t) { return bytes_of(n, t); }))         \
  NPLUS1_FORM(Neighbor_alltoall, Ineighbor_alltoall, kNoRoot,                                                \
              (const void* s, C n, MPI_Datatype t, void* r, C m, MPI_Datatype u, MPI_Comm comm),             \
              (s, n, t, r, m, u, comm),                                                                      \
              edges(Kind::kNeighborAlltoall, c, comm, [&](std::size_t) { return bytes_of(n, t); }))          \
  NPLUS1_FORM(Neighbor_alltoallv, Ineighbor_alltoallv, kNoRoot,                                              \
              (const void* s, const C n[], const D from[], MPI_Datatype t, void* r, const C m[],             \
               const D to[], MPI_Datatype u, MPI_Comm comm),                                                 \
              (s, n, from, t, r, m, to, u, comm),                                                            \
              edges(Kind::kNeighborAlltoall, c, comm, [&](std::size_t i) { return bytes_of(n[i], t); }))

#define NPLUS1_NEIGHBOR_ALLTOALLW(C)                                                               \
  NPLUS1_FORM(Neighbor_alltoallw, Ineighbor_alltoallw, kNoRoot,                                    \
              (const void* s, const C n[], const MPI_Aint from[], const MPI_Datatype t[], void* r, \
               const C m[], const MPI_Aint to[], const MPI_Datatype u[], MPI_Comm comm),           \
              (s, n, from, t, r, m, to, u, comm),                                                  \
              edges(Kind::kNeighborAlltoall, c, comm, [&](std::size_t i) { return bytes_of(n[i], t[i]); }))

NPLUS1_COLLECTIVES(int, int)
NPLUS1_COLLECTIVES(MPI_Count, MPI_Aint)
NPLUS1_NEIGHBOR_ALLTOALLW(int)
NPLUS1_NEIGHBOR_ALLTOALLW(MPI_Count)
NPLUS1_FORM(Barrier, Ibarrier, kNoRoot, (MPI_Comm comm), (comm), out(Kind::kBarrier, c, kNoRoot, 0))

}  // namespace handlers
}  // namespace nplus1::stubs
