#include "guidelines/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace nplus1::guidelines {

double quantile(const Values& sorted, double share) {
  if (sorted.empty()) throw std::invalid_argument{"a quantile of nothing"};
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double above = sorted[std::min(below + 1, sorted.size() - 1)];
  const double part = place - static_cast<double>(below);
  return part == 0 || above == sorted[below] ? sorted[below] : sorted[below] + part * (above - sorted[below]);
}

double median(Values values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

Values tukey_filtered(const Values& values) {
  if (values.empty()) return {};
  Values sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double low = quantile(sorted, 0.25);
  const double high = quantile(sorted, 0.75);
  const double reach = 1.5 * (high - low);
  Values kept;
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
               [&](double v) { return v >= low - reach && v <= high + reach; });
  return kept;
}

std::vector<std::size_t> doubled_ranks(const Values& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<std::size_t> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = begin + 1 + end;
  }
  return ranks;
}

}  // namespace nplus1::guidelines
