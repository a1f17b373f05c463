// What one rank is to do: its own calls of a recording, transformed, in memory, and the communicators of all.
// Read before the re-enactment begins, so that no file is touched while time is taken. No MPI.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "events/definitions.hpp"
#include "hypothesis/recorded/call.hpp"
#include "hypothesis/transform/step.hpp"
#include "support/result.hpp"

namespace nplus1::hypothesis::reenact {

struct ScriptOptions {
  std::filesystem::path recording;
  std::vector<transform::Step> steps;  // the hypothesis
  bool deterministic = false;          // as the recording decided (recorded_decisions.hpp)
  double compute_scale = 1;
};

struct Script {
  std::vector<RecordedCall> calls;  // without details; compute_ps: what is to be waited for before
  std::map<std::uint32_t, events::Communicator> communicators;  // by id, the world (0) too
  Duration recorded_end{};                                      // of this rank
  Duration longest{};     // recorded time in one call, or interval between two
  Duration unmodelled{};  // in calls that cannot be re-enacted: is waited for
  std::uint64_t unmodelled_calls = 0;
  bool complete = false;  // the recording is
};

/// Ranks of the recording, or why it cannot be re-enacted.
[[nodiscard]] Result<int> recorded_ranks(const std::filesystem::path& recording);

/// Errors: not a recording; a rank with several threads, whose calls have no order that one process could
/// follow; a hypothesis about what is not there.
[[nodiscard]] Result<Script> read_script(const ScriptOptions& options, RankId rank);

}  // namespace nplus1::hypothesis::reenact
