#include "hypothesis/whatif/placement.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace nplus1::hypothesis {
namespace {

using Peer = PlacementProblem::Peer;

/// What a measure adds up over links: linear for hop bytes, quadratic for unevenness. Kept while ranks are swapped.
class Loads {
 public:
  Loads(const PlacementProblem& problem, Measure measure, const Placement& placement)
      : problem_{problem},
        measure_{measure},
        received_(problem.n),
        load_(problem.seconds_per_byte.size(), 0) {
    for (std::uint32_t r = 0; r < problem.n; ++r)
      for (const Peer& peer : problem.sent[r]) received_[peer.rank].push_back({r, peer.bytes});
    for (std::uint32_t r = 0; r < problem.n; ++r)
      for (const Peer& peer : problem.sent[r]) carry(placement[r], placement[peer.rank], peer.bytes);
  }

  [[nodiscard]] double total() const { return total_; }

  void swap(Placement& placement, std::uint32_t a, std::uint32_t b) {
    carry_of(placement, a, b, -1);
    std::swap(placement[a], placement[b]);
    carry_of(placement, a, b, 1);
  }

 private:
  void carry(std::uint32_t from, std::uint32_t to, double bytes) {
    for (const auto link : problem_.way(from, to)) {
      if (measure_ == Measure::kHopBytes) {
        total_ += bytes;
        continue;
      }
      const double before = load_[link];
      load_[link] += bytes * problem_.seconds_per_byte[link];
      total_ += load_[link] * load_[link] - before * before;
    }
  }
  /// All that `a` and `b` send and receive, once.
  void carry_of(const Placement& at, std::uint32_t a, std::uint32_t b, double sign) {
    for (const std::uint32_t r : {a, b}) {
      for (const Peer& peer : problem_.sent[r]) carry(at[r], at[peer.rank], sign * peer.bytes);
      for (const Peer& peer : received_[r])
        if (peer.rank != a && peer.rank != b) carry(at[peer.rank], at[r], sign * peer.bytes);
    }
  }

  const PlacementProblem& problem_;
  const Measure measure_;
  std::vector<std::vector<Peer>> received_;  // by rank: from whom
  std::vector<double> load_;
  double total_ = 0;
};

std::vector<std::vector<double>> exchanged(const PlacementProblem& problem) {
  std::vector<std::vector<double>> both(problem.n, std::vector<double>(problem.n, 0));
  for (std::uint32_t r = 0; r < problem.n; ++r)
    for (const Peer& peer : problem.sent[r]) {
      both[r][peer.rank] += peer.bytes;
      both[peer.rank][r] += peer.bytes;
    }
  return both;
}

}  // namespace

Placement as_it_is(std::size_t n) {
  Placement placement(n);
  std::iota(placement.begin(), placement.end(), 0U);
  return placement;
}

double hop_bytes(const PlacementProblem& problem, const Placement& placement) {
  return Loads{problem, Measure::kHopBytes, placement}.total();
}

double unevenness(const PlacementProblem& problem, const Placement& placement) {
  return Loads{problem, Measure::kUnevenness, placement}.total();
}

Placement greedy(const PlacementProblem& problem) {
  const auto both = exchanged(problem);
  std::vector<double> with_placed(problem.n, 0);
  std::vector<bool> placed(problem.n, false);
  std::vector<bool> taken(problem.n, false);
  Placement placement(problem.n, 0);
  for (std::size_t step = 0; step < problem.n; ++step) {
    std::uint32_t next = 0;
    double most = -1;
    for (std::uint32_t r = 0; r < problem.n; ++r) {
      if (placed[r]) continue;
      const double weight = step == 0 ? std::accumulate(both[r].begin(), both[r].end(), 0.0) : with_placed[r];
      if (weight > most) {
        most = weight;
        next = r;
      }
    }
    std::uint32_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t place = 0; place < problem.n; ++place) {
      if (taken[place]) continue;
      double cost = 0;
      for (std::uint32_t r = 0; r < problem.n; ++r)
        if (placed[r] && both[next][r] > 0)
          cost += both[next][r] * static_cast<double>(problem.way(place, placement[r]).size());
      if (cost < least) {
        least = cost;
        best = place;
      }
    }
    placement[next] = best;
    placed[next] = taken[best] = true;
    for (std::uint32_t r = 0; r < problem.n; ++r) with_placed[r] += both[next][r];
  }
  return placement;
}

Placement improved(const PlacementProblem& problem, Placement placement, Measure measure,
                   std::uint64_t most) {
  Loads loads{problem, measure, placement};
  constexpr double kWorthIt = 1e-9;  // sums of many changes are off by less
  std::uint64_t looked_at = 0;
  for (bool better = true; better;) {
    better = false;
    for (std::uint32_t a = 0; a < problem.n; ++a)
      for (std::uint32_t b = a + 1; b < problem.n; ++b) {
        if (++looked_at > most) return placement;
        const double before = loads.total();
        loads.swap(placement, a, b);
        if (loads.total() < before * (1 - kWorthIt))
          better = true;
        else
          loads.swap(placement, a, b);
      }
  }
  return placement;
}

}  // namespace nplus1::hypothesis
