// A partitioned request (MPI 4.0, chapter 4), as PartitionChannels and the calls that complete it know it; docs/partitioned.md.
// With the runtime's lock held.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "stubs/runtime/partition_channels.hpp"
#include "stubs/runtime/point_to_point.hpp"

namespace nplus1::stubs {

/// A partitioned request, inside of a persistent one (Request::partitioned).
struct Partitioned {
  Transfer whole;  // `count` is a partition's; `type` is our own
  OwnType type;
  bool sends = false;
  RankId peer{};  // world rank, kProcNull
  PartitionedName name;
  int partitions = 0;          // as the program divides its own side
  MPI_Count size = 0;          // bytes of one
  MPI_Count element_size = 0;  // of `type`
  MPI_Count extent = 0;        // of `type`

  // A sender's.
  std::int32_t first = 0;  // tag of partition 0; 0: the receiver has not been told of it
  bool has_met = false;    // a round is complete: the receiver posts its receives when it starts
  std::vector<bool> ready;
  int missing = 0;  // not ready yet

  // A receiver's.
  std::optional<Introduction> introduction;
  bool posted = false;
  std::vector<std::byte> packed;  // where the sender's partitions do not end where elements of ours do

  /// Of the round that has been started: at a sender null for partitions that are not ready.
  std::vector<std::unique_ptr<Request>> messages;
};

}  // namespace nplus1::stubs
