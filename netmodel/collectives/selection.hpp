// Which algorithm a collective uses: MPICH's choice by size and members, or one chosen by name.
// A Selection is a value, immutable after parse(); any thread may read it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "netmodel/collectives/schedule.hpp"
#include "support/collective_kind.hpp"
#include "support/result.hpp"

namespace nplus1::netmodel {

inline constexpr std::size_t kCollectiveKinds = static_cast<std::size_t>(CollectiveKind::kSynchronize) + 1;

/// Appends the steps of `call.me`. Called with a checked call of two or more members and something to move.
using AppendFunction = void (*)(const CollectiveCall& call, std::vector<Step>& steps);

/// A way to carry out one kind of collective. The list of all stands in collectives/algorithms.inc.
struct Algorithm {
  CollectiveKind kind;
  std::string_view name;
  AppendFunction append;
};

/// Every algorithm, grouped by kind.
[[nodiscard]] std::span<const Algorithm> all_algorithms();
/// Those of one kind; never empty.
[[nodiscard]] std::span<const Algorithm> algorithms_of(CollectiveKind kind);
/// "bcast", "reduce_scatter_block", ...: the kind as it stands in a selection.
[[nodiscard]] std::string_view kind_name(CollectiveKind kind);

class Selection {
 public:
  /// MPICH 4.0.2's choice for every kind.
  Selection() = default;

  /// "mpich", "" or overrides such as "bcast=chain,allreduce=ring"; "bcast=mpich" is the default again.
  /// Errors list the kinds or algorithms that exist.
  [[nodiscard]] static Result<Selection> parse(std::string_view text);
  /// The text that parse() turns into an equal selection: overrides in the order of CollectiveKind, or
  /// "mpich".
  [[nodiscard]] std::string describe() const;

  /// The algorithm that `call` would use.
  [[nodiscard]] const Algorithm& choose(const CollectiveCall& call) const;

  friend bool operator==(const Selection&, const Selection&) = default;

 private:
  std::array<const Algorithm*, kCollectiveKinds> override_{};  // null: MPICH's choice
};

}  // namespace nplus1::netmodel
