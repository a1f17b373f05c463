#include "netmodel/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

constexpr double kKi = 1024.0;
constexpr std::array<Suffix, 5> kTimes{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}}};
constexpr std::array<Suffix, 10> kSizes{{{"B", 1},
                                         {"kB", 1e3},
                                         {"KB", 1e3},
                                         {"MB", 1e6},
                                         {"GB", 1e9},
                                         {"TB", 1e12},
                                         {"KiB", kKi},
                                         {"MiB", kKi* kKi},
                                         {"GiB", kKi* kKi* kKi},
                                         {"TiB", kKi* kKi* kKi* kKi}}};
constexpr std::array<Suffix, 5> kBits{
    {{"b", 0.125}, {"kb", 125}, {"Mb", 0.125e6}, {"Gb", 0.125e9}, {"Tb", 0.125e12}}};

std::string_view accepted(Quantity quantity) {
  switch (quantity) {
    case Quantity::kTime:
      return "a time in seconds, or with one of s, ms, us, ns, ps";
    case Quantity::kSize:
      return "a size in bytes, or with one of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB";
    case Quantity::kBandwidth:
      break;
  }
  return "bytes per second, or with a suffix such as MBps, GB/s, GiBps, Gbps (bits)";
}

/// 0 when `text` is none of them.
double factor_in(std::span<const Suffix> suffixes, std::string_view text) {
  for (const Suffix& suffix : suffixes) {
    if (suffix.text == text) return suffix.factor;
  }
  return 0;
}

double rate_factor(std::string_view text) {
  if (text.size() < 3) return 0;
  const std::string_view per_second = text.substr(text.size() - 2);
  if (per_second != "ps" && per_second != "/s") return 0;
  text.remove_suffix(2);
  const double bytes_factor = factor_in(kSizes, text);
  return bytes_factor != 0 ? bytes_factor : factor_in(kBits, text);
}

double factor_of(std::string_view suffix, Quantity quantity) {
  if (suffix.empty()) return 1;
  switch (quantity) {
    case Quantity::kTime:
      return factor_in(kTimes, suffix);
    case Quantity::kSize:
      return factor_in(kSizes, suffix);
    case Quantity::kBandwidth:
      return rate_factor(suffix);
  }
  return 0;
}

Error rejected(std::string_view text, std::string_view why, Quantity quantity) {
  return {quoted(text) + " " + std::string{why}, "Give " + std::string{accepted(quantity)} + "."};
}

}  // namespace

Result<double> parse_quantity(std::string_view text, Quantity quantity) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code == std::errc::result_out_of_range) return rejected(text, "is out of range", quantity);
  if (code != std::errc{}) return rejected(text, "is not a number", quantity);
  if (!std::isfinite(number)) return rejected(text, "is not a finite number", quantity);
  const double factor = factor_of({rest, static_cast<std::size_t>(end - rest)}, quantity);
  if (factor == 0) return rejected(text, "has an unknown unit", quantity);
  const double value = number * factor;
  if (!std::isfinite(value)) return rejected(text, "is out of range", quantity);
  if (std::signbit(number) && number != 0) return rejected(text, "is negative", quantity);
  return value == 0 ? 0.0 : value;  // no negative zero
}

std::string format_number(double value) {
  std::array<char, 32> text{};
  const auto [end, code] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace nplus1::netmodel
