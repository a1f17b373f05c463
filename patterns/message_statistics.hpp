// Counts a run's communication patterns where the events are decided (Riesen 2006, section 3, and
// docs/formats/patterns.md): matrices and sizes by layer, collectives, time and waiting by rank,
// communicator, call site and over time. Fed by the simulator or by a reader of a recording, with the same
// numbers, from one thread. Memory: O(ranks * peers + call sites + communicators), nothing per message.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "events/sink.hpp"
#include "patterns/call_sites.hpp"
#include "patterns/collective_fans.hpp"
#include "patterns/communicators.hpp"
#include "patterns/file_statistics.hpp"
#include "patterns/layers.hpp"
#include "patterns/own_overhead.hpp"
#include "patterns/pair_counts.hpp"
#include "patterns/patterns.hpp"
#include "patterns/size_counts.hpp"
#include "patterns/time_bins.hpp"
#include "patterns/wire.hpp"
#include "report/run_summary.hpp"

namespace nplus1::patterns {

class MessageStatistics : public events::EventSink {
 public:
  /// `network` says what a call costs by itself, the rest is waiting; null: nothing. `collectives` says which
  /// messages they are made of; null: that is not counted. Both must outlive this.
  explicit MessageStatistics(std::size_t ranks, const netmodel::NetworkModel* network = nullptr,
                             const netmodel::Selection* collectives = nullptr);

  /// Events of ranks outside 0..ranks-1 throw std::out_of_range.
  void on_event(const events::TimedEvent& event) override;
  void on_match(RankId receiver, const events::Answer& match) override;
  void on_communicator(const events::Communicator& communicator) override;
  void on_call_path(const events::CallPath& path) override;
  void on_region(const events::Region& region) override { files_.define(region); }

  /// All but `application`, `network` and `renumbering`. May be called at any time.
  [[nodiscard]] Patterns patterns() const;

  /// Writes ranks, densities, collectives, sizes, the unmodelled share, rank_end, compute_time and
  /// virtual_time into `summary`, and leaves the other fields alone. May be called at any time.
  void fill(report::RunSummary& summary) const;

 private:
  struct LayerCounts {
    explicit LayerCounts(std::size_t ranks) : pairs{ranks} {}
    PairCounts pairs;
    SizeCounts bytes;
    std::unique_ptr<SizeCounts> elements;
  };
  struct RankCounts {
    Time end{};
    Duration compute{};
    Duration mpi{};
    Duration waiting{};
    std::uint64_t collective_calls = 0;
    bool finalized = false;
    // Calls that are not modelled; a rank's threads may overlap in them, and one thread's events may come
    // before earlier ones of another: no time is counted twice.
    std::uint32_t unmodelled_depth = 0;
    Time unmodelled_until{};  // counted up to here
    Time unmodelled_since{};
    Duration unmodelled{};
    events::Event unmodelled_call{};
    /// The last request that MPI_Startall has started, if nothing was called since.
    struct Started {
      ThreadId thread;
      CallSiteId site;
      std::int64_t wall_entry_ns = 0;
      bool operator==(const Started&) const = default;
    };
    std::optional<Started> started;
  };
  /// A call's own numbers, added up in several places.
  struct Call {
    Duration time{};
    Duration waiting{};
    std::uint64_t messages = 0;  // point-to-point
    std::uint64_t bytes = 0;     // and of its collective's messages
  };
  // function, blocking or not, kind, size of the communicator, root
  using CollectiveKey = std::tuple<std::uint16_t, bool, CollectiveKind, std::uint32_t, std::int32_t>;
  struct CollectiveCounts {
    std::string name;
    std::vector<std::uint64_t> calls;  // by rank
    std::uint64_t bytes = 0;
    Duration time{};
    Duration waiting{};
  };

  void count_call(const events::TimedEvent& event, RankCounts& rank, Time end);
  bool begins_call(const events::TimedEvent& event, RankCounts& rank);
  void count_message(const events::TimedEvent& event, Call& call);
  void count_one_sided(const events::TimedEvent& event, Call& call);
  void count_collective(const events::TimedEvent& event, RankCounts& rank, Call& call);
  std::uint64_t count_fan(const events::TimedEvent& event);
  void add(LayerCounts& layer, RankId from, RankId to, std::int64_t size, const events::Detail* detail);
  void enter_unmodelled(const events::TimedEvent& event, RankCounts& rank);
  void leave_unmodelled(const events::TimedEvent& event, RankCounts& rank, Time end);

  [[nodiscard]] std::vector<Layer> layers() const;
  [[nodiscard]] std::vector<RankTotals> rank_totals(const Layer& point_to_point) const;
  void fill_collectives(Patterns& patterns) const;
  [[nodiscard]] UnmodelledUse unmodelled() const;

  std::vector<RankCounts> ranks_;
  LayerCounts point_to_point_;
  std::array<std::unique_ptr<LayerCounts>, kCollectiveKinds> collective_layers_;
  std::array<std::unique_ptr<LayerCounts>, kOneSidedLayers.size()> one_sided_layers_;  // by operation
  std::map<CollectiveKey, CollectiveCounts> collectives_;
  Communicators communicators_;
  CallSites sites_;
  FileStatistics files_;
  TimeBins bins_;
  OwnOverhead own_;
  Wire wire_;
  std::map<std::uint16_t, std::uint64_t> unmodelled_calls_;
  std::uint64_t unplaced_ = 0;
};

}  // namespace nplus1::patterns
