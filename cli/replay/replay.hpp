// What `nplus1 replay` was asked for, shared by its four ways: a replay, a result folder, a sweep, a
// re-enactment.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analyses/replay.hpp"
#include "cli/replay/transformations.hpp"
#include "hypothesis/recorded/settings.hpp"

namespace nplus1::cli {

inline constexpr const char* kNothingReplayed = "nothing was replayed";

struct ReplayWords : analyses::ReplaySettings {
  std::string decisions_word;
  std::string sweep;
  std::string output;
  std::string json;
  std::string csv;
  std::string html;
  std::vector<std::string> fail_if;
  TransformationWords transformations;
  std::string mpi_args;
  double patience = 0;  // seconds; 0: by what was recorded
  bool reenact = false;
  bool deterministic = false;  // decisions as recorded
  bool record = false;
  bool quiet = false;
};

/// With the decisions that the words mean.
[[nodiscard]] analyses::ReplaySettings settings_of(const ReplayWords& words);

/// Whether the file holds a GOAL program.
[[nodiscard]] bool is_goal(const std::string& source);
/// A GOAL program on LogGOPS. The exit code; throws Failure.
[[nodiscard]] int replay_goal(const ReplayWords& words);

/// --network, --platform and what belongs to it, --collectives.
void declare_network(CLI::App& verb, ReplayWords& words);

/// Replays for every point of `words.sweep`; prints and writes what came out. The exit code. Throws Failure.
[[nodiscard]] int sweep(const ReplayWords& words);

/// Performs the recording again under MPI and prints what came of it; the exit code. Throws Failure.
[[nodiscard]] int reenact(const ReplayWords& words, const hypothesis::RecordedSettings& recorded, int ranks);

}  // namespace nplus1::cli
