#include "analyses/clock_replays.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "analyses/clock.hpp"
#include "hypothesis/clock/interval.hpp"
#include "hypothesis/clock/warm_clock.hpp"
#include "hypothesis/transform/what_exists.hpp"
#include "hypothesis/whatif/analysis.hpp"
#include "report/exact_time.hpp"
#include "report/files.hpp"
#include "report/json_object.hpp"
#include "support/processes/children.hpp"
#include "support/stopped.hpp"
#include "support/time_sum.hpp"

namespace nplus1::analyses {
namespace fs = std::filesystem;
namespace {

using hypothesis::clock::KindReport;
using hypothesis::clock::Stretches;
using report::exact_seconds;

/// Replays with other samples, for the interval: more of them where what samples leave open is not small beside what is
/// systematic. No more, and then none, of recordings of so many bytes and more: each takes as long as a replay.
constexpr std::size_t kReplicates = 6, kMoreReplicates = 10;
constexpr std::uint64_t kMostReplicated = std::uint64_t{64} << 20U,
                        kMostReplicatedMore = std::uint64_t{8} << 20U;
/// What twins may be wrong by in all stretches alike, as a share: a little on any host, and the more where others had a part of the cores
/// more often, which makes these slower for seconds (docs/benchmarks.md has what it was calibrated on).
double systematic_error(const hypothesis::clock::Samples& samples) {
  constexpr double kAlways = 0.01, kWhereShared = 0.025;
  return kAlways + kWhereShared * samples.share_shared();
}

Duration computing_of(const hypothesis::ReplayResult& result) {
  Duration sum{};
  for (const auto& rank : result.ranks) sum_up(sum, rank.compute);
  return sum;
}

class ClockReplays {
 public:
  ClockReplays(const ReplaySettings& settings, const std::optional<ReplayFolder>& folder,
               const std::vector<std::string>& other_runs)
      : settings_{settings},
        folder_{folder},
        other_runs_{other_runs},
        reader_{need(events::recording::Reader::open(settings.source))},
        recorded_{hypothesis::recorded_settings(reader_.properties())},
        samples_{need(hypothesis::clock::samples_of(reader_.properties()))} {
    if (samples_.empty())  // with long stretches alone it has the speed of the cores that did them
      throw Stopped{
          {settings.source + " has neither a stretch that a twin has measured nor the speed of the cores",
           was_to_be_warm()
               ? "twins measure stretches that come again and take less than 20 ms, in processes "
                 "without threads of their own (OMP_NUM_THREADS=1); docs/clock.md has the rest"
               : "record the run with nplus1 run --compute warm",
           Fault::kInput}};
  }

  WarmTimes run() {
    WarmTimes clocks;
    clocks.ranks = reader_.header().ranks;
    const auto stretches = fitted_stretches(settings_.source, other_runs_);
    clocks.samples = stretches->samples().measured();
    clocks.slower_than_fastest = stretches->samples().slower_than_fastest();
    systematic_ = systematic_error(stretches->samples());
    kept_ = reader_.keep(kMostKept);
    const std::size_t replicates = reader_.bytes() > kMostReplicated ? 0 : kReplicates;
    const auto ends = ends_of(0, 2 + replicates, stretches);
    std::tie(clocks.measured, clocks.computing_measured) = ends[0];
    std::tie(clocks.lowest, std::ignore) = ends[1];
    clocks.lowest =
        from_seconds(seconds(clocks.lowest) * (1 - 1.645 * systematic_));  // the shortest may be too long
    std::vector<double> others;
    for (std::size_t i = 2; i < ends.size(); ++i) others.push_back(seconds(ends[i].first));
    if (reader_.bytes() <= kMostReplicatedMore && hypothesis::clock::are_apart(others, systematic_))
      for (const auto& [makespan, computing] : ends_of(ends.size(), kMoreReplicates, stretches))
        others.push_back(seconds(makespan));
    const auto conclude = [&](const hypothesis::ReplayResult& best) {
      clocks.estimate = best.makespan().time_since_epoch();
      clocks.lowest = std::min(clocks.lowest, clocks.estimate);  // who polls may end later with less to do
      clocks.computing_warm = computing_of(best);
      std::tie(clocks.from, clocks.to) = interval(clocks, others);
    };
    const hypothesis::ReplayResult best = replay_best(stretches, clocks, conclude);
    conclude(best);
    clocks.kinds = stretches->report();
    need(play_recording(settings_.source)(clocks.names, true));
    clocks.finished = best.state == simnode::engine::State::kFinished;
    return clocks;
  }

 private:
  /// The folder's summary has the interval, which `conclude` makes of the replay.
  template <class Conclude>
  hypothesis::ReplayResult replay_best(const std::shared_ptr<Stretches>& stretches, const WarmTimes& clocks,
                                       Conclude& conclude) {
    if (!folder_) return replay(stretches, nullptr);
    ReplayFolder folder = *folder_;
    folder.complete = [&](const hypothesis::ReplayResult& best, report::RunSummary& summary) {
      conclude(best);
      summary.virtual_time_interval =
          report::TimeInterval{clocks.lowest, clocks.from, clocks.to, clocks.measured, kShareOfInterval};
    };
    return replay(stretches, &folder);
  }

  [[nodiscard]] bool was_to_be_warm() const {
    const auto compute = reader_.properties().find("compute");
    return compute != reader_.properties().end() && compute->second == "warm";
  }

