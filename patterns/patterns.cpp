#include "patterns/patterns.hpp"

#include <algorithm>
#include <numeric>

#include "support/time_sum.hpp"

namespace nplus1::patterns {
namespace {

/// max / mean - 1, 0 where there is nothing.
double excess(const std::vector<RankTotals>& ranks, Duration RankTotals::*column) {
  double sum = 0;
  double most = 0;
  for (const RankTotals& r : ranks) {
    sum += seconds(r.*column);
    most = std::max(most, seconds(r.*column));
  }
  return sum > 0 ? most * static_cast<double>(ranks.size()) / sum - 1 : 0;
}

}  // namespace

std::uint64_t CollectiveUse::calls() const {
  return std::accumulate(calls_per_rank.begin(), calls_per_rank.end(), std::uint64_t{0});
}

std::uint64_t CollectiveUse::operations() const {
  return comm_size == 0 ? 0 : (calls() + comm_size - 1) / comm_size;
}

Duration Patterns::virtual_time() const {
  Duration latest{};
  for (const RankTotals& r : rank) latest = std::max(latest, r.end);
  return latest;
}

/// Of thousands of ranks some hours each are more than Duration holds: then it is as much as that.
RankTotals Patterns::totals() const {
  RankTotals sum;
  for (const RankTotals& r : rank) {
    const auto add_time = [&](const char*, auto field) { sum_up(sum.*field, r.*field); };
    const auto add = [&](const char*, auto field) { sum.*field += r.*field; };
    for_each_total(add_time, add);
  }
  return sum;
}

Imbalance Patterns::imbalance() const {
  Imbalance result;
  if (rank.empty()) return result;
  result.compute = excess(rank, &RankTotals::compute);
  result.mpi = excess(rank, &RankTotals::mpi);
  result.waiting = excess(rank, &RankTotals::waiting);
  const auto most = std::max_element(rank.begin(), rank.end(),
                                     [](const auto& a, const auto& b) { return a.compute < b.compute; });
  if (most->compute <= Duration::zero()) return result;
  result.most_loaded_rank = static_cast<std::int32_t>(most - rank.begin());
  TimeSum computing;
  for (const RankTotals& r : rank) computing += r.compute;
  result.compute_time = most->compute - computing.mean_of(std::ssize(rank));
  return result;
}

}  // namespace nplus1::patterns
