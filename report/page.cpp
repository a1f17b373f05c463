#include "report/page.hpp"

#include <algorithm>
#include <cmath>

namespace nplus1::report {

std::string readable_bytes(double value) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string bar(double part, std::size_t width, TextStyle style) {
  std::string text;
  const auto length = static_cast<std::size_t>(std::lround(part * static_cast<double>(width)));
  for (std::size_t i = 0; i < length; ++i) text += style.unicode ? "█" : "#";
  return text;
}

}  // namespace nplus1::report
