// Sizes as users write them: 4096, 64K, 512M, 4G, 1T; multiples of 1024. Pure.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace nplus1 {

/// Bytes; nothing where `text` is no size or too great.
[[nodiscard]] inline std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || end - rest > 1) return std::nullopt;
  if (rest == end) return value;
  const char letter = *rest >= 'a' ? static_cast<char>(*rest - 'a' + 'A') : *rest;
  const std::size_t unit = kUnits.find(letter);
  if (unit == std::string_view::npos) return std::nullopt;
  const auto shift = static_cast<unsigned>(10 * (unit + 1));
  if (value > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return value << shift;
}

}  // namespace nplus1
