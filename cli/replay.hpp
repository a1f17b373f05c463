// What `nplus1 replay` was asked for, shared by its four ways: a replay, a result folder, a sweep, a
// re-enactment.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/transformations.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/recorded_settings.hpp"
#include "hypothesis/replay.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "netmodel/simgrid/options.hpp"

namespace nplus1::cli {

inline constexpr const char* kNothingReplayed = "nothing was replayed";

struct ReplayWords {
  std::string source;
  std::string network;
  netmodel::PlatformFlags platform;  // with a file: instead of `network`
  std::string collectives;
  std::string decisions;
  std::string sweep;
  std::string output;
  std::string json;
  std::string csv;
  std::string html;
  std::vector<std::string> fail_if;
  double compute_scale = 1;
  int jobs = 0;  // 0: as many as cores
  TransformationWords transformations;
  std::string mpi_args;
  double patience = 0;  // seconds; 0: by what was recorded
  bool reenact = false;
  bool deterministic = false;  // decisions as recorded
  bool record = false;
  bool quiet = false;
};

/// A replay that is ready to run. Its options point into it.
struct PreparedReplay {
  std::shared_ptr<const netmodel::NetworkModel> network;
  netmodel::Selection collectives;
  hypothesis::ReplayOptions options;
  std::string compute;    // how compute times were changed, where that is not a factor
  bool identity = false;  // network, collectives and compute times are the recorded ones
};

/// Throws Failure. With a platform: once per process.
[[nodiscard]] std::unique_ptr<PreparedReplay> prepare_replay(const ReplayWords& words,
                                                             const hypothesis::RecordedSettings& recorded,
                                                             int ranks);

/// Whether the file holds a GOAL program.
[[nodiscard]] bool is_goal(const std::string& source);
/// A GOAL program on LogGOPS. The exit code; throws Failure.
[[nodiscard]] int replay_goal(const ReplayWords& words);

/// The platform or network asked for, or the recorded one. Throws Failure.
[[nodiscard]] std::shared_ptr<const netmodel::NetworkModel> replay_network(
    const ReplayWords& words, const hypothesis::RecordedSettings& recorded, int ranks);

/// Loads the platform, if that is the network, for all children that this process forks: replay_network() gives them this
/// one. To load one takes as long as a short program's replay. Once per process, which can load no other then. Throws Failure.
void share_network(const ReplayWords& words, const hypothesis::RecordedSettings& recorded, int ranks);

/// Whether replay_network() would find a network, and the algorithms exist; loads no platform. Throws
/// Failure.
void check_network(const ReplayWords& words, const hypothesis::RecordedSettings& recorded, int ranks);

/// --network, --platform and what belongs to it, --collectives.
void declare_network(CLI::App& verb, ReplayWords& words);

/// Replays into the new folder `words.output`: what nplus1 run leaves there, and with --record a recording of
/// the replay. Throws Failure.
[[nodiscard]] hypothesis::ReplayResult replay_into_folder(const ReplayWords& words,
                                                          const hypothesis::RecordedSettings& recorded,
                                                          PreparedReplay& prepared,
                                                          events::recording::Reader& reader);

/// Replays for every point of `words.sweep`; prints and writes what came out. The exit code. Throws Failure.
[[nodiscard]] int sweep(const ReplayWords& words, const hypothesis::RecordedSettings& recorded,
                        events::recording::Reader& reader);

/// Performs the recording again under MPI and prints what came of it; the exit code. Throws Failure.
[[nodiscard]] int reenact(const ReplayWords& words, const hypothesis::RecordedSettings& recorded, int ranks);

}  // namespace nplus1::cli
