// What a recording says about itself beside its events: shared by Writer and Reader.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace nplus1::events::recording {

/// The one file of a recording, inside its folder.
inline constexpr const char* kFileName = "events.n1r";
/// The largest job that the format can describe; a reader's memory is bounded by it.
inline constexpr std::int32_t kMaxRanks = 1 << 24;

/// Free text by name; docs/formats/recording.md lists the names in use ("application", "network", "clock"
/// ...).
using Properties = std::map<std::string, std::string>;

struct Header {
  std::int32_t ranks = 0;  // of MPI_COMM_WORLD, 1 to kMaxRanks
  Properties properties;
};

/// How much a recording holds, and what it had to leave out.
struct Totals {
  std::uint64_t events = 0;
  std::uint64_t matches = 0;
  std::uint64_t dropped_events = 0;  // beyond the size cap, or after an error in writing
  std::uint64_t dropped_matches = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
};

}  // namespace nplus1::events::recording
