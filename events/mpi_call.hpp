// Which MPI function a call was: the numbers in Event::call and in recordings, and their names.
// Plain constants; callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nplus1::events {

/// Numbered by the position in mpi_calls.def, from 1; kNone is no MPI call at all.
enum class MpiCall : std::uint16_t {
  kNone = 0,
#define NPLUS1_MPI_CALL(name) name,
#include "events/mpi_calls.def"
#undef NPLUS1_MPI_CALL
};

/// How many numbers are in use, kNone included: for arrays indexed by call.
inline constexpr std::size_t kMpiCalls = 1
#define NPLUS1_MPI_CALL(name) +1
#include "events/mpi_calls.def"
#undef NPLUS1_MPI_CALL
    ;

[[nodiscard]] constexpr std::size_t index(MpiCall call) {
  return static_cast<std::size_t>(call);
}

/// "MPI_Send"; "none" for kNone, "unknown" for a number that this build does not know (a newer recording).
[[nodiscard]] std::string_view name(MpiCall call);

/// The call of that name ("MPI_Send"), if there is one.
[[nodiscard]] std::optional<MpiCall> call_named(std::string_view name);

}  // namespace nplus1::events
