// Collective calls as messages between members, as Riesen draws them (2006, section 3.1;
// docs/formats/patterns.md, "Messages of a collective layer"): at the level of the algorithm, not of the
// network. Each member's call stands for its own messages, so a call costs O(1) however many members there
// are. Pure function of its input.
#pragma once

#include <optional>
#include <string_view>

#include "events/definitions.hpp"
#include "events/sink.hpp"

namespace nplus1::patterns {

/// The messages that one member's call stands for.
struct Fan {
  std::optional<RankId> root;                // nothing: this call stands for no message
  std::optional<std::int64_t> to_root;       // bytes of the message to the root, if there is one
  std::optional<std::int64_t> from_root;     // and back
  std::span<const std::uint32_t> neighbors;  // members that a neighbourhood collective sends to
  /// Where these get different sizes: for each of them the low and the high half of its bytes; else empty, and each gets
  /// to_root bytes.
  std::span<const std::uint32_t> neighbor_sizes;
  bool unplaced = false;  // there were messages, but their ends are not known
};

/// Bytes to the neighbour at that place in the list.
[[nodiscard]] std::int64_t bytes_to_neighbor(const Fan& fan, std::size_t place);

/// `communicator` is the event's, null if it was never defined.
[[nodiscard]] Fan fan_of(const events::TimedEvent& event, const events::Communicator* communicator);

/// "bcast": the layer of an operation; empty for kSynchronize, which has none.
[[nodiscard]] std::string_view layer_name(CollectiveKind kind);

inline constexpr std::size_t kCollectiveKinds = static_cast<std::size_t>(CollectiveKind::kSynchronize) + 1;

}  // namespace nplus1::patterns
