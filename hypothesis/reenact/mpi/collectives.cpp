#include "hypothesis/reenact/mpi/collectives.hpp"

#include <algorithm>

namespace nplus1::hypothesis::reenact {
namespace {

/// The arguments of a call: what it sends lies before what it receives.
struct Arguments {
  int members = 1;
  int me = 0;
  int root = -1;
  int size = 0;
  int elements = 0;  // of a reduction
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_BOR;
  const char* send = nullptr;
  char* receive = nullptr;
  const int* counts = nullptr;  // by member: of v-forms (sent, of an Alltoallv), then displacements
  const int* received = nullptr;
  const int* displacements = nullptr;
  const int* received_at = nullptr;
};

/// Appends displacements to counts; the bytes in all.
int displace(std::vector<int>& counts, std::size_t begin, std::size_t members) {
  int sum = 0;
  for (std::size_t i = 0; i < members; ++i) {
    counts.push_back(sum);
    sum += counts[begin + i];
  }
  return sum;
}

void fill_counts(const RecordedCall& call, Arguments& a, std::vector<int>& counts, int& sent, int& received) {
  const auto p = static_cast<std::size_t>(a.members);
  const std::vector<std::int64_t>& sizes = call.sizes;
  counts.assign(4 * p, 0);
  counts.reserve(8 * p);
  for (std::size_t i = 0; i < std::min(sizes.size(), 2 * p); ++i) counts[i] = static_cast<int>(sizes[i]);
  counts.resize(2 * p);
  sent = displace(counts, 0, p);
  received = displace(counts, p, p);
  a.counts = counts.data();
  a.received = a.counts + p;
  a.displacements = a.received + p;
  a.received_at = a.displacements + p;
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kReduce || kind == CollectiveKind::kAllreduce ||
         kind == CollectiveKind::kScan || kind == CollectiveKind::kExscan ||
         kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kReduceScatterBlock;
}

/// Memory for whatever the operation needs at most: a block to and from every member, or the lists' sums.
Arguments arguments(const RecordedCall& call, const LiveCommunicator& comm, std::vector<char>& memory,
                    std::vector<int>& counts) {
  Arguments a;
  MPI_Comm_size(comm.handle, &a.members);
  MPI_Comm_rank(comm.handle, &a.me);
  a.root = call.event.peer;
  a.size = static_cast<int>(call.event.size);
  int sent = 0;
  int received = 0;
  fill_counts(call, a, counts, sent, received);
  // A list of p sizes is of one side only, and both sides must have room for it.
  const std::size_t blocks = std::max(static_cast<std::size_t>(a.members), call.words.size());  // or edges
  const std::size_t block = blocks * static_cast<std::size_t>(a.size);
  const std::size_t need =
      std::max({block, static_cast<std::size_t>(sent), static_cast<std::size_t>(received)});
  if (memory.size() < 2 * need + 16) memory.resize(2 * need + 16);
  a.send = memory.data();
  a.receive = memory.data() + (need + 7) / 8 * 8;
  const bool doubles = a.size % 8 == 0 && call.sizes.empty();
  if (reduces(call.event.collective()) && doubles) {
    a.type = MPI_DOUBLE;
    a.op = MPI_SUM;
  }
  a.elements = a.type == MPI_DOUBLE ? a.size / 8 : a.size;
  return a;
}

/// Each operation, blocking or not.
void perform(CollectiveKind kind, const Arguments& a, const LiveCommunicator& comm, MPI_Request* r) {
  MPI_Comm c = comm.handle;
  MPI_Comm n = comm.neighbours;
  const int s = a.size;
  MPI_Datatype b = MPI_BYTE;
  const bool neighbours =
      kind == CollectiveKind::kNeighborAllgather || kind == CollectiveKind::kNeighborAlltoall;
  if (comm.between_groups || (neighbours && n == MPI_COMM_NULL)) kind = CollectiveKind::kSynchronize;
  switch (kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSynchronize:
      r ? MPI_Ibarrier(c, r) : MPI_Barrier(c);
      return;
    case CollectiveKind::kBcast:
      r ? MPI_Ibcast(a.receive, s, b, a.root, c, r) : MPI_Bcast(a.receive, s, b, a.root, c);
      return;
    case CollectiveKind::kGather:
      r ? MPI_Igather(a.send, s, b, a.receive, s, b, a.root, c, r)
        : MPI_Gather(a.send, s, b, a.receive, s, b, a.root, c);
      return;
    case CollectiveKind::kGatherv:
      r ? MPI_Igatherv(a.send, s, b, a.receive, a.counts, a.displacements, b, a.root, c, r)
        : MPI_Gatherv(a.send, s, b, a.receive, a.counts, a.displacements, b, a.root, c);
      return;
    case CollectiveKind::kScatter:
      r ? MPI_Iscatter(a.send, s, b, a.receive, s, b, a.root, c, r)
        : MPI_Scatter(a.send, s, b, a.receive, s, b, a.root, c);
      return;
    case CollectiveKind::kScatterv:
      r ? MPI_Iscatterv(a.send, a.counts, a.displacements, b, a.receive, s, b, a.root, c, r)
        : MPI_Scatterv(a.send, a.counts, a.displacements, b, a.receive, s, b, a.root, c);
      return;
    case CollectiveKind::kAllgather:
      r ? MPI_Iallgather(a.send, s, b, a.receive, s, b, c, r)
        : MPI_Allgather(a.send, s, b, a.receive, s, b, c);
      return;
    case CollectiveKind::kAllgatherv:
      r ? MPI_Iallgatherv(a.send, a.counts[a.me], b, a.receive, a.counts, a.displacements, b, c, r)
        : MPI_Allgatherv(a.send, a.counts[a.me], b, a.receive, a.counts, a.displacements, b, c);
      return;
    case CollectiveKind::kAlltoall:
      r ? MPI_Ialltoall(a.send, s, b, a.receive, s, b, c, r) : MPI_Alltoall(a.send, s, b, a.receive, s, b, c);
      return;
    case CollectiveKind::kAlltoallv:
      r ? MPI_Ialltoallv(a.send, a.counts, a.displacements, b, a.receive, a.received, a.received_at, b, c, r)
        : MPI_Alltoallv(a.send, a.counts, a.displacements, b, a.receive, a.received, a.received_at, b, c);
      return;
    case CollectiveKind::kReduce:
      r ? MPI_Ireduce(a.send, a.receive, a.elements, a.type, a.op, a.root, c, r)
        : MPI_Reduce(a.send, a.receive, a.elements, a.type, a.op, a.root, c);
      return;
    case CollectiveKind::kAllreduce:
      r ? MPI_Iallreduce(a.send, a.receive, a.elements, a.type, a.op, c, r)
        : MPI_Allreduce(a.send, a.receive, a.elements, a.type, a.op, c);
      return;
    case CollectiveKind::kReduceScatterBlock:
      r ? MPI_Ireduce_scatter_block(a.send, a.receive, a.elements, a.type, a.op, c, r)
        : MPI_Reduce_scatter_block(a.send, a.receive, a.elements, a.type, a.op, c);
      return;
    case CollectiveKind::kReduceScatter:
      r ? MPI_Ireduce_scatter(a.send, a.receive, a.counts, b, MPI_BOR, c, r)
        : MPI_Reduce_scatter(a.send, a.receive, a.counts, b, MPI_BOR, c);
      return;
    case CollectiveKind::kScan:
      r ? MPI_Iscan(a.send, a.receive, a.elements, a.type, a.op, c, r)
        : MPI_Scan(a.send, a.receive, a.elements, a.type, a.op, c);
      return;
    case CollectiveKind::kExscan:
      r ? MPI_Iexscan(a.send, a.receive, a.elements, a.type, a.op, c, r)
        : MPI_Exscan(a.send, a.receive, a.elements, a.type, a.op, c);
      return;
    case CollectiveKind::kNeighborAllgather:
      r ? MPI_Ineighbor_allgather(a.send, s, b, a.receive, s, b, n, r)
        : MPI_Neighbor_allgather(a.send, s, b, a.receive, s, b, n);
      return;
    case CollectiveKind::kNeighborAlltoall:
      r ? MPI_Ineighbor_alltoall(a.send, s, b, a.receive, s, b, n, r)
        : MPI_Neighbor_alltoall(a.send, s, b, a.receive, s, b, n);
      return;
  }
}

}  // namespace

void Collectives::run(const RecordedCall& call, const LiveCommunicator& comm) {
  perform(call.event.collective(), arguments(call, comm, memory_, counts_), comm, nullptr);
}

void Collectives::start(const RecordedCall& call, const LiveCommunicator& comm, Pending& pending) {
  pending.memory = std::make_shared<std::vector<char>>();
  pending.counts = std::make_shared<std::vector<int>>();
  const Arguments a = arguments(call, comm, *pending.memory, *pending.counts);
  perform(call.event.collective(), a, comm, &pending.handle);
}

}  // namespace nplus1::hypothesis::reenact
