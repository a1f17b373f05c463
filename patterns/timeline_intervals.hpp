// What each rank was doing when, within a budget: exact intervals until there are more of them than the
// budget allows, then shares of equal bins of virtual time (timeline_bins.hpp). Kept by patterns::Timeline;
// one thread; memory is bounded by the budget, plus a few words per thread of a rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "patterns/timeline_bins.hpp"

namespace nplus1::patterns {

/// Time in one call; time in no interval is computing.
struct Interval {
  Time begin;
  Time end;
  CallSiteId site;
  std::uint16_t call = 0;
  Activity activity = Activity::kCompute;
};

class TimelineIntervals {
 public:
  /// `budget`: intervals kept before they become bins. What lies outside `begin`..`end` is left out.
  TimelineIntervals(std::size_t ranks, std::size_t budget, Time begin, Time end);

  /// What `thread` of `rank` did next, in the order of time per thread. An `end` of events::kUnfinished is
  /// the end of the run. Ranks outside 0..ranks-1 throw std::out_of_range.
  void add(RankId rank, ThreadId thread, const Interval& interval);

  /// The members "detail", "rows" and so on of timeline.json (docs/formats/timeline.md).
  [[nodiscard]] std::string json_members(Time run_end) const;

 private:
  struct Row {
    RankId rank;
    ThreadId thread;
    Time end;      // of what is known
    bool stuck{};  // the last of `intervals` never ended
    std::vector<Interval> intervals;
  };

  Row& row_of(RankId rank, ThreadId thread);
  void keep(Row& row, const Interval& interval);
  void fold();
  void add_to_bins(const Row& row, Time before, const Interval& interval);
  [[nodiscard]] Time row_end(const Row& row, Time run_end) const;
  [[nodiscard]] std::string row_json(const Row& row, Time run_end) const;
  [[nodiscard]] std::string bins_json(Time run_end) const;

  std::size_t ranks_;
  std::size_t budget_;
  std::size_t kept_ = 0;
  Time begin_;
  Time end_;
  std::vector<Row> rows_;  // the first threads of all ranks, then other threads as they come
  std::map<std::pair<RankId, ThreadId>, std::size_t> other_threads_;
  std::optional<TimelineBins> bins_;  // of first threads
};

}  // namespace nplus1::patterns
