// Collectives in OTF2's terms: the operation, and the bytes that a member sends and receives as Score-P
// counts them (the member's own block included). Pure functions.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <span>

#include "support/collective_kind.hpp"

namespace nplus1::events::otf2 {

struct Moved {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  friend bool operator==(const Moved&, const Moved&) = default;
};

/// One member's part in a collective call: docs/formats/events.md, "Collectives".
struct Part {
  CollectiveKind kind{};
  std::int64_t size = 0;
  std::span<const std::int64_t> sizes{};
  std::uint64_t members = 1;
  bool is_root = false;
};

[[nodiscard]] Moved bytes_moved(const Part& part);
/// `size` again, from what another tool counted; exact for archives that count as bytes_moved() does.
[[nodiscard]] std::int64_t size_from(CollectiveKind kind, const Moved& moved, std::uint64_t members,
                                     bool is_root);

[[nodiscard]] OTF2_CollectiveOp operation_of(CollectiveKind kind);
/// Creation and destruction of handles is kSynchronize; nullopt for an operation that MPI does not have.
[[nodiscard]] std::optional<CollectiveKind> kind_of(OTF2_CollectiveOp operation);

[[nodiscard]] bool has_root(CollectiveKind kind);

}  // namespace nplus1::events::otf2
