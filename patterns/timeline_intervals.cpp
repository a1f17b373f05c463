#include "patterns/timeline_intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "events/sink.hpp"

namespace nplus1::patterns {
namespace {

/// "name": [a,b,...], one number for each item.
template <class Range, class Number>
void append_column(std::string& text, const char* name, const Range& range, Number number) {
  fmt::format_to(std::back_inserter(text), ", \"{}\": [", name);
  const char* separator = "";
  for (const auto& item : range) {
    fmt::format_to(std::back_inserter(text), "{}{}", separator, number(item));
    separator = ",";
  }
  text += ']';
}

}  // namespace

TimelineIntervals::TimelineIntervals(std::size_t ranks, std::size_t budget, Time begin, Time end)
    : ranks_{ranks}, budget_{std::max<std::size_t>(budget, 1)}, begin_{begin}, end_{end}, rows_(ranks) {
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    rows_[rank].rank = RankId{static_cast<std::int32_t>(rank)};
    rows_[rank].end = begin;
  }
}

TimelineIntervals::Row& TimelineIntervals::row_of(RankId rank, ThreadId thread) {
  Row& first = rows_.at(rank.index());
  if (thread == ThreadId{}) return first;
  const auto [place, is_new] = other_threads_.try_emplace({rank, thread}, rows_.size());
  if (is_new) rows_.push_back({rank, thread, begin_, false, {}});
  return rows_[place->second];
}

void TimelineIntervals::add(RankId rank, ThreadId thread, const Interval& interval) {
  Row& row = row_of(rank, thread);
  Interval inside = interval;
  const bool stuck = interval.end == events::kUnfinished;
  inside.begin = std::clamp(interval.begin, row.end, std::max(row.end, end_));
  inside.end = stuck ? inside.begin : std::clamp(interval.end, inside.begin, std::max(inside.begin, end_));
  row.stuck = row.stuck || stuck;
  if (bins_) {
    add_to_bins(row, row.end, inside);
  } else if (inside.end > inside.begin || stuck) {
    row.intervals.push_back(inside);
    ++kept_;
  }
  row.end = inside.end;
  if (kept_ > budget_) fold();
}

void TimelineIntervals::fold() {
  bins_.emplace(ranks_, budget_, begin_);
  for (Row& row : rows_) {
    Time before = begin_;
    for (const Interval& interval : row.intervals) {
      add_to_bins(row, before, interval);
      before = interval.end;
    }
    add_to_bins(row, before, {row.end, row.end, {}, 0, Activity::kCompute});
    row.intervals = {};
  }
  kept_ = 0;
}

void TimelineIntervals::add_to_bins(const Row& row, Time before, const Interval& interval) {
  if (row.thread != ThreadId{}) return;  // two threads of a rank would fill more than its bins hold
  bins_->add(row.rank, before, interval.begin, Activity::kCompute);
  bins_->add(row.rank, interval.begin, interval.end, interval.activity);
}

Time TimelineIntervals::row_end(const Row& row, Time run_end) const {
  return row.stuck ? std::max(row.end, std::min(run_end, end_)) : row.end;
}

std::string TimelineIntervals::json_members(Time run_end) const {
  if (bins_) return bins_json(run_end);
  std::string text = "  \"detail\": \"intervals\",\n  \"rows\": [";
  const char* separator = "\n    ";
  for (const Row& row : rows_) {
    text += separator + row_json(row, run_end);
    separator = ",\n    ";
  }
  return text + "]";
}

std::string TimelineIntervals::row_json(const Row& row, Time run_end) const {
  auto intervals = row.intervals;
  const Time end = row_end(row, run_end);
  if (row.stuck) intervals.back().end = end;
  std::string text = fmt::format("{{\"first_rank\": {}, \"ranks\": 1, \"thread\": {}, \"end_ps\": {}",
                                 row.rank.value, row.thread.value, end.time_since_epoch().count());
  // Each begins a gap (of computing) after the one before it: small numbers, and exact.
  append_column(text, "gap_ps", intervals, [before = begin_](const Interval& i) mutable {
    return (i.begin - std::exchange(before, i.end)).count();
  });
  append_column(text, "length_ps", intervals, [](const Interval& i) { return (i.end - i.begin).count(); });
  append_column(text, "activity", intervals, [](const Interval& i) { return static_cast<int>(i.activity); });
  append_column(text, "call", intervals, [](const Interval& i) { return i.call; });
  append_column(text, "site", intervals, [](const Interval& i) { return i.site.value; });
  return text + "}";
}

std::string TimelineIntervals::bins_json(Time run_end) const {
  TimelineBins bins = *bins_;
  for (const Row& row : rows_) {
    if (row.stuck && row.thread == ThreadId{}) {
      bins.add(row.rank, row.end, row_end(row, run_end), Activity::kStuck);
    }
  }
  const std::size_t used = bins.used(std::min(run_end, end_));
  std::string text = fmt::format("  \"detail\": \"bins\",\n  \"bin_ps\": {},\n  \"bins\": {},\n  \"rows\": [",
                                 bins.width().count(), used);
  std::vector<std::size_t> columns(used);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  for (std::size_t row = 0; row < bins.rows(); ++row) {
    fmt::format_to(std::back_inserter(text), "{}    {{\"first_rank\": {}, \"ranks\": {}",
                   row == 0 ? "\n" : ",\n", bins.first_rank(row), bins.ranks_in(row));
    for (std::size_t a = 0; a < kActivities; ++a) {
      append_column(text, kActivityNames[a], columns,
                    [&](std::size_t bin) { return bins.permille(row, bin, static_cast<Activity>(a)); });
    }
    text += '}';
  }
  return text + "]";
}

}  // namespace nplus1::patterns
