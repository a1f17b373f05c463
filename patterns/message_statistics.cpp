#include "patterns/message_statistics.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "events/mpi_call.hpp"

namespace nplus1::patterns {
namespace {

constexpr std::int64_t kSmallestBucket = 16;
constexpr CommId kWorld{0};

std::string_view kind_name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return "barrier";
    case CollectiveKind::kBcast:
      return "bcast";
    case CollectiveKind::kGather:
      return "gather";
    case CollectiveKind::kGatherv:
      return "gatherv";
    case CollectiveKind::kScatter:
      return "scatter";
    case CollectiveKind::kScatterv:
      return "scatterv";
    case CollectiveKind::kAllgather:
      return "allgather";
    case CollectiveKind::kAllgatherv:
      return "allgatherv";
    case CollectiveKind::kAlltoall:
      return "alltoall";
    case CollectiveKind::kAlltoallv:
      return "alltoallv";
    case CollectiveKind::kReduce:
      return "reduce";
    case CollectiveKind::kAllreduce:
      return "allreduce";
    case CollectiveKind::kReduceScatterBlock:
      return "reduce_scatter_block";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kScan:
      return "scan";
    case CollectiveKind::kExscan:
      return "exscan";
    case CollectiveKind::kNeighborAllgather:
      return "neighbor_allgather";
    case CollectiveKind::kNeighborAlltoall:
      return "neighbor_alltoall";
    case CollectiveKind::kSynchronize:
      return "comm_create";
  }
  return "collective";
}

std::string mpi_name(CollectiveKind kind, bool blocking) {
  std::string name{blocking ? "" : "i"};
  name += kind_name(kind);
  name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return std::string{"MPI_"} + name;
}

// The large-count forms count as what they do: MPI_Bcast_c is MPI_Bcast.
std::string call_name(std::uint16_t call) {
  std::string_view name = events::name(static_cast<events::MpiCall>(call));
  if (name.ends_with("_c")) name.remove_suffix(2);
  return std::string{name};
}

// Synthetic events may lack the call: they are named after their kind.
std::string collective_name(std::uint16_t call, CollectiveKind kind, bool blocking) {
  return call == 0 ? mpi_name(kind, blocking) : call_name(call);
}

std::optional<Bytes> bucket_limit(std::size_t bucket) {
  if (bucket + 1 == kSizeBuckets) return std::nullopt;
  return bytes(kSmallestBucket << (2 * bucket));
}

}  // namespace

std::size_t size_bucket(Bytes size) {
  std::size_t bucket = 0;
  while (bucket + 1 < kSizeBuckets && count(size) > kSmallestBucket << (2 * bucket)) ++bucket;
  return bucket;
}

MessageStatistics::MessageStatistics(std::size_t ranks)
    : ranks_{ranks},
      messages_{ranks},
      bytes_{ranks},
      unmodelled_depth_(ranks),
      unmodelled_since_(ranks),
      rank_end_(ranks),
      compute_(ranks) {}

void MessageStatistics::on_event(const events::TimedEvent& timed) {
  using events::EventKind;
  const events::Event& event = timed.event;
  rank_end_.at(timed.rank.index()) = std::max(rank_end_[timed.rank.index()], timed.exit);
  compute_[timed.rank.index()] += event.compute();
  switch (event.kind) {
    case EventKind::kSend:
    case EventKind::kIsend:
      count_message(timed.rank, event);
      break;
    case EventKind::kCollective:
    case EventKind::kIcollective:
      count_collective(timed.rank, event);
      break;
    case EventKind::kUnmodelledEnter:
    case EventKind::kUnmodelledExit:
      count_unmodelled(timed);
      break;
    default:
      break;
  }
}

void MessageStatistics::on_communicator(const events::Communicator& communicator) {
  const std::size_t index = communicator.id.index();
  if (comm_sizes_.size() <= index) comm_sizes_.resize(index + 1);
  comm_sizes_[index] = static_cast<std::uint32_t>(communicator.members.size());
}

