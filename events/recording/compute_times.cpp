#include "events/recording/compute_times.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "events/recording/reader.hpp"
#include "events/sink.hpp"

namespace nplus1::events::recording {
namespace {

class Collector final : public EventSink {
 public:
  explicit Collector(std::size_t ranks) : rows_(ranks) {}

  void on_event(const TimedEvent& told) override {
    rows_[told.rank.index()].push_back(
        {told.ordinal,
         ends_interval(told.event),
         {told.event.compute_ps, static_cast<std::uint16_t>(told.event.thread.value), told.event.call, 0}});
  }

  /// Rows come in the order of decisions; a thread's own order is that of its ordinals. Empty where a rank's stream
  /// has gaps.
  [[nodiscard]] std::vector<std::vector<ComputeInterval>> intervals() {
    std::vector<std::vector<ComputeInterval>> all(rows_.size());
    for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
      std::sort(rows_[rank].begin(), rows_[rank].end(),
                [](const Row& a, const Row& b) { return a.ordinal < b.ordinal; });
      for (std::size_t i = 0; i < rows_[rank].size(); ++i)
        if (rows_[rank][i].ordinal != i) return {};
      std::vector<std::int64_t> within;  // by thread: since its last interval
      for (const Row& row : rows_[rank]) {
        const std::size_t thread = row.interval.thread;
        if (thread >= within.size()) within.resize(thread + 1);
        within[thread] += row.interval.length_ps;
        if (!row.ends) continue;
        all[rank].push_back(row.interval);
        all[rank].back().length_ps = std::exchange(within[thread], 0);
      }
      rows_[rank] = {};
    }
    return all;
  }

 private:
  struct Row {
    std::uint64_t ordinal;
    bool ends;
    ComputeInterval interval;
  };
  std::vector<std::vector<Row>> rows_;
};

bool begins(const Properties& properties, const char* key, std::string_view with) {
  const auto found = properties.find(key);
  return found != properties.end() && std::string_view{found->second}.substr(0, with.size()) == with;
}

}  // namespace

Result<ComputeIntervals> read_compute_intervals(const std::filesystem::path& source) {
  auto opened = Reader::open(source);
  if (!opened) return opened.error();
  Reader reader = std::move(opened).value();
  Collector collector{static_cast<std::size_t>(reader.header().ranks)};
  const auto coverage = reader.read(collector);
  if (!coverage) return coverage.error();
  if (!coverage.value().complete || coverage.value().written.dropped_events > 0)
    return Error{reader.file().string() + " does not have all calls of its run: " + coverage.value().text(),
                 "record the whole run: nplus1 run --record full --record-cap 0 ..."};
  ComputeIntervals result;
  result.of_rank = collector.intervals();
  if (result.of_rank.empty())
    return Error{reader.file().string() + " has a part of its run's calls only",
                 "record the whole run, without --record-region"};
  result.accesses = begins(reader.properties(), "accesses", "");
  result.measured =
      begins(reader.properties(), "compute", "measured") || begins(reader.properties(), "compute", "scale:");
  return result;
}

}  // namespace nplus1::events::recording
