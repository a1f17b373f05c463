#include "hypothesis/clock/stretches.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nplus1::hypothesis::clock {
namespace {

constexpr std::size_t kKept = 64;   // recorded times of a kind on a rank
constexpr double kRicher = 0.9;     // of the simpler model's error, for a model with more to fit
constexpr std::size_t kFewest = 5;  // samples to tell models apart
/// A sample that lies so far below what was recorded is none: the stretch did something else the second time.
constexpr double kLeastShare = 1e-4;

std::uint64_t key(RankId rank, std::uint64_t ordinal) {
  return static_cast<std::uint64_t>(rank.value) << 40U ^ ordinal;
}

template <class Numbers>
double quantile(Numbers values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

struct Point {
  double x, y;  // logarithms
};

struct Line {
  double a = 0, b = 0;
};

/// Least squares, the slope held to [0, 1].
Line line_through(const std::vector<Point>& points, std::size_t without) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == without) continue;
    const auto [px, py] = points[i];
    n += 1, x += px, y += py, xx += px * px, xy += px * py;
  }
  const double spread = xx - x * x / n;
  const double b = spread <= 1e-12 ? 0 : std::clamp((xy - x * y / n) / spread, 0.0, 1.0);
  return {(y - b * x) / n, b};
}

/// The mean of how far each point lies from the line through the others.
double error_of_lines(const std::vector<Point>& points) {
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Line line = line_through(points, i);
    sum += std::abs(points[i].y - line.a - line.b * points[i].x);
  }
  return sum / static_cast<double>(points.size());
}

double error_of_median(const std::vector<Point>& points) {
  double sum = 0;
  std::vector<double> others;
  for (std::size_t i = 0; i < points.size(); ++i) {
    others.clear();
    for (std::size_t j = 0; j < points.size(); ++j)
      if (j != i) others.push_back(points[j].y);
    sum += std::abs(points[i].y - quantile(others, 0.5));
  }
  return sum / static_cast<double>(points.size());
}

/// Groups of values (logarithms) that lie close together; empty if they don't form any. Each has several.
std::vector<double> levels_of(std::vector<double> values) {
  constexpr double kGap = 0.08, kWidest = 0.05;
  constexpr std::size_t kFewestEach = 2;
  std::sort(values.begin(), values.end());
  std::vector<double> levels;
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t end = begin + 1;
    while (end < values.size() && values[end] - values[end - 1] < kGap) ++end;
    if (end - begin < kFewestEach || values[end - 1] - values[begin] > kWidest) return {};
    levels.push_back(values[begin + (end - begin) / 2]);
    begin = end;
  }
  return levels;
}

/// The host makes stretches longer, not shorter; but clocks are not exact.
double level_below(const std::vector<double>& levels, double recorded) {
  constexpr double kTolerance = 0.03;
  double level = levels.front();
  for (const double l : levels)
    if (l <= recorded + kTolerance) level = l;
  return level;
}

double error_of_levels(const std::vector<Point>& points) {
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<double> others;
    for (std::size_t j = 0; j < points.size(); ++j)
      if (j != i) others.push_back(points[j].y);
    const auto levels = levels_of(others);
    if (levels.empty()) return INFINITY;
    sum += std::abs(points[i].y - level_below(levels, points[i].x));
  }
  return sum / static_cast<double>(points.size());
}

}  // namespace

const char* name(Model model) {
  constexpr const char* kNames[] = {"none", "quantile", "constant", "by rank", "by stretch", "levels"};
  return kNames[static_cast<std::size_t>(model)];
}

Result<std::vector<Sample>> samples_of(const events::recording::Properties& properties) {
  std::vector<Sample> samples;
  const auto found = properties.find("warm-times");
  if (found == properties.end()) return samples;
  const char* at = found->second.data();
  const char* const end = at + found->second.size();
  const auto number = [&](auto& value, char behind) {
    const auto read = std::from_chars(at, end, value);
    if (read.ec != std::errc{} || read.ptr == end || *read.ptr != behind) return false;
    at = read.ptr + 1;
    return true;
  };
  while (at != end) {
    Sample sample;
    std::int64_t warm = 0;
    if (!number(sample.rank.value, ' ') || !number(sample.ordinal, ' ') || !number(warm, '\n') || warm <= 0 ||
        sample.rank.value < 0)
      return Error{"what twins measured cannot be read from the recording", "record the program again"};
    sample.warm = Duration{warm};
    samples.push_back(sample);
  }
  return samples;
}

Kind Follower::before(RankId rank, const events::Event& event) {
  Last& last = last_[static_cast<std::uint64_t>(rank.value) << 16U | event.thread.value];
  const Kind kind{last.site, event.site.value, last.size};
  last = {event.site.value, event.size};
  return kind;
}

Stretches::Stretches(std::vector<Sample> samples) {
  for (const Sample& sample : samples) samples_.emplace(key(sample.rank, sample.ordinal), sample);
}

