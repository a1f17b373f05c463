// Measures guidelines: starts mpirun after mpirun of nplus1-guidelines-runner, and keeps what it prints in
// files that survive a kill at any moment. What running, confirming, advising and tuning have in common. One
// thread; throws Stopped.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guidelines/campaign.hpp"

namespace nplus1::analyses {

/// Where and how the measuring program runs.
struct Launch {
  int ranks = 2;
  std::string mpirun;  // empty: MPICH's
  std::string mpi_args;
  std::string runner;  // empty: the one that came with nplus1
  std::string waits =
      "auto";            // spin, as the MPI library does it; yield: by nplus1's library; auto: by the cores
  std::string simulate;  // a platform file or a network: under `nplus1 run`
  std::string simulate_options;                                  // more of its options
  std::vector<std::pair<std::string, std::string>> environment;  // of the ranks
  std::string preload;                                           // a library for the ranks
};

struct Measuring {
  Launch launch;
  guidelines::Plan how;  // all but its cells
  int mpiruns = 10;
  double budget = 300;                // seconds
  std::optional<int> repetitions;     // instead of a prediction
  std::chrono::seconds patience{60};  // for a single line of the measuring program
  /// Whether these conditions are on trial: the first original that comes out wrong, hangs or ends its mpirun ends it for good.
  bool on_trial = false;
};

/// What measuring came to beside its file.
struct Outcome {
  std::vector<std::string> notes;  // what could not be measured, for people
  std::string failure;             // what ended a trial, now or before; empty if nothing did
};

/// How far a measurement has come.
struct MeasuringStep {
  std::size_t done = 0, all = 0;  // cells, of all mpiruns
  double left = 0;                // seconds, by the pace so far
  std::string what;               // came out last
};

/// Who wants to know of a measurement while it goes on. Any may be empty.
struct MeasuringWatch {
  std::function<void(const std::vector<std::string>& line)> starts;  // the first mpirun of several like it
  std::function<void(const std::string& line)> prints;  // what the ranks print beside measurements
  std::function<void(const MeasuringStep&)> step;
};

inline constexpr const char* kLooks = "nrep.csv";

/// Settings of a file: what half round trips of plain MPI took, as latency and seconds per byte.
inline constexpr const char* kHockneyLatency = "hockney_latency_s";
inline constexpr const char* kHockneyPerByte = "hockney_s_per_byte";

/// The setting of settings_of() that says how long it might take.
inline constexpr const char* kBudget = "budget_s";

/// True for a launch that yields its waits through nplus1's library.
[[nodiscard]] bool yields(const Launch& launch);

/// Cells that say how often, from `folder`/nrep.csv, which is measured first where it is not complete. `head`
/// are the settings that it must have been begun with.
[[nodiscard]] guidelines::Allotment decide_repetitions(const Measuring& measuring,
                                                       std::vector<guidelines::Cell>& cells,
                                                       const std::filesystem::path& folder,
                                                       const std::string& head, const MeasuringWatch& watch);

/// Measures the cells in each of the mpiruns, into `file`, which begins with `head`; goes on where it was
/// left.
[[nodiscard]] Outcome measure(const Measuring& measuring, const std::vector<guidelines::Cell>& cells,
                              const std::filesystem::path& file, const std::string& head,
                              const MeasuringWatch& watch);

/// The settings of `measuring` that a result depends on, for csv_head().
[[nodiscard]] guidelines::Settings settings_of(const Measuring& measuring);

}  // namespace nplus1::analyses
