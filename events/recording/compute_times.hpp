// What a recorded run computed between its calls: the source of `--compute recorded:DIR`, which gives the same times to
// another run of the program.
//
// An interval ends at each event of a thread that a call has made (docs/formats/events.md): accesses to memory and
// parts that a rank keeps stand within an interval, and their computing is part of it. Pure but for the file; callable
// from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <type_traits>
#include <vector>

#include "events/event.hpp"
#include "support/result.hpp"

namespace nplus1::events::recording {

/// One interval, as it travels to the rank.
struct ComputeInterval {
  std::int64_t length_ps = 0;
  std::uint16_t thread = 0;
  std::uint16_t call = 0;  // MpiCall: the function that ended it
  std::uint32_t reserved = 0;

  friend bool operator==(const ComputeInterval&, const ComputeInterval&) = default;
};
static_assert(std::is_trivially_copyable_v<ComputeInterval> && sizeof(ComputeInterval) == 16);

/// Of each rank all intervals, each thread's in their order.
struct ComputeIntervals {
  std::vector<std::vector<ComputeInterval>> of_rank;
  bool accesses = false;  // recorded while the recording of accesses was on
  bool measured = false;  // the times were measured, not given
};

/// Whether an event ends an interval; the rank that follows a recording asks the same.
[[nodiscard]] inline bool ends_interval(const Event& event) {
  return event.call != 0 && event.kind != EventKind::kLocal && event.kind != EventKind::kNone;
}

/// An error where there is no recording, where it is not complete, or where a part of the calls is not in it.
[[nodiscard]] Result<ComputeIntervals> read_compute_intervals(const std::filesystem::path& source);

}  // namespace nplus1::events::recording
