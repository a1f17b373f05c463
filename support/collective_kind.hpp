// The collective operations, by what they mean to the network. Shared by the events and the schedules.
#pragma once

#include <cstdint>

namespace nplus1 {

enum class CollectiveKind : std::uint8_t {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,  // and Alltoallw: bytes per member
  kReduce,
  kAllreduce,
  kReduceScatterBlock,
  kReduceScatter,
  kScan,
  kExscan,
  kNeighborAllgather,  // neighbourhood forms: the event lists the edges
  kNeighborAlltoall,
  kSynchronize,  // creation of communicators and the like: everybody waits for everybody, no payload
};

}  // namespace nplus1
