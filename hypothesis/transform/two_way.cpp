#include "hypothesis/transform/two_way.hpp"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace nplus1::hypothesis::transform {
namespace {

using Times = std::vector<std::vector<float>>;

/// Below this share of the mean a difference is what is left of rounding to floats.
constexpr double kRounding = 1e-6;

/// Means over batches of consecutive steps, all of equal length; steps that fill no batch are left out.
std::vector<std::vector<double>> batch_means(const Times& times, std::size_t batches) {
  const std::size_t width = times.front().size() / batches;
  std::vector<std::vector<double>> means(times.size(), std::vector<double>(batches));
  for (std::size_t r = 0; r < times.size(); ++r)
    for (std::size_t b = 0; b < batches; ++b) {
      double sum = 0;
      for (std::size_t k = b * width; k < (b + 1) * width; ++k) sum += static_cast<double>(times[r][k]);
      means[r][b] = sum / static_cast<double>(width);
    }
  return means;
}

}  // namespace

TwoWay::TwoWay(const Times& times) {
  const bool even = times.size() >= 2 && times.front().size() >= 2 &&
                    std::all_of(times.begin(), times.end(),
                                [&](const auto& rank) { return rank.size() == times.front().size(); });
  if (!even) throw std::invalid_argument{"two ranks or more, each as often, twice or more"};
  means_of(times);
  if (mean_ > 0) test(times);
}

void TwoWay::means_of(const Times& times) {
  const std::size_t steps = times.front().size();
  step_.assign(steps, 0);
  for (const auto& rank : times) {
    double sum = 0;
    for (std::size_t k = 0; k < steps; ++k) {
      sum += static_cast<double>(rank[k]);
      step_[k] += static_cast<double>(rank[k]);
    }
    factor_.push_back(sum / static_cast<double>(steps));
    mean_ += sum;
  }
  mean_ /= static_cast<double>(steps * times.size());
  for (double& m : step_) m /= static_cast<double>(times.size());
  for (double& f : factor_) f = mean_ > 0 ? f / mean_ : 1;
}

void TwoWay::test(const Times& times) {
  const auto ranks = static_cast<double>(times.size());
  batches_ = std::min(kMostBatches, step_.size());
  const auto means = batch_means(times, batches_);
  double additive = 0, proportional = 0;
  std::vector<double> rank_mean(times.size(), 0);
  for (std::size_t b = 0; b < batches_; ++b) {
    double batch = 0;
    for (const auto& rank : means) batch += rank[b] / ranks;
    for (std::size_t r = 0; r < times.size(); ++r) {
      additive += std::pow(means[r][b] - batch - mean_ * (factor_[r] - 1), 2);
      proportional += std::pow(means[r][b] - batch * factor_[r], 2);
    }
  }
  proportional_ = proportional < additive;
  // Each batch relative to its own mean, where the ranks' shares are what stays.
  double between = 0, within = 0;
  std::vector<std::vector<double>> z = means;
  for (std::size_t b = 0; b < batches_; ++b) {
    double batch = 0;
    for (const auto& rank : means) batch += rank[b] / ranks;
    for (std::size_t r = 0; r < times.size(); ++r) {
      z[r][b] = proportional_ ? (batch > 0 ? means[r][b] / batch - 1 : 0) : (means[r][b] - batch) / mean_;
      rank_mean[r] += z[r][b] / static_cast<double>(batches_);
    }
  }
  for (std::size_t r = 0; r < times.size(); ++r) {
    between += static_cast<double>(batches_) * rank_mean[r] * rank_mean[r];
    for (std::size_t b = 0; b < batches_; ++b) within += std::pow(z[r][b] - rank_mean[r], 2);
  }
  const double freedom = ranks - 1, freedom_within = freedom * (static_cast<double>(batches_) - 1);
  between /= freedom;
  within /= freedom_within;
  if (within > kRounding * kRounding) {
    f_ = between / within;
    p_ = boost::math::cdf(boost::math::complement(boost::math::fisher_f{freedom, freedom_within}, f_));
    kept_ = p_ < kLevel ? std::max(0.0, 1 - 1 / f_) : 0;
  } else {  // the same in every batch
    kept_ = between > kRounding * kRounding ? 1 : 0;
    f_ = kept_ > 0 ? std::numeric_limits<double>::infinity() : 0;
    p_ = kept_ > 0 ? 0 : 1;
  }
  double by_rank = 0, by_step = 0, rest = 0;
  for (const double f : factor_) by_rank += std::pow(mean_ * (f - 1), 2);
  for (const double m : step_) by_step += std::pow(m - mean_, 2);
  for (std::size_t r = 0; r < times.size(); ++r)
    for (std::size_t k = 0; k < step_.size(); ++k) {
      const double told = proportional_ ? step_[k] * factor_[r] : step_[k] + mean_ * (factor_[r] - 1);
      rest += std::pow(static_cast<double>(times[r][k]) - told, 2);
    }
  by_rank_ = std::sqrt(by_rank / freedom);
  by_step_ = std::sqrt(by_step / (static_cast<double>(step_.size()) - 1));
  random_ = std::sqrt(rest / (freedom * (static_cast<double>(step_.size()) - 1)));
  exact_ = random_ <= kRounding * mean_;
}

double TwoWay::steady(std::size_t r, std::size_t k) const {
  const double effect = kept_ * (factor_[r] - 1);
  return std::max(0.0, proportional_ ? step_[k] * (1 + effect) : step_[k] + mean_ * effect);
}

}  // namespace nplus1::hypothesis::transform