const Sample* Stretches::sample_of(RankId rank, std::uint64_t ordinal) const {
  const auto found = samples_.find(key(rank, ordinal));
  return found == samples_.end() ? nullptr : &found->second;
}

void Stretches::take(RankId rank, std::uint64_t ordinal, const events::Event& event) {
  OfKind& kind = kinds_[follower_.before(rank, event)];
  const auto recorded = static_cast<double>(event.compute_ps);
  ++kind.count;
  kind.recorded_ps += recorded;
  if (kind.ranks.size() <= rank.index()) kind.ranks.resize(rank.index() + 1);
  OfRank& here = kind.ranks[rank.index()];
  ++here.count;
  if (here.some.size() < kKept) {
    here.some.push_back(static_cast<float>(recorded));
  } else {
    random_ ^= random_ << 13U, random_ ^= random_ >> 7U, random_ ^= random_ << 17U;
    if (const std::uint64_t place = random_ % here.count; place < kKept)
      here.some[place] = static_cast<float>(recorded);
  }
  if (const Sample* sample = sample_of(rank, ordinal); sample != nullptr) {
    const auto warm = static_cast<double>(sample->warm.count());
    if (warm > kLeastShare * recorded) kind.measured.push_back({rank, recorded, std::min(warm, recorded)});
  }
}

double Stretches::predictor(const OfKind& kind, Model model, RankId rank, double recorded) {
  const double x = model == Model::kByRank ? kind.ranks[rank.index()].quartile : recorded;
  return std::log(std::max(x, 1.0));
}

void Stretches::fit(OfKind& kind) const {
  for (OfRank& rank : kind.ranks) {
    rank.quartile = static_cast<float>(quantile(rank.some, 0.25));
    rank.low = static_cast<float>(quantile(rank.some, 0.1));
    rank.some = {};
  }
  if (kind.measured.empty()) {
    kind.model = Model::kQuantile;
    return;
  }
  std::vector<double> warm;
  for (const Measured& m : kind.measured) warm.push_back(m.warm);
  const double median = quantile(warm, 0.5);
  const auto [least, most] = std::minmax_element(warm.begin(), warm.end());
  kind.least = *least;
  kind.most = *most;
  kind.spread = (quantile(warm, 0.75) - quantile(warm, 0.25)) / 2 / median;
  kind.model = Model::kConstant;
  kind.log_a = std::log(median);
  if (kind.measured.size() < kFewest) return;
  const auto points = [&](Model model) {
    std::vector<Point> all;
    for (const Measured& m : kind.measured)
      all.push_back({predictor(kind, model, m.rank, m.recorded), std::log(m.warm)});
    return all;
  };
  double best = kRicher * error_of_median(points(Model::kByRank));
  for (const Model model : {Model::kByRank, Model::kByStretch}) {
    const auto all = points(model);
    const double error = error_of_lines(all);
    if (error >= best) continue;
    best = kRicher * error;
    kind.model = model;
    const Line line = line_through(all, all.size());
    kind.log_a = line.a;
    kind.b = line.b;
  }
  const auto all = points(Model::kByStretch);
  if (error_of_levels(all) >= best) return;
  std::vector<double> logs;
  for (const Point& point : all) logs.push_back(point.y);
  kind.model = Model::kLevels;
  kind.levels = levels_of(logs);
}

double Stretches::log_warm(const OfKind& kind, RankId rank, double recorded) {
  if (kind.model == Model::kConstant) return kind.log_a;
  const double x = predictor(kind, kind.model, rank, recorded);
  return kind.model == Model::kLevels ? level_below(kind.levels, x) : kind.log_a + kind.b * x;
}

void Stretches::fit() {
  for (auto& [kind, of] : kinds_) fit(of);
}

double Stretches::warm(const Kind& kind, RankId rank, std::uint64_t ordinal, double recorded,
                       Estimate estimate) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end() || rank.index() >= found->second.ranks.size()) return recorded;
  const OfKind& of = found->second;
  double warm = recorded;
  if (of.model == Model::kQuantile) {
    warm = of.ranks[rank.index()].low;
  } else if (estimate == Estimate::kLowest) {
    warm = of.least;
  } else if (const Sample* own = sample_of(rank, ordinal);
             own != nullptr && static_cast<double>(own->warm.count()) > kLeastShare * recorded) {
    warm = static_cast<double>(own->warm.count());
  } else {
    warm = std::min(std::exp(log_warm(of, rank, recorded)), of.most);
  }
  warm = std::min(warm, recorded);
  if (estimate == Estimate::kBest) of.warm_ps += warm;
  return warm;
}

std::vector<KindReport> Stretches::report() const {
  std::vector<KindReport> all;
  for (const auto& [kind, of] : kinds_)
    all.push_back({kind, of.count, of.measured.size(), of.model, of.recorded_ps, of.warm_ps, of.spread});
  std::sort(all.begin(), all.end(), [](const KindReport& a, const KindReport& b) {
    return a.recorded_ps - a.warm_ps > b.recorded_ps - b.warm_ps;
  });
  return all;
}

}  // namespace nplus1::hypothesis::clock
