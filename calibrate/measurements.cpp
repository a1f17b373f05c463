// Reading what the measuring program wrote.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "calibrate/fit.hpp"

namespace nplus1::calibrate {
namespace {

constexpr std::string_view kHeader = "kind,size,repetition,value";

using Values = std::map<std::string, std::map<double, std::vector<double>>>;  // by kind and size

/// The value below which a share of them lie, between neighbours in proportion.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double above = sorted[std::min(below + 1, sorted.size() - 1)];
  return sorted[below] + (place - static_cast<double>(below)) * (above - sorted[below]);
}

std::vector<Sample> samples_of(Values& values, const char* kind) {
  std::vector<Sample> samples;
  for (auto& [size, repetitions] : values[kind]) {
    std::sort(repetitions.begin(), repetitions.end());
    samples.push_back(
        {size, quantile(repetitions, 0.5), quantile(repetitions, 0.1), quantile(repetitions, 0.9)});
  }
  return samples;
}

bool add_line(const std::string& line, Values& values) {
  const std::size_t first = line.find(',');
  const std::size_t second = first == line.npos ? line.npos : line.find(',', first + 1);
  const std::size_t third = second == line.npos ? line.npos : line.find(',', second + 1);
  if (third == line.npos) return false;
  char* end = nullptr;
  const double size = std::strtod(line.c_str() + first + 1, &end);
  if (end != line.c_str() + second || !(size >= 1) || !std::isfinite(size)) return false;
  const double value = std::strtod(line.c_str() + third + 1, &end);
  if (*end != '\0' || !std::isfinite(value) || value < 0) return false;
  const std::string kind = line.substr(0, first);
  if (value == 0 && kind != "eager") return true;  // below the clock's resolution: says nothing
  values[kind][size].push_back(value);
  return true;
}

}  // namespace

Result<Measurements> read_measurements(std::string_view csv) {
  Values values;
  std::size_t number = 0;
  while (!csv.empty()) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    const std::string line{csv.substr(0, end)};
    csv.remove_prefix(std::min(end + 1, csv.size()));
    ++number;
    if (line == kHeader || line.empty()) continue;
    if (!add_line(line, values))
      return Error{
          "line " + std::to_string(number) + " of the measurements is no measurement: '" + line + "'",
          "calibrate again; nothing else may write on the standard output of the ranks"};
  }
  Measurements m{
      samples_of(values, "half_round_trip"), samples_of(values, "send"),   samples_of(values, "gap"),
      samples_of(values, "eager"),           samples_of(values, "reduce"), samples_of(values, "copy")};
  if (fitted_sizes(m.half_round_trip).size() < 4)
    return Error{"there are too few measurements for a fit", "calibrate again, with more sizes"};
  return m;
}

}  // namespace nplus1::calibrate
