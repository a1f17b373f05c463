// Typed identifiers: mixing two kinds of id is a compile error.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace nplus1 {

template <class Tag, class Rep>
struct Id {
  Rep value{};

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value{v} {}
  friend constexpr auto operator<=>(Id, Id) = default;
  /// For indexing arrays; the id must not be negative.
  [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
};

/// A process of the application, by its rank in MPI_COMM_WORLD.
using RankId = Id<struct RankTag, std::int32_t>;
/// A communicator, dense over the whole run (the simulator's numbering).
using CommId = Id<struct CommTag, std::uint32_t>;
/// A request of one rank; numbers grow and are never used twice within a run.
using RequestId = Id<struct RequestTag, std::uint32_t>;
/// A call path (the return addresses of an MPI call), dense over the whole run from the simulator on.
using CallSiteId = Id<struct CallSiteTag, std::uint32_t>;
/// A datatype, dense over the whole run from the simulator on; 0 is unknown.
using DatatypeId = Id<struct DatatypeTag, std::uint32_t>;
/// A region of the program, dense over the whole run from the simulator on.
using RegionId = Id<struct RegionTag, std::uint32_t>;
/// A thread of one rank that calls MPI, numbered by first call; 0 called MPI_Init.
using ThreadId = Id<struct ThreadTag, std::uint16_t>;

/// Peer values that are not a rank.
inline constexpr RankId kAnySource{-1};
inline constexpr RankId kProcNull{-2};
inline constexpr std::int32_t kAnyTag = -1;
inline constexpr RequestId kNoRequest{0};

}  // namespace nplus1

template <class Tag, class Rep>
struct std::hash<nplus1::Id<Tag, Rep>> {
  std::size_t operator()(nplus1::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value); }
};
