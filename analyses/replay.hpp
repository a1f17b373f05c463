// A recording replayed: on which network, with what computing, into which results. What all analyses that replay build on.
//
// Functions named in docs/architecture.md as faces return a Result; the others throw Stopped. One thread, in a process without
// MPI; platforms once per process (SimGrid).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "events/recording/reader.hpp"
#include "hypothesis/recorded/settings.hpp"
#include "hypothesis/replay/replay.hpp"
#include "hypothesis/replay/sweep.hpp"
#include "hypothesis/transform/transform.hpp"
#include "hypothesis/whatif/analysis.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "netmodel/simgrid/options.hpp"
#include "report/run_summary.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

/// How many of how many replays are done.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

struct ReplaySettings {
  std::string source{};                // a recording, or the result folder it is in
  std::string network{};               // a specification; empty: the recorded one
  netmodel::PlatformFlags platform{};  // with a file: instead of `network`
  std::string storage{};               // of files, a specification; empty: the recorded one
  std::string collectives{};           // algorithms; empty: the recorded ones
  std::optional<hypothesis::Decisions>
      decisions{};  // nothing: simulated on the recorded network, else as recorded
  double compute_scale = 1;
  std::uint64_t most_rows = 0;  // events and matches that are looked at; 0: all
  std::size_t jobs = 0;         // replays at a time; 0: as many as cores
};

[[nodiscard]] std::size_t jobs_of(const ReplaySettings& settings);

/// A replay that is ready to run. Its options point into it.
struct PreparedReplay {
  std::shared_ptr<const netmodel::NetworkModel> network;
  netmodel::Selection collectives;
  hypothesis::ReplayOptions options;
  std::string compute;    // how compute times were changed, where that is not a factor
  bool identity = false;  // network, collectives and compute times are the recorded ones
};

/// Throws Stopped. With a platform: once per process.
[[nodiscard]] std::unique_ptr<PreparedReplay> prepare_replay(const ReplaySettings& settings,
                                                             const hypothesis::RecordedSettings& recorded,
                                                             int ranks);

/// The platform or network asked for, or the recorded one. Throws Stopped.
[[nodiscard]] std::shared_ptr<const netmodel::NetworkModel> replay_network(
    const ReplaySettings& settings, const hypothesis::RecordedSettings& recorded, int ranks);

/// The storage asked for, or the recorded one. Throws Stopped.
[[nodiscard]] netmodel::StorageModel replay_storage(const ReplaySettings& settings,
                                                    const hypothesis::RecordedSettings& recorded);

/// Loads the platform, if that is the network, for all children that this process forks: replay_network() gives them this
/// one. To load one takes as long as a short program's replay. Once per process, which can load no other then. Throws Stopped.
void share_network(const ReplaySettings& settings, const hypothesis::RecordedSettings& recorded, int ranks);
/// In such a child: the shared platform with its ranks placed anew by the map file, on its hosts: their routes have been
/// checked. replay_network() gives it to who asks for that map. Throws Stopped.
void place_shared_network(const std::string& map);

/// Whether replay_network() would find a network, and the storage and the algorithms exist; loads no platform. Throws Stopped.
void check_network(const ReplaySettings& settings, const hypothesis::RecordedSettings& recorded, int ranks);

/// Where the results of a replay go: what nplus1 run leaves there.
struct ReplayFolder {
  std::string path;     // a new folder
  bool record = false;  // with a recording of the replay
  /// What else the summary says, given what the replay came to.
  std::function<void(const hypothesis::ReplayResult&, report::RunSummary&)> complete{};
};

/// Throws Stopped.
[[nodiscard]] hypothesis::ReplayResult replay_into_folder(const ReplaySettings& settings,
                                                          const ReplayFolder& folder,
                                                          const hypothesis::RecordedSettings& recorded,
                                                          PreparedReplay& prepared,
                                                          events::recording::Reader& reader);

/// What a replay came to, and what it was of.
struct Replayed {
  hypothesis::RecordedSettings recorded;
  std::string network;  // as it names itself
  hypothesis::Decisions decisions{};
  bool identity = false;
  hypothesis::ReplayResult result;
  hypothesis::RunTrust run;
};

/// Face.
[[nodiscard]] Result<Replayed> replay(const ReplaySettings& settings,
                                      const std::optional<ReplayFolder>& folder = {});

struct Sweep {
  hypothesis::RecordedSettings recorded;
  std::string network;  // the one whose keys are swept
  std::vector<hypothesis::Axis> axes;
  std::vector<hypothesis::Point> points;
  std::vector<hypothesis::PointResult> results;  // of each point
  hypothesis::RunTrust run;
};

/// Face. A replay for each combination of values, in child processes; `axes` as hypothesis::parse_sweep() reads them.
[[nodiscard]] Result<Sweep> sweep(const ReplaySettings& settings, const std::string& axes,
                                  const Progress& progress = {});

/// Events and matches of a recording that is kept in memory where many replays read it.
inline constexpr std::uint64_t kMostKept = 400'000;

/// Plays the recording at `source`, or its first `most_rows` events and matches; opens it anew each time.
[[nodiscard]] hypothesis::transform::Play play_recording(const std::string& source,
                                                         std::uint64_t most_rows = 0);
[[nodiscard]] hypothesis::transform::Play play_recording(std::shared_ptr<events::recording::Reader> recording,
                                                         std::uint64_t most_rows);

}  // namespace nplus1::analyses
