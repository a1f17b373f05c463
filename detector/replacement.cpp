// The call to paste.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "detector/findings.hpp"

namespace nplus1::detector {
namespace {

std::string operation_constant(const Finding& f) {
  if (!f.operation) return "op";
  switch (*f.operation) {
    case Operation::kSum:
      return "MPI_SUM";
    case Operation::kBxor:
      return "MPI_BXOR";
    case Operation::kMax:
      return "MPI_MAX";
    case Operation::kMin:
      return "MPI_MIN";
    case Operation::kProd:
      return "MPI_PROD";
  }
  return "op";
}

std::string split_of(const std::vector<std::int32_t>& ranks, std::size_t world, std::size_t groups);

/// Groups that no simple colour makes: each has its number.
std::string split_by_number(const Finding& f) {
  std::string text;
  for (const auto& group : f.groups)
    text += fmt::format("{}{}", text.empty() ? "" : "; ", fmt::join(group, ","));
  return fmt::format("MPI_Comm_split(MPI_COMM_WORLD, /* number of the group: {} */ group, rank, &comm); ",
                     text);
}

std::string split(const Finding& f, std::size_t world) {
  const std::string first = split_of(f.groups.front(), world, f.groups.size());
  const bool alike = std::ranges::all_of(
      f.groups, [&](const auto& group) { return split_of(group, world, f.groups.size()) == first; });
  return alike ? first : split_by_number(f);
}

/// A group of every k-th or of k neighbouring ranks comes out of a simple colour.
std::string split_of(const std::vector<std::int32_t>& ranks, std::size_t world, std::size_t groups) {
  const auto p = static_cast<std::int32_t>(ranks.size());
  const std::int32_t stride = ranks[1] - ranks[0];
  bool even = true;
  for (std::size_t i = 1; i < ranks.size(); ++i) even = even && ranks[i] - ranks[i - 1] == stride;
  const auto n = static_cast<std::int32_t>(world);
  if (even && stride == 1 && n % p == 0 && ranks[0] % p == 0)
    return fmt::format("MPI_Comm_split(MPI_COMM_WORLD, rank / {}, rank, &comm); ", p);
  if (even && stride > 1 && stride * p == n && ranks[0] < stride)
    return fmt::format("MPI_Comm_split(MPI_COMM_WORLD, rank % {}, rank, &comm); ", stride);
  if (groups > 1) return fmt::format("{}", fmt::join(ranks, ","));
  return fmt::format(
      "MPI_Comm_split(MPI_COMM_WORLD, /* ranks {} */ member ? 0 : MPI_UNDEFINED, rank, &comm); ",
      fmt::join(ranks, ","));
}

std::string root_of(const Finding& f) {
  return f.roots.size() == 1 ? std::to_string(f.roots.front()) : "root";
}

std::string call(const Finding& f, std::string_view type) {
  const std::string op = operation_constant(f);
  const std::string root = root_of(f);
  switch (f.kind) {
    case CollectiveKind::kBarrier:
      return "MPI_Barrier(comm)";
    case CollectiveKind::kBcast:
      return fmt::format("MPI_Bcast(buffer, count, {}, {}, comm)", type, root);
    case CollectiveKind::kScatter:
      return fmt::format("MPI_Scatter(all, count, {0}, part, count, {0}, {1}, comm)", type, root);
    case CollectiveKind::kScatterv:
      return fmt::format("MPI_Scatterv(all, counts, offsets, {0}, part, count, {0}, {1}, comm)", type, root);
    case CollectiveKind::kGather:
      return fmt::format("MPI_Gather(part, count, {0}, all, count, {0}, {1}, comm)", type, root);
    case CollectiveKind::kGatherv:
      return fmt::format("MPI_Gatherv(part, count, {0}, all, counts, offsets, {0}, {1}, comm)", type, root);
    case CollectiveKind::kAllgather:
      return fmt::format("MPI_Allgather(part, count, {0}, all, count, {0}, comm)", type);
    case CollectiveKind::kAllgatherv:
      return fmt::format("MPI_Allgatherv(part, count, {0}, all, counts, offsets, {0}, comm)", type);
    case CollectiveKind::kAlltoall:
      return fmt::format("MPI_Alltoall(send, count, {0}, receive, count, {0}, comm)", type);
    case CollectiveKind::kAlltoallv:
      return fmt::format("MPI_Alltoallv(send, counts, offsets, {0}, receive, counts, offsets, {0}, comm)",
                         type);
    case CollectiveKind::kReduce:
      return fmt::format("MPI_Reduce(own, result, count, {}, {}, {}, comm)", type, op, root);
    case CollectiveKind::kAllreduce:
      return fmt::format("MPI_Allreduce(own, result, count, {}, {}, comm)", type, op);
    case CollectiveKind::kReduceScatterBlock:
      return fmt::format("MPI_Reduce_scatter_block(own, result, count, {}, {}, comm)", type, op);
    case CollectiveKind::kReduceScatter:
      return fmt::format("MPI_Reduce_scatter(own, result, counts, {}, {}, comm)", type, op);
    case CollectiveKind::kScan:
      return fmt::format("MPI_Scan(own, result, count, {}, {}, comm)", type, op);
    case CollectiveKind::kExscan:
      return fmt::format("MPI_Exscan(own, result, count, {}, {}, comm)", type, op);
    case CollectiveKind::kNeighborAlltoall:
      return fmt::format(
          "MPI_Neighbor_alltoallv(send, counts, offsets, {0}, receive, counts, offsets, {0}, graph)", type);
    default:
      return fmt::format("MPI_Neighbor_allgather(part, count, {0}, all, count, {0}, graph)", type);
  }
}

}  // namespace

std::string replacement_call(const Finding& finding, std::string_view datatype, std::size_t world,
                             bool has_communicator) {
  // The program's own type, by how it was made, is no name that could be pasted.
  if (datatype.find('(') != datatype.npos)
    return replacement_call(finding, "datatype", world, has_communicator) +
           fmt::format("  /* datatype: {} */", datatype);
  if (finding.kind == CollectiveKind::kNeighborAllgather || finding.kind == CollectiveKind::kNeighborAlltoall)
    return "MPI_Dist_graph_create_adjacent(...); " + call(finding, datatype);
  return (has_communicator ? "" : split(finding, world)) + call(finding, datatype);
}

}  // namespace nplus1::detector
