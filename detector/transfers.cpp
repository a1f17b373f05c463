#include "detector/transfers.hpp"

#include <algorithm>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <utility>

namespace nplus1::detector {
namespace {

/// In place: a second copy would be the largest thing in memory. Afterwards item i is what item `from[i]` was.
void permute(std::vector<Transfer>& items, std::vector<std::uint32_t> from) {
  for (std::uint32_t start = 0; start < items.size(); ++start) {
    if (from[start] == start) continue;
    const Transfer first = items[start];
    std::uint32_t hole = start;
    for (std::uint32_t next = from[hole]; next != start; next = from[hole]) {
      items[hole] = items[next];
      from[hole] = hole;
      hole = next;
    }
    items[hole] = first;
    from[hole] = hole;
  }
}

}  // namespace

void sort_by_sending(std::vector<Transfer>& all) {
  if (std::ranges::is_sorted(all, {}, &Transfer::sent_at)) return;
  std::vector<std::uint64_t> places(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) places[i] = std::uint64_t{all[i].sent_at} << 32U | i;
  boost::sort::spreadsort::integer_sort(places.begin(), places.end());
  std::vector<std::uint32_t> from(all.size());
  std::ranges::transform(places, from.begin(), [](std::uint64_t p) { return static_cast<std::uint32_t>(p); });
  permute(all, std::move(from));
}

Transfers TransferCollector::take() {
  auto& all = matching_.transfers();
  const auto numbers = std::move(matching_.numbers());
  auto places = order_.take(matching_.messages());
  Transfers result;
  result.ranks = ranks_;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Ends::Message n = numbers[i];
    all[i].sent_at = n == Matching::kNobody ? CausalOrder::kNowhere : places.sent_at[n];
    all[i].received_at = n == Matching::kNobody ? CausalOrder::kNowhere : places.received_at[n];
    if (all[i].received_at == CausalOrder::kNowhere && is_mine(n, all[i].sent_at != CausalOrder::kNowhere))
      ++result.unmatched;
  }
  places = {};
  std::erase_if(all, [](const Transfer& t) { return t.received_at == CausalOrder::kNowhere; });
  sort_by_sending(all);
  for (const Transfer& t : all) result.unknown.count(t.content);
  result.all = std::move(all);
  return result;
}

}  // namespace nplus1::detector
