#include "netmodel/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "netmodel/text.hpp"

namespace nplus1::netmodel {
namespace {

/// A division by a power of ten is rounded once: 5us is 5e-6, which 5 * 1e-6 is not.
struct Factor {
  double multiply = 1;
  double divide = 1;

  [[nodiscard]] bool known() const { return multiply != 0; }
  [[nodiscard]] double of(double number) const { return number * multiply / divide; }
};
constexpr Factor kUnknown{0, 1};

struct Suffix {
  std::string_view text;
  Factor factor;
};

constexpr double kKi = 1024.0;
constexpr std::array<Suffix, 5> kTimes{
    {{"s", {}}, {"ms", {1, 1e3}}, {"us", {1, 1e6}}, {"ns", {1, 1e9}}, {"ps", {1, 1e12}}}};
constexpr std::array<Suffix, 10> kSizes{{{"B", {}},
                                         {"kB", {1e3}},
                                         {"KB", {1e3}},
                                         {"MB", {1e6}},
                                         {"GB", {1e9}},
                                         {"TB", {1e12}},
                                         {"KiB", {kKi}},
                                         {"MiB", {kKi * kKi}},
                                         {"GiB", {kKi * kKi * kKi}},
                                         {"TiB", {kKi * kKi * kKi * kKi}}}};
constexpr std::array<Suffix, 5> kBits{
    {{"b", {1, 8}}, {"kb", {1e3, 8}}, {"Mb", {1e6, 8}}, {"Gb", {1e9, 8}}, {"Tb", {1e12, 8}}}};

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

Factor factor_in(std::span<const Suffix> suffixes, std::string_view text) {
  for (const Suffix& suffix : suffixes) {
    if (suffix.text == text) return suffix.factor;
  }
  return kUnknown;
}

Factor rate_factor(std::string_view text) {
  if (text.size() < 3) return kUnknown;
  const std::string_view per_second = text.substr(text.size() - 2);
  if (per_second != "ps" && per_second != "/s") return kUnknown;
  text.remove_suffix(2);
  const Factor of_bytes = factor_in(kSizes, text);
  return of_bytes.known() ? of_bytes : factor_in(kBits, text);
}

Factor factor_of(std::string_view suffix, Quantity quantity) {
  if (suffix.empty()) return {};
  switch (quantity) {
    case Quantity::kTime:
      return factor_in(kTimes, suffix);
    case Quantity::kSize:
      return factor_in(kSizes, suffix);
    case Quantity::kBandwidth:
      return rate_factor(suffix);
  }
  return kUnknown;
}

Error rejected(std::string_view text, std::string_view why, Quantity quantity) {
  return {in_quotes(text) + " " + std::string{why}, "Give " + std::string{accepted(quantity)} + "."};
}

}  // namespace

Result<double> parse_quantity(std::string_view text, Quantity quantity) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code == std::errc::result_out_of_range) return rejected(text, "is out of range", quantity);
  if (code != std::errc{}) return rejected(text, "is not a number", quantity);
  if (!std::isfinite(number)) return rejected(text, "is not a finite number", quantity);
  const Factor factor = factor_of({rest, static_cast<std::size_t>(end - rest)}, quantity);
  if (!factor.known()) return rejected(text, "has an unknown unit", quantity);
  const double value = factor.of(number);
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
