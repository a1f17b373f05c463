#include "report/exact_time.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace nplus1::report {

std::string exact_seconds(Duration duration) {
  constexpr std::int64_t kPerSecond = Duration::period::den;
  // The magnitude as unsigned, because the most negative count has no positive counterpart.
  const bool negative = duration.count() < 0;
  const auto bits = static_cast<std::uint64_t>(duration.count());
  const std::uint64_t magnitude = negative ? 0 - bits : bits;
  constexpr auto kUnit = static_cast<std::uint64_t>(kPerSecond);
  return fmt::format("{}{}.{:012}", negative ? "-" : "", magnitude / kUnit, magnitude % kUnit);
}

std::string readable(Duration duration) {
  struct Unit {
    double size;
    const char* name;
  };
  constexpr std::array<Unit, 5> kUnits{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {1e-12, "ps"}}};
  const double value = seconds(duration);
  for (const Unit& unit : kUnits) {
    if (std::abs(value) >= unit.size * 0.9995) return fmt::format("{:.3g} {}", value / unit.size, unit.name);
  }
  return "0 s";
}

}  // namespace nplus1::report
