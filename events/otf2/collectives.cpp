#include "events/otf2/collectives.hpp"

#include <numeric>

namespace nplus1::events::otf2 {
namespace {

using Kind = CollectiveKind;

std::uint64_t sum(std::span<const std::int64_t> sizes) {
  return std::accumulate(
      sizes.begin(), sizes.end(), std::uint64_t{0},
      [](std::uint64_t total, std::int64_t size) { return total + static_cast<std::uint64_t>(size); });
}

}  // namespace

bool has_root(Kind kind) {
  switch (kind) {
    case Kind::kBcast:
    case Kind::kGather:
    case Kind::kGatherv:
    case Kind::kScatter:
    case Kind::kScatterv:
    case Kind::kReduce:
      return true;
    default:
      return false;
  }
}

Moved bytes_moved(const Part& part) {
  const auto size = static_cast<std::uint64_t>(part.size);
  const std::uint64_t all = size * part.members;
  const std::uint64_t listed = sum(part.sizes);
  const std::uint64_t at_root = part.is_root ? all : 0;
  switch (part.kind) {
    case Kind::kBcast:
    case Kind::kScatter:
      return {at_root, size};
    case Kind::kScatterv:
      return {listed, size};
    case Kind::kReduce:
    case Kind::kGather:
      return {size, at_root};
    case Kind::kGatherv:
      return {size, listed};
    case Kind::kAllgatherv:
      return {size * part.members, listed};
    case Kind::kAlltoallv:
      return {sum(part.sizes.first(part.sizes.size() / 2)), sum(part.sizes.subspan(part.sizes.size() / 2))};
    case Kind::kScan:
    case Kind::kExscan:
    case Kind::kReduceScatter:
      return {size, size};
    case Kind::kNeighborAllgather:
    case Kind::kNeighborAlltoall:
      return {size, size};
    case Kind::kBarrier:
    case Kind::kSynchronize:
      return {};
    case Kind::kAllgather:
    case Kind::kAlltoall:
    case Kind::kAllreduce:
    case Kind::kReduceScatterBlock:
      return {all, all};
  }
  return {};
}

std::int64_t size_from(Kind kind, const Moved& moved, std::uint64_t members, bool is_root) {
  const auto part_of = [members](std::uint64_t all) { return all / (members == 0 ? 1 : members); };
  const auto size = [&]() -> std::uint64_t {
    switch (kind) {
      case Kind::kBcast:
      case Kind::kScatter:
        return is_root && moved.received == 0 ? part_of(moved.sent) : moved.received;
      case Kind::kScatterv:
        return moved.received;
      case Kind::kReduce:
      case Kind::kGather:
      case Kind::kGatherv:
        return is_root && moved.sent == 0 ? part_of(moved.received) : moved.sent;
      case Kind::kAllgather:
      case Kind::kAllgatherv:
      case Kind::kAlltoall:
      case Kind::kAllreduce:
      case Kind::kReduceScatterBlock:
        return part_of(moved.sent);
      default:
        return moved.sent;
    }
  }();
  return static_cast<std::int64_t>(size);
}

OTF2_CollectiveOp operation_of(Kind kind) {
  switch (kind) {
    case Kind::kBarrier:
      return OTF2_COLLECTIVE_OP_BARRIER;
    case Kind::kBcast:
      return OTF2_COLLECTIVE_OP_BCAST;
    case Kind::kGather:
      return OTF2_COLLECTIVE_OP_GATHER;
    case Kind::kGatherv:
      return OTF2_COLLECTIVE_OP_GATHERV;
    case Kind::kScatter:
      return OTF2_COLLECTIVE_OP_SCATTER;
    case Kind::kScatterv:
      return OTF2_COLLECTIVE_OP_SCATTERV;
    case Kind::kNeighborAllgather:  // OTF2 has no neighbourhood collectives; these come nearest
    case Kind::kAllgather:
      return OTF2_COLLECTIVE_OP_ALLGATHER;
    case Kind::kAllgatherv:
      return OTF2_COLLECTIVE_OP_ALLGATHERV;
    case Kind::kNeighborAlltoall:
    case Kind::kAlltoall:
      return OTF2_COLLECTIVE_OP_ALLTOALL;
    case Kind::kAlltoallv:
      return OTF2_COLLECTIVE_OP_ALLTOALLV;
    case Kind::kReduce:
      return OTF2_COLLECTIVE_OP_REDUCE;
    case Kind::kAllreduce:
      return OTF2_COLLECTIVE_OP_ALLREDUCE;
    case Kind::kReduceScatterBlock:
      return OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK;
    case Kind::kReduceScatter:
      return OTF2_COLLECTIVE_OP_REDUCE_SCATTER;
    case Kind::kScan:
      return OTF2_COLLECTIVE_OP_SCAN;
    case Kind::kExscan:
      return OTF2_COLLECTIVE_OP_EXSCAN;
    case Kind::kSynchronize:
      return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
  }
  return OTF2_COLLECTIVE_OP_BARRIER;
}

std::optional<Kind> kind_of(OTF2_CollectiveOp operation) {
  if (operation == OTF2_COLLECTIVE_OP_ALLTOALLW) return Kind::kAlltoallv;
  if (operation >= OTF2_COLLECTIVE_OP_CREATE_HANDLE &&
      operation <= OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE)
    return Kind::kSynchronize;
  for (int kind = 0; kind <= static_cast<int>(Kind::kExscan); ++kind) {
    if (operation_of(static_cast<Kind>(kind)) == operation) return static_cast<Kind>(kind);
  }
  return std::nullopt;
}

}  // namespace nplus1::events::otf2
