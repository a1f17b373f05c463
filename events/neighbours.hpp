// The list of words of a neighbourhood collective (docs/formats/events.md): how many sources and destinations, who they
// are, and, where there are two more words for each destination, the bytes to each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nplus1::events {

struct Neighbours {
  std::span<const std::uint32_t> sources;       // member indices, which nobody has checked
  std::span<const std::uint32_t> destinations;  // likewise
  std::span<const std::uint32_t> rest;          // two words for each destination, or whatever else came

  [[nodiscard]] bool have_sizes() const { return rest.size() >= 2 * destinations.size(); }
  /// Bytes to destination number `i`, as they came: they may be negative. Only if they have sizes.
  [[nodiscard]] std::int64_t size(std::size_t i) const {
    return static_cast<std::int64_t>(rest[2 * i] | std::uint64_t{rest[2 * i + 1]} << 32U);
  }
};

/// Nothing where the list is shorter than it says.
[[nodiscard]] inline std::optional<Neighbours> neighbours_of(std::span<const std::uint32_t> words) {
  if (words.size() < 2 || words.size() - 2 < std::uint64_t{words[0]} + words[1]) return std::nullopt;
  const std::size_t edges = std::size_t{words[0]} + words[1];
  return Neighbours{words.subspan(2, words[0]), words.subspan(2 + std::size_t{words[0]}, words[1]),
                    words.subspan(2 + edges)};
}

}  // namespace nplus1::events
