#include "detector/merging.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

namespace nplus1::detector {
namespace {

std::uint64_t end_of_payload(const Transfers& transfers, const Instance& instance) {
  const Transfer& t = transfers.all[instance.transfers.front()];
  return t.source_buffer + t.content.bytes;
}

/// Whether `next` goes on where `first` ended: the root's next bytes, right after the last ones.
bool is_next_segment(const Transfers& transfers, const Instance& first, std::uint64_t end,
                     const Instance& next) {
  if (first.verdict.kind != CollectiveKind::kBcast || first.verdict.roots != next.verdict.roots ||
      first.verdict.ranks != next.verdict.ranks)
    return false;
  const std::int32_t root = first.verdict.roots.front();
  std::uint32_t last = 0;
  for (const TransferIndex i : first.transfers)
    if (transfers.all[i].source == root) last = std::max(last, transfers.all[i].send_ordinal);
  const Transfer& begin = transfers.all[next.transfers.front()];
  constexpr std::uint32_t kFewCalls = 2;  // the wait for the last send may lie between
  return begin.source == root && begin.source_buffer == end && begin.send_ordinal - last <= kFewCalls;
}

using Place = std::pair<std::uint64_t, std::uint64_t>;

Place place_at_root(const Transfers& transfers, const Instance& i) {
  const Transfer& t = transfers.all[i.transfers.front()];
  return {t.source_buffer, t.source_buffer + t.content.bytes};
}

std::uint32_t last_place(const Transfers& transfers, const Instance& i) {
  std::uint32_t last = 0;
  for (const TransferIndex t : i.transfers) last = std::max(last, transfers.all[t].received_at);
  return last;
}

/// One broadcast out of `batch`, if its payloads lie side by side at the root: what scatter and allgather
/// leave.
bool merge_batch(const Transfers& transfers, std::vector<Instance>& batch) {
  std::vector<Place> places;
  for (const Instance& i : batch) places.push_back(place_at_root(transfers, i));
  std::ranges::sort(places);
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i - 1].second != places[i].first) return false;
  for (std::size_t i = 1; i < batch.size(); ++i) {
    Instance& whole = batch.front();
    whole.transfers.insert(whole.transfers.end(), batch[i].transfers.begin(), batch[i].transfers.end());
    whole.verdict.bytes += batch[i].verdict.bytes;
    whole.verdict.payload ^= batch[i].verdict.payload;
    whole.verdict.proof += batch[i].verdict.proof;
  }
  batch.front().segments = batch.size();
  batch.front().verdict.by_order = false;  // pieces of a vector do not all wander by accident
  batch.resize(1);
  return true;
}

/// Broadcasts of one root that run at the same time and whose payloads are neighbours are one broadcast in
/// pieces.
std::vector<Instance> merge_concurrent(const Transfers& transfers, std::vector<Instance> found) {
  std::vector<Instance> merged;
  std::vector<Instance> batch;
  std::uint32_t end = 0;
  const auto flush = [&] {
    if (batch.size() > 1) merge_batch(transfers, batch);
    std::ranges::move(batch, std::back_inserter(merged));
    batch.clear();
    end = 0;
  };
  for (Instance& next : found) {
    const Place place = place_at_root(transfers, next);
    const bool belongs = !batch.empty() && next.verdict.kind == CollectiveKind::kBcast &&
                         next.verdict.roots == batch.front().verdict.roots &&
                         next.verdict.ranks == batch.front().verdict.ranks &&
                         transfers.all[next.transfers.front()].sent_at < end &&
                         std::ranges::none_of(batch, [&](const Instance& i) {
                           const Place other = place_at_root(transfers, i);
                           return other.first < place.second && place.first < other.second;
                         });
    if (!belongs) flush();
    end = std::max(end, last_place(transfers, next));
    batch.push_back(std::move(next));
  }
  flush();
  return merged;
}

