#include "overlap/normal_form.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace nplus1::overlap {
namespace {

/// Less is noise of the arithmetic: noise-free data would else pick terms of 1e-17.
constexpr double kLeastError = 1e-6;
/// A term that is nowhere more of the value is none.
constexpr double kLeastPart = 1e-4;
/// A runner-up that errs more than this, and far more than the best, is no other opinion.
constexpr double kPlausible = 0.05;
/// The second term must be that much better.
constexpr double kPays = 0.8;
constexpr std::size_t kRunnersUp = 3;
constexpr double kKnee = 1.25;

double log_of(double value) {
  return std::log2(std::max(value, 1.0));
}

double complexity(const Term& t) {
  return std::abs(t.n_power) + std::abs(t.p_power) + 0.3 * (t.n_log + t.p_log);
}

double complexity(const Model& m) {
  double sum = 0;
  for (const Term& t : m.terms) sum += 0.01 + complexity(t);
  return sum;
}

std::vector<Term> terms_for(bool sizes, bool ranks) {
  std::vector<Term> all;
  const std::vector<double> n_powers =
      sizes ? std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5, 3} : std::vector<double>{0};
  const std::vector<double> p_powers =
      ranks ? std::vector<double>{0, -1, -0.5, 0.5, 1, 2} : std::vector<double>{0};
  for (const double n : n_powers)
    for (const double p : p_powers)
      for (int nl = 0; nl <= (sizes ? 1 : 0); ++nl)
        for (int pl = 0; pl <= (ranks ? 1 : 0); ++pl) all.push_back({n, p, nl, pl});
  return all;
}

/// Relative weights: every point counts alike. Columns are scaled before the decomposition, factors after it.
std::optional<Model> fitted(const std::vector<Point>& points, const std::vector<Term>& terms) {
  const auto rows = static_cast<Eigen::Index>(points.size());
  const auto columns = static_cast<Eigen::Index>(terms.size());
  if (rows <= columns) return std::nullopt;
  Eigen::MatrixXd a{rows, columns};
  for (Eigen::Index r = 0; r < rows; ++r)
    for (Eigen::Index c = 0; c < columns; ++c) {
      const Point& p = points[static_cast<std::size_t>(r)];
      a(r, c) = terms[static_cast<std::size_t>(c)].at(p.n, p.p) / p.value;
    }
  Eigen::VectorXd scale{columns};
  for (Eigen::Index c = 0; c < columns; ++c) {
    scale(c) = a.col(c).norm();
    if (!(scale(c) > 0) || !std::isfinite(scale(c))) return std::nullopt;
    a.col(c) /= scale(c);
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr{a};
  if (qr.rank() < columns) return std::nullopt;
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(rows);
  const Eigen::VectorXd scaled = qr.solve(ones);
  Model model;
  model.terms = terms;
  for (Eigen::Index c = 0; c < columns; ++c) {
    // Neither takes anything away, nor is it there for the last digits.
    if (scaled(c) <= 0 || (columns > 1 && scaled(c) * a.col(c).maxCoeff() < kLeastPart)) return std::nullopt;
    model.factors.push_back(scaled(c) / scale(c));
  }
  // What the model without a point says of it, from the diagonal of the projection.
  const Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(rows, columns);
  const Eigen::VectorXd residual = ones - a * scaled;
  double sum = 0;
  for (Eigen::Index r = 0; r < rows; ++r) {
    const double without = 1 - q.row(r).squaredNorm();
    const double predicted = 1 - residual(r) / std::max(without, 1e-9);
    sum += 2 * std::abs(predicted - 1) / (std::abs(predicted) + 1);
  }
  model.error = std::max(kLeastError, sum / static_cast<double>(rows));
  return model;
}

bool better(const Model& a, const Model& b) {
  const auto key = [](const Model& m) {
    return std::pair{m.error <= 10 * kLeastError ? kLeastError : m.error, complexity(m)};
  };
  return key(a) < key(b);
}

/// All models of one or two terms, best first.
std::vector<Model> ranked_models(const std::vector<Point>& points, bool sizes, bool ranks) {
  const std::vector<Term> terms = terms_for(sizes, ranks);
  std::vector<Model> one, two;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (auto model = fitted(points, {terms[i]})) one.push_back(std::move(*model));
    for (std::size_t j = i + 1; j < terms.size(); ++j)
      if (auto model = fitted(points, {terms[i], terms[j]})) two.push_back(std::move(*model));
  }
  std::stable_sort(one.begin(), one.end(), better);
  std::stable_sort(two.begin(), two.end(), better);
  const bool pays = !two.empty() && (one.empty() || (two.front().error < kPays * one.front().error));
  std::vector<Model>& first = pays ? two : one;
  std::vector<Model>& rest = pays ? one : two;
  std::vector<Model> all{first.begin(),
                         first.begin() + static_cast<std::ptrdiff_t>(std::min(first.size(), kRunnersUp + 1))};
  if (all.size() > 1 && !rest.empty() && better(rest.front(), all.back())) all.back() = rest.front();
  return all;
}

