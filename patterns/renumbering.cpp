#include "patterns/renumbering.hpp"

#include <algorithm>
#include <numeric>

namespace nplus1::patterns {
namespace {

using Places = std::vector<std::int32_t>;

constexpr std::uint64_t kSteps = 200'000'000;  // look-ups of a distance for each start: a second or two

struct Partner {
  std::size_t rank;
  std::int64_t bytes;  // both ways
};

class Search {
 public:
  Search(const Layer& layer, std::size_t ranks, const Topology& topology)
      : ranks_{ranks}, partners_(ranks), hops_(ranks * ranks) {
    for (std::size_t a = 0; a < ranks; ++a)
      for (std::size_t b = 0; b < ranks; ++b) hops_[a * ranks + b] = topology.hops(a, b);
    for (const MatrixRow& row : layer.rows)
      for (const Cell& cell : row.cells) connect(row.source, cell);
  }

  [[nodiscard]] Places greedy() const {
    Places place(ranks_, -1);
    std::vector<bool> taken(ranks_);
    std::vector<std::int64_t> pull(ranks_);  // bytes exchanged with those placed
    for (std::size_t n = 0; n < ranks_; ++n) {
      const std::size_t rank = next(place, pull);
      const std::size_t where = nearest(rank, place, taken);
      place[rank] = static_cast<std::int32_t>(where);
      taken[where] = true;
      for (const Partner& p : partners_[rank]) pull[p.rank] += p.bytes;
    }
    return place;
  }

  /// Swaps pairs until nothing is to be gained.
  void improve(Places& place) const {
    std::uint64_t steps = 0;
    bool better = true;
    while (better && steps < kSteps) {
      better = false;
      for (std::size_t a = 0; a < ranks_ && steps < kSteps; ++a) {
        for (std::size_t b = a + 1; b < ranks_; ++b) {
          steps += 1 + partners_[a].size() + partners_[b].size();
          if (place_gain(place, a, b) + place_gain(place, b, a) <= 0) continue;
          std::swap(place[a], place[b]);
          better = true;
        }
      }
    }
  }

 private:
  void connect(std::int32_t source, const Cell& cell) {
    if (source == cell.destination || cell.bytes == 0) return;
    const auto from = static_cast<std::size_t>(source);
    const auto to = static_cast<std::size_t>(cell.destination);
    partners_[from].push_back({to, static_cast<std::int64_t>(cell.bytes)});
    partners_[to].push_back({from, static_cast<std::int64_t>(cell.bytes)});
  }

  [[nodiscard]] std::int64_t distance(std::int32_t a, std::int32_t b) const {
    return hops_[static_cast<std::size_t>(a) * ranks_ + static_cast<std::size_t>(b)];
  }

  /// What `rank` saves by moving to where `other` is; the pair's own distance stays.
  [[nodiscard]] std::int64_t place_gain(const Places& place, std::size_t rank, std::size_t other) const {
    std::int64_t gain = 0;
    for (const Partner& p : partners_[rank]) {
      if (p.rank == other) continue;
      gain += p.bytes * (distance(place[rank], place[p.rank]) - distance(place[other], place[p.rank]));
    }
    return gain;
  }

  /// The unplaced rank that is pulled most; for a tie the smallest.
  [[nodiscard]] std::size_t next(const Places& place, const std::vector<std::int64_t>& pull) const {
    std::size_t best = ranks_;
    for (std::size_t r = 0; r < ranks_; ++r)
      if (place[r] < 0 && (best == ranks_ || pull[r] > pull[best])) best = r;
    return best;
  }

  [[nodiscard]] std::size_t nearest(std::size_t rank, const Places& place,
                                    const std::vector<bool>& taken) const {
    std::size_t best = ranks_;
    std::int64_t least = 0;
    for (std::size_t where = 0; where < ranks_; ++where) {
      if (taken[where]) continue;
      std::int64_t cost = 0;
      for (const Partner& p : partners_[rank])
        if (place[p.rank] >= 0) cost += p.bytes * distance(static_cast<std::int32_t>(where), place[p.rank]);
      if (best == ranks_ || cost < least) {
        best = where;
        least = cost;
      }
    }
    return best;
  }

  std::size_t ranks_;
  std::vector<std::vector<Partner>> partners_;
  std::vector<std::uint32_t> hops_;
};

}  // namespace

std::uint64_t hop_bytes(const Layer& layer, const Topology& topology, const Places& place) {
  std::uint64_t sum = 0;
  for (const MatrixRow& row : layer.rows)
    for (const Cell& cell : row.cells)
      sum += cell.bytes *
             topology.hops(static_cast<std::size_t>(place[static_cast<std::size_t>(row.source)]),
                           static_cast<std::size_t>(place[static_cast<std::size_t>(cell.destination)]));
  return sum;
}

std::optional<Renumbering> renumber(const Layer& layer, std::size_t ranks, const Topology& topology) {
  Places now(ranks);
  std::iota(now.begin(), now.end(), 0);
  Renumbering best{topology.text(), hop_bytes(layer, topology, now), 0, now};
  best.hop_bytes_after = best.hop_bytes;
  if (best.hop_bytes == 0 || ranks > kMostRenumbered) return std::nullopt;
  const Search search{layer, ranks, topology};
  for (Places start : {now, search.greedy()}) {
    search.improve(start);
    const std::uint64_t after = hop_bytes(layer, topology, start);
    if (after < best.hop_bytes_after) best = {best.topology, best.hop_bytes, after, start};
  }
  if (best.hop_bytes_after >= best.hop_bytes) return std::nullopt;
  return best;
}

}  // namespace nplus1::patterns
