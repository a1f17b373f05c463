// What `--compute` and `--poll-cost` say: the command line checks it before anything starts, the simulator acts
// on it and tells the ranks what it parsed, so all three mean the same. Pure but for read_compute_rules();
// callable from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "semantics/timing.hpp"
#include "support/result.hpp"
#include "support/units.hpp"

namespace nplus1::semantics {

enum class ComputeMode : std::uint8_t { kMeasured, kFixed, kTable, kRecorded };

/// measured | warm | scale:FACTOR | fixed:TIME | file:FILE | recorded:DIR, where a TIME has a unit or is in seconds.
struct ComputeTimes {
  ComputeMode mode = ComputeMode::kMeasured;
  double scale = 1;   // kMeasured
  bool warm = false;  // kMeasured, and twins measure what it takes with warm caches (docs/clock.md)
  Duration fixed{};   // kFixed
  std::string table;  // kTable: the file; kRecorded: the recording, or the result folder it is in
};

/// Errors name what is not understood, and what would be.
[[nodiscard]] Result<ComputeTimes> parse_compute(std::string_view text);

/// A line of the file of `--compute file:FILE`: `RANK WHERE TIME`. RANK is a number or *; WHERE is an MPI
/// function, a call site MODULE+0xOFFSET, or *. The first line that fits the call at an interval's end gives its
/// length, and none is no time. `#` begins a comment.
struct ComputeRule {
  std::int32_t rank = -1;  // -1: any
  std::string where;       // empty: any
  Duration length{};

  friend bool operator==(const ComputeRule&, const ComputeRule&) = default;
  /// Whether it is about `function`, called at `place` (MODULE+0xOFFSET, the module with its path or without).
  [[nodiscard]] bool fits(std::string_view function, std::string_view place) const;
};

/// Errors name the file and, where there is one, the line.
[[nodiscard]] Result<std::vector<ComputeRule>> read_compute_rules(const std::string& file);

/// The rules that a rank needs, as bytes for a socket, and back. `unpacked` refuses what `packed` does not make.
[[nodiscard]] std::string packed(const std::vector<ComputeRule>& rules, RankId rank);
[[nodiscard]] Result<std::vector<ComputeRule>> unpacked(std::string_view bytes);

/// TIME or TIME,TIME: what an unsuccessful Test or Probe costs at first, and at most.
[[nodiscard]] Result<PollCost> parse_poll_cost(std::string_view text);

}  // namespace nplus1::semantics
