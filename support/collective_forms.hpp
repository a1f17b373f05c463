// Which shape a collective operation has.
#pragma once

#include "support/collective_kind.hpp"

namespace nplus1 {

[[nodiscard]] constexpr bool is_neighborhood(CollectiveKind kind) {
  return kind == CollectiveKind::kNeighborAllgather || kind == CollectiveKind::kNeighborAlltoall;
}

[[nodiscard]] constexpr bool is_rooted(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBcast:
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherv:
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterv:
    case CollectiveKind::kReduce:
      return true;
    default:
      return false;
  }
}

}  // namespace nplus1