  [[nodiscard]] std::pair<Duration, Duration> interval(const WarmTimes& clocks,
                                                       const std::vector<double>& others) const {
    if (others.empty()) return {clocks.lowest, clocks.measured};
    const auto around = hypothesis::clock::interval(seconds(clocks.estimate), others, systematic_);
    return {std::clamp(from_seconds(around.from), clocks.lowest, clocks.estimate),
            std::clamp(from_seconds(around.to), clocks.estimate, std::max(clocks.estimate, clocks.measured))};
  }

  using End = std::pair<Duration, Duration>;

  /// Those of `count` from the `first` one on.
  std::vector<End> ends_of(std::size_t first, std::size_t count,
                           const std::shared_ptr<Stretches>& stretches) {
    return need(processes::in_children(count, {.jobs = jobs_of({})},
                                       [&](std::size_t i) { return end_of(first + i, stretches); }));
  }

  /// Makespan and computing, in a process of its own: SimGrid allows one simulation per process. 0: as measured, 1: at
  /// least, then replicates.
  Result<End> end_of(std::size_t which, const std::shared_ptr<Stretches>& stretches) {
    if (!kept_) reader_ = need(events::recording::Reader::open(settings_.source));
    if (which > 1) stretches->replicate(static_cast<std::uint32_t>(which - 1));
    const auto result =
        replay(which == 0 ? nullptr : stretches, nullptr,
               which == 1 ? hypothesis::clock::Estimate::kLowest : hypothesis::clock::Estimate::kBest);
    return End{result.makespan().time_since_epoch(), computing_of(result)};
  }

  hypothesis::ReplayResult replay(const std::shared_ptr<Stretches>& stretches, const ReplayFolder* folder,
                                  hypothesis::clock::Estimate estimate = hypothesis::clock::Estimate::kBest) {
    const auto prepared = prepare_replay(settings_, recorded_, reader_.header().ranks);
    hypothesis::transform::Chain chain;
    if (stretches) {
      need(chain.add(std::make_unique<hypothesis::clock::WarmClock>(stretches, estimate),
                     play_recording(settings_.source)));
      prepared->options.hypothesis = &chain;
      prepared->options.decisions = hypothesis::Decisions::kAdapted;
      prepared->compute = "warm";
    }
    return folder == nullptr ? need(hypothesis::replay(reader_, prepared->options))
                             : replay_into_folder(settings_, *folder, recorded_, *prepared, reader_);
  }

  const ReplaySettings& settings_;
  const std::optional<ReplayFolder>& folder_;
  const std::vector<std::string>& other_runs_;
  events::recording::Reader reader_;
  bool kept_ = false;  // in memory: the replays read the same recording
  hypothesis::RecordedSettings recorded_;
  std::vector<hypothesis::clock::Sample> samples_;
  double systematic_ = 0;  // systematic_error()
};

}  // namespace

WarmTimes warm_times(const ReplaySettings& settings, const std::optional<ReplayFolder>& folder,
                     const std::vector<std::string>& other_runs) {
  return ClockReplays{settings, folder, other_runs}.run();
}

std::string clock_json(const std::string& source, const WarmTimes& clocks) {
  report::JsonObject object;
  object.text("schema", "nplus1-clock/1");
  object.text("recording", source);
  object.raw("virtual_time_s", exact_seconds(clocks.estimate));
  object.raw("from_s", exact_seconds(clocks.from));
  object.raw("to_s", exact_seconds(clocks.to));
  object.raw("lowest_s", exact_seconds(clocks.lowest));
  object.raw("measured_s", exact_seconds(clocks.measured));
  object.raw("computing_s", exact_seconds(clocks.computing_warm));
  object.raw("computing_measured_s", exact_seconds(clocks.computing_measured));
  object.number("samples", clocks.samples);
  object.real("cores_slower_than_fastest", clocks.slower_than_fastest);
  object.truth("finished", clocks.finished);
  object.list("kinds", clocks.kinds, [&](const KindReport& k) {
    report::JsonObject kind;
    kind.text("after",
              k.kind.after == 0 ? "" : hypothesis::transform::place_of_path(k.kind.after, clocks.names));
    kind.text("before", hypothesis::transform::place_of_path(k.kind.before, clocks.names));
    kind.real("size", static_cast<double>(k.kind.size));
    kind.truth("longer", k.kind.longer);
    kind.number("count", k.count);
    kind.number("samples", k.samples);
    kind.text("model", hypothesis::clock::name(k.model));
    kind.truth("by_data", k.by_data);
    kind.real("measured_s", 1e-12 * k.recorded_ps);
    kind.real("warm_s", 1e-12 * k.warm_ps);
    kind.real("spread", k.spread);
    return kind.inner();
  });
  return object.document();
}

namespace {

WarmTimes leave_results(const std::string& run, const std::vector<std::string>& other_runs,
                        const fs::path& output, const fs::path& document_in) {
  ReplaySettings settings;
  settings.source = run;
  WarmTimes times = warm_times(settings, ReplayFolder{output.string(), true}, other_runs);
  need(report::write_file(document_in / kClockFile, clock_json(run, times)), Fault::kOutput,
       "the clock's report is missing");
  return times;
}

}  // namespace

WarmTimes leave_warm_results(const std::string& folder) {
  return leave_results(folder, {}, fs::path{folder} / kWarmFolder, folder);
}

WarmTimes leave_results_of_all(const std::vector<std::string>& runs, const std::string& output) {
  return leave_results(runs.front(), {runs.begin() + 1, runs.end()}, output, output);
}

}  // namespace nplus1::analyses
