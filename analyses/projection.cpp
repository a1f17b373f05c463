#include "analyses/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "events/recording/reader.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

struct RunOfProjection {
  overlap::ProjectedRun run;
  OverlapSource source;
};

RunOfProjection projected_run(const ProjectionOptions& options, std::size_t i,
                              const ProjectionBegins& begins) {
  OverlapOptions each = options.each;
  each.replay.source = options.sources[i];
  const auto reader = need(events::recording::Reader::open(each.replay.source));
  if (const auto error = lacks_accesses(reader, each.replay.source)) throw Stopped{*error};
  const OverlapSource source = need(survey_overlap(each.replay.source, each.replay.most_rows));
  if (begins) begins(i, options.sources.size(), each.replay.source);
  RunOfProjection made{overlap::numbers_of(need(find_overlap(each, source)), *source.survey, *source.analysis,
                                           options.sizes.empty() ? 1 : options.sizes[i]),
                       source};
  overlap::PhaseSums sums{*source.survey};
  need(play_recording(each.replay.source, each.replay.most_rows)(sums, false));
  made.run.phases = sums.phases();
  return made;
}

/// Replays of the largest run with the phases that the fits give.
overlap::Recomputed recomputed(const ProjectionOptions& options, const OverlapSource& source,
                               const std::vector<overlap::ProjectedRun>& runs, const overlap::Basis& basis,
                               double size) {
  OverlapOptions each = options.each;
  each.replay.source = options.sources[basis.run];
  std::vector<std::size_t> chains;
  for (std::size_t c = 0; c < source.analysis->chains.size(); ++c)
    if (runs[basis.run].chains.contains(overlap::chain_name(source.analysis->chains[c]))) chains.push_back(c);
  overlap::Recomputed made;
  const auto replay = [&](overlap::Estimate estimate, overlap::Recomputed::Times& into) {
    const auto scales = std::make_shared<const overlap::Scales>(
        overlap::scales_at(basis.phases, runs[basis.run].phases, size, estimate));
    const std::vector<double> times = need(replay_scaled(each, source, scales, chains), Fault::kInput);
    into.as_written = times.front();
    for (std::size_t i = 0; i < chains.size(); ++i)
      into.grouped[overlap::chain_name(source.analysis->chains[chains[i]])] = times[i + 1];
  };
  replay(overlap::Estimate::kBest, made.best);
  replay(overlap::Estimate::kLeast, made.least);
  replay(overlap::Estimate::kMost, made.most);
  return made;
}

/// Times and savings are those of the parts, and parts of runs of other sizes are other shares of them.
void add_left_out(const OverlapSource& source, const std::string& name, overlap::Projection& projection) {
  if (source.left_out == 0) return;
  projection.warnings.push_back(fmt::format(
      "Of {} the first {} of {} events and matches were looked at: its time and savings are of that part "
      "(--events 0 takes all of them).",
      name, source.rows, source.rows + source.left_out));
}

overlap::Projection projection_of(const ProjectionOptions& options, const ProjectionBegins& begins) {
  if (!options.sizes.empty() && options.sizes.size() != options.sources.size())
    throw Stopped{
        {fmt::format("--sizes has {} sizes for {} runs", options.sizes.size(), options.sources.size()),
         "give one for each, in their order", Fault::kUsage}};
  std::vector<overlap::ProjectedRun> runs;
  std::vector<OverlapSource> sources;
  for (std::size_t i = 0; i < options.sources.size(); ++i) {
    RunOfProjection made = projected_run(options, i, begins);
    runs.push_back(std::move(made.run));
    sources.push_back(std::move(made.source));
  }
  double size = options.size, ranks = options.ranks;
  for (const auto& run : runs) {
    if (options.size <= 0) size = std::max(size, run.size);
    if (options.ranks <= 0) ranks = std::max(ranks, run.ranks);
  }
  std::string why_not;
  std::optional<overlap::Recomputed> again;
  if (const auto basis = overlap::basis_of(runs, ranks, why_not))
    again = recomputed(options, sources[basis->run], runs, *basis, size);
  overlap::Projection projection = overlap::project(std::move(runs), size, ranks, again, why_not);
  for (std::size_t i = 0; i < sources.size(); ++i) add_left_out(sources[i], options.sources[i], projection);
  return projection;
}

}  // namespace

Result<overlap::Projection> project_overlap(const ProjectionOptions& options,
                                            const ProjectionBegins& begins) {
  return attempt([&] { return projection_of(options, begins); });
}

}  // namespace nplus1::analyses