void MessageStatistics::count_message(RankId from, const events::Event& event) {
  if (event.peer < 0) return;  // MPI_PROC_NULL: nothing travels
  messages_.add(from, event.peer_rank(), 1);
  bytes_.add(from, event.peer_rank(), static_cast<std::uint64_t>(event.size));
  ++sizes_[size_bucket(event.payload())];
}

void MessageStatistics::count_collective(RankId rank, const events::Event& event) {
  const bool blocking = event.kind == events::EventKind::kCollective;
  const CollectiveKey key{event.call, blocking, event.collective(), members(event.comm), event.peer};
  auto& calls = collectives_[key];
  if (calls.empty()) calls.resize(ranks_);
  ++calls[rank.index()];
}

void MessageStatistics::count_unmodelled(const events::TimedEvent& timed) {
  std::uint32_t& depth = unmodelled_depth_[timed.rank.index()];
  if (timed.event.kind == events::EventKind::kUnmodelledEnter) {
    ++unmodelled_calls_[timed.event.call];
    if (depth++ == 0) unmodelled_since_[timed.rank.index()] = timed.event.entry();
  } else if (depth > 0 && --depth == 0) {
    unmodelled_time_ += timed.exit - unmodelled_since_[timed.rank.index()];
  }
}

std::uint32_t MessageStatistics::members(CommId comm) const {
  const bool defined = comm.index() < comm_sizes_.size() && comm_sizes_[comm.index()] != 0;
  if (defined) return comm_sizes_[comm.index()];
  return comm == kWorld ? static_cast<std::uint32_t>(ranks_) : 0;
}

void MessageStatistics::fill(report::RunSummary& summary) const {
  summary.ranks = static_cast<std::uint32_t>(ranks_);
  summary.messages = messages_;
  summary.bytes = bytes_;
  summary.message_sizes.clear();
  for (std::size_t b = 0; b < kSizeBuckets; ++b)
    summary.message_sizes.push_back({bucket_limit(b), sizes_[b]});
  summary.rank_end = rank_end_;
  summary.compute_time = compute_;
  summary.virtual_time = Duration::zero();
  for (const Time end : rank_end_) {
    summary.virtual_time = std::max(summary.virtual_time, end.time_since_epoch());
  }
  fill_collectives(summary);
  fill_unmodelled(summary.unmodelled);
}

void MessageStatistics::fill_collectives(report::RunSummary& summary) const {
  // Several calls may share a name (MPI_Bcast_c is MPI_Bcast): sum what a reader can't tell apart.
  std::map<std::tuple<bool, std::string, std::uint32_t, std::int32_t>, std::vector<std::uint64_t>> named;
  for (const auto& [key, calls] : collectives_) {
    const auto& [call, blocking, kind, size, root] = key;
    const bool creates = kind == CollectiveKind::kSynchronize;
    auto& sum = named[{creates, collective_name(call, kind, blocking), size, root}];
    sum.resize(ranks_);
    std::transform(sum.begin(), sum.end(), calls.begin(), sum.begin(), std::plus<>{});
  }
  summary.collectives.clear();
  summary.communicator_calls.clear();
  for (const auto& [key, calls] : named) {
    const auto& [creates, name, size, root] = key;
    auto& list = creates ? summary.communicator_calls : summary.collectives;
    list.push_back({name, size, root < 0 ? std::nullopt : std::optional{root}, calls});
  }
}

void MessageStatistics::fill_unmodelled(report::Unmodelled& unmodelled) const {
  unmodelled = {};
  for (const auto& [call, count] : unmodelled_calls_) {
    unmodelled.calls += count;
    unmodelled.by_name.push_back({call_name(call), count});
  }
  Duration total{};
  for (const Time end : rank_end_) total += end.time_since_epoch();
  Duration spent = unmodelled_time_;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {  // a rank that died inside the call
    if (unmodelled_depth_[rank] > 0) spent += rank_end_[rank] - unmodelled_since_[rank];
  }
  if (total > Duration::zero()) unmodelled.share = seconds(spent) / seconds(total);
}

}  // namespace nplus1::patterns
