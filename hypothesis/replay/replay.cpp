#include "hypothesis/replay/replay.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace nplus1::hypothesis {
namespace {

namespace engine = simnode::engine;

class NoSink final : public events::EventSink {
  void on_event(const events::TimedEvent& /*event*/) override {}
};

/// What the engine decides, on to the sink with each call's details.
class Outcomes final : public engine::Listener {
 public:
  Outcomes(std::size_t ranks, events::EventSink* sink) : sink_{sink} {
    if (sink != nullptr) recorder_ = std::make_unique<engine::Recorder>(ranks, nobody_, *sink);
  }

  void on_exit(const events::TimedEvent& event) override {
    ++ended_;
    if (recorder_) recorder_->exited(event);
    if (feed_ != nullptr) feed_->came_out(event);
  }
  void on_match(RankId receiver, const events::Answer& match) override {
    if (sink_ != nullptr) sink_->on_match(receiver, match);
    if (feed_ != nullptr) feed_->met(receiver, match);
  }
  /// Is told how calls come out.
  void tell(EventFeed& feed) { feed_ = &feed; }
  engine::Recorder* recorder() { return recorder_.get(); }
  [[nodiscard]] std::uint64_t ended() const { return ended_; }

 private:
  events::EventSink* sink_;
  EventFeed* feed_ = nullptr;
  NoSink nobody_;
  std::unique_ptr<engine::Recorder> recorder_;
  std::uint64_t ended_ = 0;
};

engine::Options engine_options(const ReplayOptions& options) {
  engine::Options o;
  o.poll_cost = options.poll_cost;
  o.trust_entry = false;
  o.collectives = options.collectives;
  o.storage = options.storage;
  o.weak_progress = options.weak_progress;
  o.watch_links = options.watch_links;
  o.report_all_matches = options.sink != nullptr;
  return o;
}

std::vector<double> compute_scales(std::int32_t ranks, const ReplayOptions& options) {
  std::vector<double> scales;
  for (std::int32_t r = 0; r < ranks; ++r)
    scales.push_back(options.compute_scale * options.network->compute_scale(RankId{r}));
  return scales;
}

ReplayResult result_of(const engine::Engine& engine, const EventFeed& feed,
                       events::recording::Coverage coverage) {
  ReplayResult result;
  result.coverage = std::move(coverage);
  result.state = engine.state();
  result.counters = engine.counters();
  result.links = engine.link_usage();
  result.gaps = feed.gaps();
  result.adaptation = feed.adaptation();
  for (std::size_t r = 0; r < feed.costs().size(); ++r) {
    const RankCosts& costs = feed.costs()[r];
    const auto threads = static_cast<std::int64_t>(std::max(1U, costs.threads));
    result.ranks.push_back({costs.recorded_end, engine.clock(RankId{static_cast<std::int32_t>(r)}),
                            costs.compute / threads, costs.unexplained / threads});
  }
  for (const engine::BlockedThread& thread : engine.blocked())
    if (result.blocked.empty() || result.blocked.back() != thread.rank) result.blocked.push_back(thread.rank);
  return result;
}

double share_of(const ReplayResult& result, Duration RankResult::*part) {
  double all = 0;
  double wanted = 0;
  for (const RankResult& rank : result.ranks) {
    all += seconds(rank.end);
    wanted += seconds(rank.*part);
  }
  return all > 0 ? std::min(1.0, wanted / all) : 0.0;
}

Time latest(const std::vector<RankResult>& ranks, Time RankResult::*end) {
  Time last{};
  for (const RankResult& rank : ranks) last = std::max(last, rank.*end);
  return last;
}

}  // namespace

Result<ReplayResult> replay(events::recording::Reader& reader, const ReplayOptions& options) try {
  const std::int32_t ranks = reader.header().ranks;
  const auto n = static_cast<std::size_t>(ranks);
  Outcomes outcomes{n, options.sink};
  engine::Engine engine{ranks, *options.network, outcomes, engine_options(options)};
  EventFeed feed{n,
                 engine,
                 outcomes.recorder(),
                 options.sink,
                 {compute_scales(ranks, options), options.decisions == Decisions::kRecorded,
                  options.decisions == Decisions::kAdapted}};
  outcomes.tell(feed);
  transform::Chain nothing;
  transform::Chain& chain = options.hypothesis == nullptr ? nothing : *options.hypothesis;
  events::recording::Selection selection;
  selection.most_rows = options.most_rows;
  auto coverage = reader.read(chain.begin(feed), selection);
  if (!coverage) return coverage.error();
  chain.finish();
  feed.finish();
  if (outcomes.recorder() != nullptr) outcomes.recorder()->finish();
  ReplayResult result = result_of(engine, feed, std::move(coverage).value());
  result.ended = outcomes.ended();
  return result;
} catch (const netmodel::MessageRefused& refused) {
  return Error{refused.what(), "replay with another --model"};
} catch (const std::invalid_argument& contradiction) {
  return Error{reader.file().string() + ": " + contradiction.what(),
               "the recording is not what nplus1 run writes, or was changed beyond all virtual time (53 "
               "days); record the "
               "program again, or change less"};
}

Time ReplayResult::makespan() const {
  return latest(ranks, &RankResult::end);
}

Time ReplayResult::recorded_makespan() const {
  return latest(ranks, &RankResult::recorded_end);
}

double ReplayResult::compute_share() const {
  return share_of(*this, &RankResult::compute);
}

double ReplayResult::unexplained_share() const {
  return share_of(*this, &RankResult::unexplained);
}

double ReplayResult::communication_share() const {
  return std::max(0.0, 1 - compute_share() - unexplained_share());
}

Duration ReplayResult::largest_difference() const {
  Duration largest{};
  for (const RankResult& rank : ranks) {
    const Duration difference = rank.end - rank.recorded_end;
    largest = std::max(largest, difference < Duration::zero() ? -difference : difference);
  }
  return largest;
}

report::Trust trust_of(const ReplayResult& result) {
  report::Trust trust;
  trust.active_ranks = result.ranks.size();
  trust.events = result.counters.events;
  trust.order_inversions = result.counters.order_inversions;
  trust.forced_decisions = result.counters.forced_decisions;
  trust.relies_on_buffering = result.counters.relies_on_buffering > 0;
  return trust;
}

}  // namespace nplus1::hypothesis
