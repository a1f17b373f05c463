#include "calibrate/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nplus1::calibrate {
namespace {

/// Of samples of one kind of size that say how long the CPU is busy: beyond, sends wait for the receiver.
constexpr double kSmall = 4096;
/// Mean square of relative errors below which a fit cannot be told from the measurement.
constexpr double kPerfect = 1e-6;

double squares(const std::vector<Sample>& samples, std::size_t first, std::size_t last, const Line& line) {
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double error = line.at(samples[i].size) / samples[i].median - 1;
    sum += error * error;
  }
  return sum;
}

/// Both parameters not below zero: the best of the free fit and the two with one of them zero.
Line clamped(const std::vector<Sample>& samples, std::size_t first, std::size_t last, const Line& free) {
  if (free.a >= 0 && free.b >= 0) return free;
  double s1 = 0;
  double s2 = 0;
  double r1 = 0;
  double r2 = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double u = 1 / samples[i].median;
    const double v = samples[i].size / samples[i].median;
    s1 += u;
    s2 += u * u;
    r1 += v;
    r2 += v * v;
  }
  const Line constant{s1 / s2, 0};
  const Line slope{0, r2 > 0 ? r1 / r2 : 0};
  return squares(samples, first, last, constant) <= squares(samples, first, last, slope) ? constant : slope;
}

bool is_power_of_two(double size) {
  int exponent = 0;
  return std::frexp(size, &exponent) == 0.5;
}

std::vector<Sample> up_to(const std::vector<Sample>& samples, double size) {
  std::vector<Sample> some;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(some),
               [size](const Sample& s) { return s.size <= size; });
  return some;
}

/// The largest size of which, and of all smaller ones, sends completed before their receives.
double eager_limit(const std::vector<Sample>& eager) {
  double limit = 0;
  for (const Sample& sample : eager) {
    if (sample.median < 0.5) break;
    limit = sample.size;
  }
  return limit;
}

}  // namespace

Line fit_line(const std::vector<Sample>& samples, std::size_t first, std::size_t last) {
  // Normal equations of a u + b v = 1 with u = 1/t, v = s/t.
  double uu = 0;
  double uv = 0;
  double vv = 0;
  double u1 = 0;
  double v1 = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double u = 1 / samples[i].median;
    const double v = samples[i].size / samples[i].median;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u1 += u;
    v1 += v;
  }
  const double determinant = uu * vv - uv * uv;
  if (!(determinant > 1e-12 * uu * vv)) return clamped(samples, first, last, {-1, -1});
  const Line line{(u1 * vv - v1 * uv) / determinant, (v1 * uu - u1 * uv) / determinant};
  return clamped(samples, first, last, line);
}

std::vector<Piece> fit_pieces(const std::vector<Sample>& samples, std::size_t most, std::size_t fewest) {
  const std::size_t n = samples.size();
  if (n == 0) return {};
  // best[k][i]: the least sum of squares of the first i samples in k + 1 ranges; cut[k][i]: where the last begins.
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(most, std::vector<double>(n + 1, kInfinite));
  std::vector<std::vector<std::size_t>> cut(most, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t i = 1; i <= n; ++i) best[0][i] = squares(samples, 0, i, fit_line(samples, 0, i));
  for (std::size_t k = 1; k < most; ++k) {
    for (std::size_t i = (k + 1) * fewest; i <= n; ++i) {
      for (std::size_t j = k * fewest; j + fewest <= i; ++j) {
        const double sum = best[k - 1][j] + squares(samples, j, i, fit_line(samples, j, i));
        if (sum >= best[k][i]) continue;
        best[k][i] = sum;
        cut[k][i] = j;
      }
    }
  }
  std::size_t k = 0;
  for (std::size_t more = 1; more < most; ++more)
    if (best[more][n] < 0.9 * best[k][n] && best[k][n] > kPerfect * static_cast<double>(n)) k = more;
  std::vector<Piece> pieces;
  for (std::size_t end = n; end > 0; --k) {
    const std::size_t begin = cut[k][end];
    pieces.push_back({begin == 0 ? 0 : samples[begin].size, fit_line(samples, begin, end)});
    end = begin;
    if (k == 0) break;
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

double time_at(const std::vector<Piece>& pieces, double size) {
  const auto next =
      std::find_if(pieces.begin() + 1, pieces.end(), [size](const Piece& p) { return size < p.from; });
  return std::prev(next)->line.at(size);
}

double time_at(const LogGopsFit& fit, double size) {
  return fit.latency + size * fit.gap_per_byte + 2 * (fit.overhead + size * fit.overhead_per_byte);
}

std::vector<Sample> fitted_sizes(const std::vector<Sample>& samples) {
  std::vector<Sample> some;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(some),
               [](const Sample& s) { return is_power_of_two(s.size); });
  return some;
}

std::vector<Sample> held_back_sizes(const std::vector<Sample>& samples) {
  std::vector<Sample> some;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(some),
               [](const Sample& s) { return !is_power_of_two(s.size); });
  return some;
}

LogGopsFit fit_loggops(const Measurements& m, const Line& whole, double eager) {
  LogGopsFit fit;
  fit.eager_limit = eager;
  const auto sends = up_to(fitted_sizes(m.send), std::min(eager, kSmall));
  if (!sends.empty()) {
    const Line busy = fit_line(sends, 0, sends.size());
    fit.overhead = std::min(busy.a, whole.a / 2);  // both sides' fit into the whole
    fit.overhead_per_byte = std::min(busy.b, whole.b / 2);
  }
  fit.latency = whole.a - 2 * fit.overhead;
  fit.gap_per_byte = whole.b - 2 * fit.overhead_per_byte;
  if (!m.gap.empty()) fit.gap = m.gap.front().median;
  return fit;
}

/// The closed form of the same least squares with one parameter: with x = s/t, sum of (x/rate - 1)^2.
double fit_rate(const std::vector<Sample>& samples, double least) {
  double xx = 0;
  double x = 0;
  for (const Sample& sample : samples) {
    if (sample.size < least || sample.median <= 0) continue;
    xx += sample.size / sample.median * (sample.size / sample.median);
    x += sample.size / sample.median;
  }
  return x > 0 ? xx / x : 0;
}

std::vector<Piece> fit_times(const std::vector<Sample>& times, double eager_limit) {
  std::vector<Piece> pieces = fit_pieces(times);
  // Where the protocol changes is known better than from the sizes fitted to.
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const auto at =
        std::find_if(times.begin(), times.end(), [&](const Sample& s) { return s.size == pieces[i].from; });
    if (std::prev(at)->size <= eager_limit && eager_limit < at->size) pieces[i].from = eager_limit + 1;
  }
  return pieces;
}

Fit fit(const Measurements& measurements) {
  const std::vector<Sample> times = fitted_sizes(measurements.half_round_trip);
  Fit fit;
  fit.whole = fit_line(times, 0, times.size());
  fit.eager_limit = eager_limit(measurements.eager);
  fit.pieces = fit_times(times, fit.eager_limit);
  fit.loggops = fit_loggops(measurements, fit.whole, fit.eager_limit);
  fit.reduce_rate = fit_rate(fitted_sizes(measurements.reduce), kLeastReduced);
  fit.copy_rate = fit_rate(fitted_sizes(measurements.copy), kLeastCopied);
  return fit;
}

}  // namespace nplus1::calibrate
