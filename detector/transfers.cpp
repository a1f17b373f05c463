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

Transfers transfers_of(std::int32_t ranks, std::vector<Transfer>&& all, CausalOrder::Places places) {
  Transfers result;
  result.ranks = ranks;
  for (CausalOrder::Message i = 0; i < all.size(); ++i) {
    all[i].sent_at = places.sent_at[i];
    all[i].received_at = places.received_at[i];
  }
  if (!places.by_sending.empty()) {
    for (CausalOrder::Message i = 0; i < all.size(); ++i)
      if (places.sent_at[i] == CausalOrder::kNowhere) places.by_sending.push_back(i);
    permute(all, std::move(places.by_sending));
  }
  result.unmatched = static_cast<std::uint64_t>(
      std::erase_if(all, [](const Transfer& t) { return t.received_at == CausalOrder::kNowhere; }));
  result.without_hashes = static_cast<std::uint64_t>(std::ranges::count_if(
      all, [](const Transfer& t) { return t.content.bytes > 0 && !t.content.hashed(); }));
  result.all = std::move(all);
  return result;
}

Transfers TransferCollector::take() {
  auto places = order_.take(matching_.transfers().size());
  return transfers_of(ranks_, std::move(matching_.transfers()), std::move(places));
}

}  // namespace nplus1::detector
