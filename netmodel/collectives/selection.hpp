// Which algorithm a collective uses: an MPI library's choice by size and members, or one chosen by name.
// A Selection is a value, immutable after parse(); any thread may read it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
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

/// Whose choice a selection follows where it names no algorithm.
struct Library {
  std::string_view name;
  AppendFunction (*choose)(const CollectiveCall& call);
  AppendFunction (*choose_nonblocking)(const CollectiveCall& call);
};

class Selection {
 public:
  /// MPICH 4.0.2's choice for every kind.
  Selection();

  /// LIBRARY and overrides: "openmpi", "bcast=chain,allreduce=ring", "openmpi,bcast=mpich,reduce=pipelined,
  /// segment=64KiB". "bcast=" holds for blocking and non-blocking forms, a later "ibcast=" for the
  /// non-blocking one alone. Without a library it is mpich. Errors list the libraries, kinds or algorithms
  /// that exist.
  [[nodiscard]] static Result<Selection> parse(std::string_view text);
  /// The text that parse() turns into an equal selection: the library, then what differs from it.
  [[nodiscard]] std::string describe() const;

  /// The algorithm that `call` would use.
  [[nodiscard]] const Algorithm& choose(const CollectiveCall& call) const;
  /// `call` with this selection's parameters.
  [[nodiscard]] CollectiveCall tuned(const CollectiveCall& call) const;
  /// What it takes to combine `size` received bytes with as many of one's own, by whatever operation.
  [[nodiscard]] Duration combining(Bytes size) const;
  /// What it takes a member to copy what it keeps for itself, own_copy(): twice where an exchange with many at a time sends it as
  /// a message like the others' (MPICH), into the library's buffers and out of them.
  [[nodiscard]] Duration copying(const CollectiveCall& call) const;

  friend bool operator==(const Selection&, const Selection&) = default;

 private:
  /// An algorithm, or whose choice it is.
  struct Pick {
    const Library* library = nullptr;
    const Algorithm* algorithm = nullptr;  // null: the library's choice
    friend bool operator==(const Pick&, const Pick&) = default;
  };

  void follow(const Library& library);
  [[nodiscard]] std::optional<Error> set(std::string_view key, std::string_view value);
  [[nodiscard]] std::optional<Error> pick(CollectiveKind kind, std::string_view name, bool nonblocking);

  const Library* library_;
  std::array<Pick, kCollectiveKinds> picks_{};
  std::array<Pick, kCollectiveKinds> nonblocking_{};
  Bytes segment_{};
  std::int32_t ranks_per_node_ = 1;
  double reduce_rate_ = 0;  // bytes per second; 0: combining takes no time
  double copy_rate_ = 0;    // bytes per second; 0: copying takes no time
};

}  // namespace nplus1::netmodel
