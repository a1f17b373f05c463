// Message density, data density, sizes and collectives of a run, counted where the events are decided (Riesen
// 2006, section 3: the communication patterns). Fed by the simulator or by a reader of a recording, from one
// thread. Memory: O(ranks * peers), nothing per message.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "events/sink.hpp"
#include "report/run_summary.hpp"

namespace nplus1::patterns {

/// Riesen's buckets: at most 16 * 4^k bytes for k = 0..11, and the rest.
inline constexpr std::size_t kSizeBuckets = 13;

/// The bucket that a message of `size` falls into.
[[nodiscard]] std::size_t size_bucket(Bytes size);

class MessageStatistics : public events::EventSink {
 public:
  explicit MessageStatistics(std::size_t ranks);

  /// Events of ranks outside 0..ranks-1 throw std::out_of_range.
  void on_event(const events::TimedEvent& event) override;
  void on_communicator(const events::Communicator& communicator) override;

  /// Writes ranks, densities, collectives, sizes, the unmodelled share, rank_end, compute_time and
  /// virtual_time into `summary`, and leaves the other fields alone. May be called at any time.
  void fill(report::RunSummary& summary) const;

 private:
  // call, blocking or not, kind, size of the communicator, root
  using CollectiveKey = std::tuple<std::uint16_t, bool, CollectiveKind, std::uint32_t, std::int32_t>;

  void count_message(RankId from, const events::Event& event);
  void count_collective(RankId rank, const events::Event& event);
  void count_unmodelled(const events::TimedEvent& event);
  [[nodiscard]] std::uint32_t members(CommId comm) const;
  void fill_collectives(report::RunSummary& summary) const;
  void fill_unmodelled(report::Unmodelled& unmodelled) const;

  std::size_t ranks_;
  report::RankMatrix messages_;
  report::RankMatrix bytes_;
  std::array<std::uint64_t, kSizeBuckets> sizes_{};
  std::vector<std::uint32_t> comm_sizes_;  // by CommId; 0 where no definition was seen
  std::map<CollectiveKey, std::vector<std::uint64_t>> collectives_;
  std::map<std::uint16_t, std::uint64_t> unmodelled_calls_;
  std::vector<std::uint32_t> unmodelled_depth_;  // by rank: a rank's threads may overlap
  std::vector<Time> unmodelled_since_;
  Duration unmodelled_time_{};
  std::vector<Time> rank_end_;
  std::vector<Duration> compute_;
};

}  // namespace nplus1::patterns
