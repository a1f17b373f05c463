#include "hypothesis/replay/sweep.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "netmodel/parameters.hpp"
#include "netmodel/quantity.hpp"
#include "netmodel/text.hpp"

namespace nplus1::hypothesis {
namespace {

using netmodel::in_quotes;
using netmodel::Quantity;

constexpr std::size_t kPointsOfARange = 10;
constexpr const char* kExample =
    "write KEY=VALUE, KEY=V,V,V or KEY=FROM..TO xPOINTS, e.g. 'bandwidth=1e9..1e11 x10,latency=1us,5us'";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The quantity of a factor: as sizes without a unit, but fractions are fine.
Result<Quantity> quantity_of(std::string_view model, std::string_view key) {
  if (key == kComputeScale) return Quantity::kSize;
  std::string known;
  for (const netmodel::Parameter& parameter : netmodel::parameters_of(model)) {
    if (parameter.key == key) return parameter.quantity;
    known.append(parameter.key).append(", ");
  }
  return Error{"--sweep: network " + in_quotes(model) + " has no key " + in_quotes(key),
               "the keys are: " + known + std::string{kComputeScale}};
}

Result<double> value_of(std::string_view key, std::string_view text, Quantity quantity) {
  auto value = netmodel::parse_quantity(trimmed(text), quantity);
  if (!value) return Error{"--sweep: " + std::string{key} + ": " + value.error().what, value.error().remedy};
  if (key == kComputeScale && value.value() <= 0)
    return Error{"--sweep: compute-scale must be more than 0", "0.5 are processors twice as fast"};
  const bool size = quantity == Quantity::kSize && key != kComputeScale;
  return size ? std::round(value.value()) : value.value();
}

/// Takes " x10" or " +10" from the end of `text`.
struct Steps {
  std::size_t points = kPointsOfARange;
  bool geometric = true;
};
std::optional<Steps> take_steps(std::string_view& text) {
  Steps steps;
  const std::size_t space = text.rfind(' ');
  if (space == text.npos) return steps;
  const std::string_view word = text.substr(space + 1);
  text = trimmed(text.substr(0, space));
  steps.geometric = word.front() == 'x';
  if (!steps.geometric && word.front() != '+') return std::nullopt;
  const auto read = std::from_chars(word.data() + 1, word.data() + word.size(), steps.points);
  const bool whole = read.ec == std::errc{} && read.ptr == word.data() + word.size();
  if (!whole || steps.points < 2 || steps.points > kMostPoints) return std::nullopt;
  return steps;
}

double between(double from, double to, double share, bool geometric) {
  if (share == 0) return from;
  if (share == 1) return to;
  return geometric ? from * std::pow(to / from, share) : from + (to - from) * share;
}

Result<std::vector<double>> range_of(std::string_view key, std::string_view text, Quantity quantity) {
  const auto steps = take_steps(text);
  const std::size_t dots = text.find("..");
  if (!steps || dots == text.npos) return Error{"--sweep: " + in_quotes(text) + " is no range", kExample};
  const auto from = value_of(key, text.substr(0, dots), quantity);
  if (!from) return from.error();
  const auto to = value_of(key, text.substr(dots + 2), quantity);
  if (!to) return to.error();
  if (steps->geometric && (from.value() <= 0 || to.value() <= 0))
    return Error{"--sweep: a geometric range of " + std::string{key} + " cannot begin or end at 0",
                 "write FROM..TO +POINTS for even steps"};
  const bool whole = quantity == Quantity::kSize && key != kComputeScale;
  std::vector<double> values;
  for (std::size_t i = 0; i < steps->points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(steps->points - 1);
    const double value = between(from.value(), to.value(), share, steps->geometric);
    values.push_back(whole ? std::round(value) : value);
  }
  return values;
}

std::optional<Error> add_values(Axis& axis, std::string_view text, Quantity quantity) {
  text = trimmed(text);
  if (text.find("..") != text.npos) {
    const auto range = range_of(axis.key, text, quantity);
    if (!range) return range.error();
    axis.values.insert(axis.values.end(), range.value().begin(), range.value().end());
    return std::nullopt;
  }
  const auto value = value_of(axis.key, text, quantity);
  if (!value) return value.error();
  axis.values.push_back(value.value());
  return std::nullopt;
}

std::optional<Error> check(const std::vector<Axis>& axes) {
  std::size_t points = 1;
  for (const Axis& axis : axes) {
    points *= axis.values.size();
    if (std::count_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.key == axis.key; }) > 1)
      return Error{"--sweep: " + in_quotes(axis.key) + " is given twice", "write its values in one list"};
    if (points > kMostPoints)
      return Error{"--sweep: more than " + std::to_string(kMostPoints) + " replays", "ask for fewer points"};
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Axis>> parse_sweep(std::string_view text, std::string_view network) {
  const std::string_view model = network.substr(0, network.find(':'));
  std::vector<Axis> axes;
  Quantity quantity{};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string_view item = trimmed(text.substr(at, comma - at));
    at = comma + 1;
    if (const std::size_t equals = item.find('='); equals != item.npos) {
      axes.push_back({std::string{trimmed(item.substr(0, equals))}, {}});
      const auto of_key = quantity_of(model, axes.back().key);
      if (!of_key) return of_key.error();
      quantity = of_key.value();
      item.remove_prefix(equals + 1);
    }
    if (axes.empty() || trimmed(item).empty())
      return Error{"--sweep: " + in_quotes(text) + " is no list of values", kExample};
    if (const auto wrong = add_values(axes.back(), item, quantity)) return *wrong;
  }
  if (const auto wrong = check(axes)) return *wrong;
  return axes;
}

std::vector<Point> points_of(const std::vector<Axis>& axes) {
  std::vector<Point> points{{}};
  for (const Axis& axis : axes) {
    std::vector<Point> longer;
    for (const Point& point : points) {
      for (const double value : axis.values) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::string network_at(std::string_view network, const std::vector<Axis>& axes, const Point& point) {
  const std::size_t colon = std::min(network.find(':'), network.size());
  std::string text{network.substr(0, colon)};
  auto add = [&text, separator = ':'](std::string_view item) mutable {
    text.append(1, separator).append(item);
    separator = ',';
  };
  const auto swept = [&axes](std::string_view key) {
    return std::any_of(axes.begin(), axes.end(), [key](const Axis& axis) { return axis.key == key; });
  };
  for (std::size_t at = colon + 1; at < network.size();) {
    const std::size_t comma = std::min(network.find(',', at), network.size());
    const std::string_view item = network.substr(at, comma - at);
    if (!swept(item.substr(0, item.find('=')))) add(item);
    at = comma + 1;
  }
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].key != kComputeScale) add(axes[i].key + "=" + netmodel::format_number(point[i]));
  return text;
}

double compute_scale_at(const std::vector<Axis>& axes, const Point& point, double otherwise) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].key == kComputeScale) return point[i];
  return otherwise;
}

}  // namespace nplus1::hypothesis