/// p broadcasts of one group, one from each rank, that do not wait for one another are one allgather.
std::vector<Instance> merge_allgathers(const Transfers& transfers, std::vector<Instance> found) {
  std::vector<Instance> merged;
  for (std::size_t i = 0; i < found.size();) {
    const std::size_t p = found[i].verdict.ranks.size();
    std::set<std::int32_t> roots;
    TransferList all;
    std::size_t n = 0;
    const auto belongs = [&](const Instance& next) {
      return next.verdict.kind == CollectiveKind::kBcast && next.verdict.ranks == found[i].verdict.ranks;
    };
    for (; n < p && i + n < found.size() && belongs(found[i + n]); ++n) {
      if (!roots.insert(found[i + n].verdict.roots.front()).second) break;
      all.insert(all.end(), found[i + n].transfers.begin(), found[i + n].transfers.end());
    }
    std::optional<Verdict> verdict;
    if (n == p && all.size() < kMostInOneRound) verdict = judge(transfers, all);
    if (verdict && verdict->kind != CollectiveKind::kAllgather &&
        verdict->kind != CollectiveKind::kAllgatherv)
      verdict.reset();  // certain broadcasts come before whatever else the same messages could be
    if (!verdict) {
      merged.push_back(std::move(found[i++]));
      continue;
    }
    merged.push_back({std::move(*verdict), std::move(all)});
    i += p;
  }
  return merged;
}

/// Where ranks have received, as (begin, end); few different places, or it gives up noting them.
class ReceivePlaces {
 public:
  void add(const Transfer& t) {
    auto& places = of_[t.destination];
    const std::pair place{t.destination_buffer, t.destination_buffer + t.content.bytes};
    constexpr std::size_t kMost = 64;
    if (places.size() < kMost && std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  /// Whether what `t` sends lies in a longer or shorter message that its sender has received.
  [[nodiscard]] bool partly_received(const Transfer& t) const {
    const auto found = of_.find(t.source);
    if (found == of_.end()) return false;
    const std::pair place{t.source_buffer, t.source_buffer + t.content.bytes};
    return std::ranges::any_of(found->second, [&](const auto& other) {
      return other != place && other.first < place.second && place.first < other.second;
    });
  }

 private:
  std::unordered_map<std::int32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> of_;
};

/// Whether a rank received the two next to each other.
bool lie_side_by_side(const Transfers& transfers, const Instance& a, const Instance& b) {
  std::unordered_map<std::int32_t, Place> received;
  for (const TransferIndex i : a.transfers) {
    const Transfer& t = transfers.all[i];
    if (t.destination_buffer != 0)
      received[t.destination] = {t.destination_buffer, t.destination_buffer + t.content.bytes};
  }
  return std::ranges::any_of(b.transfers, [&](TransferIndex i) {
    const Transfer& t = transfers.all[i];
    const auto found = received.find(t.destination);
    return found != received.end() && (found->second.second == t.destination_buffer ||
                                       found->second.first == t.destination_buffer + t.content.bytes);
  });
}

}  // namespace

bool has_parts(const Transfers& transfers, const std::vector<Instance>& found) {
  for (std::size_t i = 1; i < found.size(); ++i)
    if (found[i - 1].verdict.roots == found[i].verdict.roots &&
        lie_side_by_side(transfers, found[i - 1], found[i]))
      return true;
  ReceivePlaces places;
  for (const Instance& i : found)
    for (const TransferIndex t : i.transfers) places.add(transfers.all[t]);
  return std::ranges::any_of(
      found, [&](const Instance& i) { return places.partly_received(transfers.all[i.transfers.front()]); });
}

std::vector<Instance> merge_segments(const Transfers& transfers, std::vector<Instance> found) {
  std::vector<Instance> merged;
  std::uint64_t end = 0;
  for (Instance& next : found) {
    if (!merged.empty() && is_next_segment(transfers, merged.back(), end, next)) {
      Instance& whole = merged.back();
      whole.transfers.insert(whole.transfers.end(), next.transfers.begin(), next.transfers.end());
      whole.verdict.bytes += next.verdict.bytes;
      whole.verdict.payload ^= next.verdict.payload * 3;
      whole.verdict.proof += next.verdict.proof;
      whole.verdict.by_order = whole.verdict.by_order && next.verdict.by_order;
      whole.verdict.certainty = std::min(whole.verdict.certainty, next.verdict.certainty);
      ++whole.segments;
      end = end_of_payload(transfers, next);
      continue;
    }
    end = end_of_payload(transfers, next);
    merged.push_back(std::move(next));
  }
  return merged;
}

std::vector<Instance> merged(const Transfers& transfers, std::vector<Instance> found) {
  return merge_segments(transfers,
                        merge_concurrent(transfers, merge_allgathers(transfers, std::move(found))));
}

}  // namespace nplus1::detector
