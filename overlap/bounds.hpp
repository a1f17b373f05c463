// How far each message's request may be stretched: the earliest place at which it may be posted and the latest at
// which it may be waited for, so that the program computes the same (docs/overlap.md, "What is legal").
// Pure functions of a survey; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "overlap/survey.hpp"

namespace nplus1::overlap {

/// A place in a rank's stream: in the computing before the event `ordinal`, so many picoseconds after its beginning.
struct Position {
  std::uint64_t ordinal = 0;
  std::int64_t offset_ps = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// What ends the legal window of a request, and with it a chain.
enum class EndedBy : std::uint8_t {
  kTouch,     // the program, a system call or free() touches the buffer
  kOverlap,   // another message uses the same memory
  kCall,      // an MPI call that uses the memory, the status, or cannot be crossed
  kFinalize,  // the end of the program
};
[[nodiscard]] const char* name(EndedBy end);

struct Bounds {
  /// Without regard to the order of posts to the same peer, which is for a plan to keep (plan.hpp).
  Position earliest;
  Position latest;  // waited for before the event, after all computing before it
  EndedBy ended_by{};
  Touch touch;  // what ends it, where that is an access
  std::uint32_t ending_site = 0;
  bool deferrable = false;
  bool stays = false;  // may be waited for later, and not be posted earlier
};

/// Where the call of `moment` itself stands.
[[nodiscard]] inline Position place_of(const Moment& moment) {
  return {moment.ordinal, moment.compute_ps};
}

/// Where the thread is at that time, if it may act there: a time within a call is the end of that call.
[[nodiscard]] Position position_at(const SurveyedRank& rank, ThreadId thread, std::int64_t time_ps);

/// Whether the thread is in MPI there.
[[nodiscard]] bool is_call(const Moment& moment);

/// The bounds of rank.ends, in the same order.
[[nodiscard]] std::vector<Bounds> bounds_of(const SurveyedRank& rank);

}  // namespace nplus1::overlap
