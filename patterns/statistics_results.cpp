// What MessageStatistics has counted, as plain data.
#include <algorithm>
#include <functional>
#include <map>

#include "patterns/layers.hpp"
#include "patterns/message_statistics.hpp"
#include "support/time_sum.hpp"

namespace nplus1::patterns {
namespace {

std::vector<report::CollectiveCount> counts(const std::vector<CollectiveUse>& uses) {
  std::vector<report::CollectiveCount> counts;
  for (const CollectiveUse& use : uses)
    counts.push_back({use.name, use.comm_size, use.root, use.calls_per_rank});
  return counts;
}

std::optional<report::IoCount> io_counts(const Patterns& all) {
  if (!all.io) return std::nullopt;
  const FileCounts sum = all.io->totals();
  report::IoCount count{all.io->files.size() + all.io->files_left_out,
                        sum.reads,
                        sum.writes,
                        sum.bytes_read,
                        sum.bytes_written,
                        sum.time,
                        sum.waiting,
                        {}};
  if (all.io->system.empty()) return count;
  const SystemCounts system = all.io->system_totals();
  count.system = {system.reads, system.writes, system.bytes_read, system.bytes_written};
  return count;
}

}  // namespace

std::vector<Layer> MessageStatistics::layers() const {
  std::vector<Layer> layers;
  const auto add = [&layers](std::string_view name, const LayerCounts& counts) {
    Layer& layer = layers.emplace_back();
    layer.name = name;
    layer.rows = counts.pairs.rows();
    layer.sizes = counts.bytes.sizes();
    if (counts.elements) layer.elements = counts.elements->sizes();
    add_up(layer);
  };
  add("point_to_point", point_to_point_);
  for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind)
    if (collective_layers_[kind])
      add(layer_name(static_cast<CollectiveKind>(kind)), *collective_layers_[kind]);
  for (std::size_t operation = 0; operation < kOneSidedLayers.size(); ++operation)
    if (one_sided_layers_[operation]) add(kOneSidedLayers[operation], *one_sided_layers_[operation]);
  std::sort(layers.begin() + 1, layers.end(), [](const Layer& a, const Layer& b) { return a.name < b.name; });
  return layers;
}

std::vector<RankTotals> MessageStatistics::rank_totals(const Layer& point_to_point) const {
  std::vector<RankTotals> totals(ranks_.size());
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const RankCounts& counts = ranks_[r];
    totals[r].end = counts.end.time_since_epoch();
    totals[r].compute = counts.compute;
    totals[r].mpi = counts.mpi;
    if (counts.unmodelled_depth > 0) sum_up(totals[r].mpi, counts.end - counts.unmodelled_since);
    totals[r].waiting = counts.waiting;
    totals[r].collective_calls = counts.collective_calls;
  }
  add_traffic(point_to_point, totals);
  return totals;
}

void MessageStatistics::fill_collectives(Patterns& patterns) const {
  // Several calls may share a name (MPI_Bcast_c is MPI_Bcast): sum what a reader can't tell apart.
  std::map<std::tuple<std::string, std::uint32_t, std::int32_t, std::string_view>, CollectiveUse> named;
  for (const auto& [key, counts] : collectives_) {
    const auto& [call, blocking, kind, size, root] = key;
    const std::string_view layer = layer_name(kind);
    CollectiveUse& use = named[{counts.name, size, root, layer}];
    use.name = counts.name;
    if (!layer.empty()) use.layer = layer;
    use.comm_size = size;
    if (root >= 0) use.root = root;
    use.calls_per_rank.resize(ranks_.size());
    std::transform(counts.calls.begin(), counts.calls.end(), use.calls_per_rank.begin(),
                   use.calls_per_rank.begin(), std::plus<>{});
    use.bytes += counts.bytes;
    sum_up(use.time, counts.time);
    sum_up(use.waiting, counts.waiting);
  }
  for (auto& [key, use] : named)
    if (use.layer)
      patterns.collectives.push_back(std::move(use));
    else if (!use.name.starts_with("MPI_File_"))  // those are in `io`
      patterns.communicator_calls.push_back(std::move(use));
}

UnmodelledUse MessageStatistics::unmodelled() const {
  UnmodelledUse result;
  std::map<std::string, std::uint64_t> by_name;
  for (const auto& [call, count] : unmodelled_calls_) by_name[call_name(call)] += count;
  for (const auto& [name, count] : by_name) {
    result.calls += count;
    result.by_name.emplace_back(name, count);
  }
  TimeSum all;
  for (const RankCounts& rank : ranks_) {
    all += rank.end.time_since_epoch();
    sum_up(result.time, rank.unmodelled);
    if (rank.unmodelled_depth > 0)
      sum_up(result.time,
             rank.end - std::max(rank.unmodelled_since, rank.unmodelled_until));  // it died inside
  }
  if (all.seconds() > 0) result.share = seconds(result.time) / all.seconds();
  return result;
}

Patterns MessageStatistics::patterns() const {
  Patterns patterns;
  patterns.complete =
      std::all_of(ranks_.begin(), ranks_.end(), [](const RankCounts& r) { return r.finalized; });
  patterns.layers = layers();
  patterns.wire = wire_.with(patterns.layers.front());
  if (patterns.wire) patterns.wire_collectives = wire_.collectives();
  patterns.rank = rank_totals(patterns.layers.front());
  fill_collectives(patterns);
  patterns.communicators = communicators_.uses(patterns.communicators_left_out);
  patterns.call_sites = sites_.uses(patterns.call_sites_left_out);
  patterns.unplaced_messages = unplaced_;
  patterns.over_time = bins_.result();
  patterns.unmodelled = unmodelled();
  patterns.io = files_.use();
  return patterns;
}

void MessageStatistics::fill(report::RunSummary& summary) const {
  const Patterns all = patterns();
  const Layer& sent = all.layers.front();
  summary.ranks = static_cast<std::uint32_t>(ranks_.size());
  summary.messages = matrix_of(sent, ranks_.size(), &Cell::messages);
  summary.bytes = matrix_of(sent, ranks_.size(), &Cell::bytes);
  summary.one_sided.clear();
  for (const Layer& layer : all.layers)
    if (layer.name.starts_with(kOneSidedPrefix))
      summary.one_sided.push_back({layer.name.substr(kOneSidedPrefix.size()), layer.messages, layer.bytes});
  summary.message_sizes.clear();
  for (std::size_t b = 0; b < kSizeBuckets; ++b) {
    const auto limit = bucket_limit(b);
    summary.message_sizes.push_back(
        {limit ? std::optional{bytes(*limit)} : std::nullopt, sent.sizes.buckets[b]});
  }
  summary.rank_end.clear();
  summary.compute_time.clear();
  for (const RankTotals& rank : all.rank) {
    summary.rank_end.push_back(kTimeZero + rank.end);
    summary.compute_time.push_back(rank.compute);
  }
  summary.virtual_time = all.virtual_time();
  summary.collectives = counts(all.collectives);
  summary.communicator_calls = counts(all.communicator_calls);
  summary.io = io_counts(all);
  summary.unmodelled = {all.unmodelled.calls, all.unmodelled.share, {}};
  for (const auto& [name, count] : all.unmodelled.by_name)
    summary.unmodelled.by_name.push_back({name, count});
}

}  // namespace nplus1::patterns
