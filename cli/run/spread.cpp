#include "cli/run/spread.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>

#include "guidelines/order_statistics.hpp"

namespace nplus1::cli {

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Spread s;
  s.count = values.size();
  s.lower_quartile = guidelines::quantile(values, 0.25);
  s.median = guidelines::quantile(values, 0.5);
  s.upper_quartile = guidelines::quantile(values, 0.75);
  s.least = values.front();
  s.most = values.back();
  const boost::math::binomial below{static_cast<double>(s.count), 0.5};
  const auto level = [&below](std::size_t k) {
    return 1 - 2 * boost::math::cdf(below, static_cast<double>(k - 1));
  };
  std::size_t k = 1;
  while (2 * (k + 1) <= s.count && level(k + 1) >= kMedianLevel) ++k;
  s.from = values[k - 1];
  s.to = values[s.count - k];
  s.level = std::max(0.0, level(k));
  return s;
}

}  // namespace nplus1::cli