std::size_t different(const std::vector<Point>& points, double Point::*what) {
  std::set<double> values;
  for (const Point& p : points) values.insert(p.*what);
  return values.size();
}

/// Whether the two largest sizes take more than those before them let one expect.
bool has_knee(const std::vector<Point>& points, bool ranks) {
  std::set<double> sizes;
  for (const Point& p : points) sizes.insert(p.n);
  if (sizes.size() < kFewestValues) return false;
  const double from = *std::prev(sizes.end(), 2);
  std::vector<Point> smaller;
  for (const Point& p : points)
    if (p.n < from) smaller.push_back(p);
  const auto models = ranked_models(smaller, true, ranks);
  if (models.empty()) return false;
  return std::any_of(points.begin(), points.end(), [&](const Point& p) {
    return p.n >= from && p.value > kKnee * models.front().at(p.n, p.p);
  });
}

void append_power(std::string& text, const char* name, double power, int log) {
  const auto factor = [&](const std::string& f) { text += (text.empty() ? "" : " ") + f; };
  if (power == 1)
    factor(name);
  else if (power != 0)
    factor(fmt::format("{}^{:g}", name, power));
  if (log == 1) factor(fmt::format("log {}", name));
}

}  // namespace

double Term::at(double n, double p) const {
  return std::pow(n, n_power) * std::pow(p, p_power) * std::pow(log_of(n), n_log) *
         std::pow(log_of(p), p_log);
}

std::string Term::text() const {
  std::string text;
  append_power(text, "n", n_power, n_log);
  append_power(text, "p", p_power, p_log);
  return text.empty() ? "1" : text;
}

double Model::at(double n, double p) const {
  double sum = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) sum += factors[i] * terms[i].at(n, p);
  return sum;
}

std::string Model::text() const {
  if (terms.empty()) return "0";
  std::string text;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    text += fmt::format("{}{:.3g}", i == 0 ? "" : " + ", factors[i]);
    if (!terms[i].constant()) text += " " + terms[i].text();
  }
  return text;
}

Fit::Spread Fit::spread(double n, double p) const {
  Spread s{best.at(n, p), best.at(n, p)};
  for (const Model& m : others) {
    if (m.error > std::max(kPlausible, 3 * best.error)) continue;
    s.least = std::min(s.least, m.at(n, p));
    s.most = std::max(s.most, m.at(n, p));
  }
  return s;
}

Fit fit(const std::vector<Point>& all) {
  Fit result;
  // Relative weights have no place for zero.
  std::vector<Point> points;
  for (const Point& p : all)
    if (p.value > 0) points.push_back(p);
  const std::size_t sizes = different(all, &Point::n), ranks = different(all, &Point::p);
  result.few_sizes = sizes > 1 && sizes < kFewestValues;
  result.few_ranks = ranks > 1 && ranks < kFewestValues;
  if (points.empty()) return result;
  std::vector<Model> models = ranked_models(points, sizes > 1, ranks > 1);
  if (models.empty()) {
    double mean = 0;
    for (const Point& p : points) mean += p.value / static_cast<double>(points.size());
    result.best = {{Term{}}, {mean}, 1};
    return result;
  }
  result.best = models.front();
  result.others.assign(models.begin() + 1, models.end());
  result.knee = has_knee(points, ranks > 1);
  return result;
}

}  // namespace nplus1::overlap
