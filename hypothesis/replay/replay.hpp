// The same program on another network, from its recording: the recorded calls and compute times through the
// engine that simulated them live (DESIGN: model replay).
//
// On the network it was recorded on, every time comes out as it was, to the picosecond: that identity replay
// measures how far other replays can be trusted. On another network the program is assumed to do what it did:
// decisions that depended on who was first are repeated (recorded_decisions.hpp). Called from one thread; a
// recording of any length in memory bounded by its unmatched messages.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "events/recording/reader.hpp"
#include "hypothesis/replay/event_feed.hpp"
#include "hypothesis/transform/chain.hpp"
#include "netmodel/collectives/selection.hpp"
#include "netmodel/network_model.hpp"
#include "netmodel/storage/storage.hpp"
#include "report/run_summary.hpp"
#include "semantics/timing.hpp"
#include "simnode/engine/engine.hpp"
#include "support/result.hpp"

namespace nplus1::hypothesis {

enum class Decisions : std::uint8_t {
  kSimulated,  // by the engine: what a run on that network would decide, if the program went on as it did
  kRecorded,   // as in the recording
  kAdapted,    // by the engine, and what follows adapts to it (adaptation.hpp)
};

struct ReplayOptions {
  const netmodel::NetworkModel* network = nullptr;   // required
  const netmodel::Selection* collectives = nullptr;  // null: MPICH's
  netmodel::StorageModel storage{};
  double compute_scale = 1;  // of recorded compute times; positive. Times the network's, of each rank's host
  Decisions decisions = Decisions::kRecorded;
  semantics::PollCost poll_cost{};
  /// What is changed in the recording before it is replayed; null: nothing.
  transform::Chain* hypothesis = nullptr;
  /// Whether a rendezvous transfer begins only when both ranks have been inside MPI (Engine's Options).
  bool weak_progress = false;
  /// Of the recording, the first so many events and matches (recording::Selection); 0: all.
  std::uint64_t most_rows = 0;
  /// Keeps account of the links of a platform.
  bool watch_links = false;
  /// Gets definitions, calls and matches with their new times, as a run's sinks do. Null: only sums are kept.
  events::EventSink* sink = nullptr;
};

struct RankResult {
  Time recorded_end{};
  Time end{};
  Duration compute{};      // scaled; of several threads: their mean, and so below
  Duration unexplained{};  // replayed as recorded: calls that are not modelled, or are not in the recording
};

struct ReplayResult {
  std::vector<RankResult> ranks;
  events::recording::Coverage coverage;
  simnode::engine::State state{};  // kFinished if every rank reached its MPI_Finalize
  simnode::engine::Counters counters;
  std::uint64_t ended = 0;                   // calls that returned
  std::uint64_t gaps = 0;                    // places where recorded calls were missing
  AdaptationCounts adaptation;               // Decisions::kAdapted
  std::vector<RankId> blocked;               // ranks that ended waiting for what never comes
  std::optional<netmodel::LinkUsage> links;  // with ReplayOptions::watch_links, on a platform

  /// Of a part of a recording (ReplayOptions::most_rows): no rank comes to its MPI_Finalize there.
  [[nodiscard]] bool of_part() const { return coverage.left_out > 0; }
  [[nodiscard]] Time makespan() const;
  [[nodiscard]] Time recorded_makespan() const;
  /// Of the time of all ranks, 0..1.
  [[nodiscard]] double compute_share() const;
  [[nodiscard]] double unexplained_share() const;
  [[nodiscard]] double communication_share() const;
  /// The largest difference between a rank's end and its recorded end.
  [[nodiscard]] Duration largest_difference() const;
};

/// What the replay itself relies on; nothing of the run that was recorded.
[[nodiscard]] report::Trust trust_of(const ReplayResult& result);

/// Errors: the file cannot be read, or contradicts itself (it names the contradiction).
[[nodiscard]] Result<ReplayResult> replay(events::recording::Reader& reader, const ReplayOptions& options);

}  // namespace nplus1::hypothesis
