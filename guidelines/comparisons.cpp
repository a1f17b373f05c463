#include "guidelines/comparisons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nplus1::guidelines {
namespace {

/// A test's samples on p processes, sizes ascending.
std::vector<std::pair<std::uint64_t, const Sample*>> by_size(const Samples& samples, int processes,
                                                             const std::string& test) {
  std::vector<std::pair<std::uint64_t, const Sample*>> list;
  for (auto at = samples.lower_bound({processes, test, 0});
       at != samples.end() && at->first.processes == processes && at->first.test == test; ++at)
    list.emplace_back(at->first.size, &at->second);
  return list;
}

Side side_of(const std::string& test, std::uint64_t size, const Sample& sample, std::uint64_t calls = 1) {
  Side side{test, size, calls, static_cast<double>(calls) * median(sample.medians), {}, sample.medians};
  if (!sample.without_copies.empty()) side.without_copies = median(sample.without_copies);
  return side;
}

/// The values of both samples whose mpiruns are in both, in the same order.
std::pair<Values, Values> paired(const Sample& left, const Sample& right, const Values& of_right) {
  std::pair<Values, Values> pairs;
  for (std::size_t i = 0; i < left.mpiruns.size(); ++i) {
    const auto same = std::lower_bound(right.mpiruns.begin(), right.mpiruns.end(), left.mpiruns[i]);
    if (same == right.mpiruns.end() || *same != left.mpiruns[i]) continue;
    pairs.first.push_back(left.medians[i]);
    pairs.second.push_back(of_right[static_cast<std::size_t>(same - right.mpiruns.begin())]);
  }
  return pairs;
}

double p_value(const Sample& left, const Sample& right, const Values& of_right, Method method) {
  switch (method) {
    case Method::kRankSum:
      return rank_sum(left.medians, of_right).p;
    case Method::kRankSumNormal:
      return rank_sum_normal(left.medians, of_right).p;
    case Method::kKolmogorovSmirnov:
      return kolmogorov_smirnov(left.medians, of_right).p;
    case Method::kSignedRank:
      break;
  }
  const auto [x, y] = paired(left, right, of_right);
  return signed_rank(x, y).p;
}

class Comparing {
 public:
  Comparing(const Samples& samples, const Judging& judging, bool with_statistics)
      : samples_{samples}, judging_{judging}, with_statistics_{with_statistics} {}

  void pattern(const Guideline& g, int processes) {
    for (const auto& [size, of_original] : by_size(samples_, processes, g.original)) {
      const auto mock_up = samples_.find({processes, g.mock_up, size});
      if (mock_up == samples_.end()) continue;
      add({Rule::kPattern, g.original, g.bound, processes, side_of(g.original, size, *of_original),
           side_of(g.mock_up, size, mock_up->second)},
          *of_original, mock_up->second);
    }
  }

  void monotony(const Guideline& g, int processes) {
    const auto sizes = by_size(samples_, processes, g.original);
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      const auto& [small, of_small] = sizes[i - 1];
      const auto& [large, of_large] = sizes[i];
      add({Rule::kMonotony, g.original, fmt::format("{}({})", g.original, size_text(large)), processes,
           side_of(g.original, small, *of_small), side_of(g.original, large, *of_large)},
          *of_small, *of_large);
    }
  }

  /// For each size the largest smaller one whose k calls are faster; if none is, the next smaller one stands.
  void split(const Guideline& g, int processes) {
    const auto sizes = by_size(samples_, processes, g.original);
    for (std::size_t j = 1; j < sizes.size(); ++j) {
      std::optional<Comparison> shown;
      for (std::size_t i = j; i-- > 0 && sizes[i].first > 0;) {
        Comparison c = split_of(g, processes, sizes[j], sizes[i]);
        const bool violated = c.ratio.estimate > judging_.split_factor;
        if (!shown || violated) shown = std::move(c);
        if (violated) break;
      }
      if (shown) results.push_back(std::move(*shown));
    }
  }

  std::vector<Comparison> results;

 private:
  using Sized = std::pair<std::uint64_t, const Sample*>;

  void add(Comparison c, const Sample& left, const Sample& right) {
    compare(left, right, judging_, with_statistics_, c);
    results.push_back(std::move(c));
  }

  static Comparison split_of(const Guideline& g, int processes, const Sized& large, const Sized& small) {
    const std::uint64_t calls = (large.first + small.first - 1) / small.first;
    Comparison c{Rule::kSplit,
                 g.original,
                 fmt::format("{} {}({})", calls, g.original, size_text(small.first)),
                 processes,
                 side_of(g.original, large.first, *large.second),
                 side_of(g.original, small.first, *small.second, calls)};
    const double ratio = c.left.seconds / c.right.seconds;
    c.ratio = {ratio, ratio, ratio};
    return c;
  }

  const Samples& samples_;
  const Judging& judging_;
  bool with_statistics_;
};

std::set<int> processes_of(const Samples& samples) {
  std::set<int> processes;
  for (const auto& [place, sample] : samples) processes.insert(place.processes);
  return processes;
}

}  // namespace

void compare(const Sample& left, const Sample& right, const Judging& judging, bool with_statistics,
             Comparison& c) {
  const bool without = judging.without_copies && !right.without_copies.empty();
  const Values& of_right = without ? right.without_copies : right.medians;
  if (!with_statistics) {
    const double ratio = median(left.medians) / median(of_right);
    c.ratio = {ratio, ratio, ratio};
    return;
  }
  c.ratio = hodges_lehmann_ratio(left.medians, of_right, judging.confidence);
  c.delta = cliffs_delta(left.medians, of_right);
  c.p = p_value(left, right, of_right, judging.method);
}

std::vector<Comparison> comparisons_of(const Catalogue& catalogue, const Samples& samples,
                                       const Judging& judging, bool with_statistics) {
  Comparing comparing{samples, judging, with_statistics};
  for (const int processes : processes_of(samples)) {
    for (const Guideline& g : catalogue.guidelines) {
      if (g.is_pattern()) {
        comparing.pattern(g, processes);
      } else {
        comparing.monotony(g, processes);
        comparing.split(g, processes);
      }
    }
  }
  return std::move(comparing.results);
}

}  // namespace nplus1::guidelines
