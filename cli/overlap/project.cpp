// `nplus1 overlap project`: what several runs let one expect at other sizes and numbers of ranks.
#include <fmt/format.h>

#include <memory>

#include "cli/failure.hpp"
#include "cli/overlap/overlap.hpp"
#include "cli/program.hpp"
#include "cli/results.hpp"
#include "overlap/projection.hpp"
#include "report/files.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kNothingProjected = "nothing was projected, nothing is written";

constexpr const char* kProjectExamples =
    "  nplus1 overlap project A B --sizes 64,128 --size 1024    two runs of sizes 64 and 128, projected to "
    "1024\n"
    "  nplus1 overlap project A B --sizes 64,128 --size 1024 --ranks 256 --json projection.json\n";

struct ProjectWords {
  std::vector<std::string> sources;
  std::vector<double> sizes;
  double size = 0, ranks = 0;
  OverlapWords each;
};

struct RunOfProjection {
  overlap::ProjectedRun run;
  analyses::OverlapSource source;
};

RunOfProjection projected_run(const ProjectWords& words, std::size_t i) {
  OverlapWords each = words.each;
  each.words.source = words.sources[i];
  each.words.quiet = true;
  const auto reader =
      or_fail(events::recording::Reader::open(each.words.source), ExitCode::kNoInput, kNothingProjected);
  if (const auto error = analyses::lacks_accesses(reader, each.words.source))
    throw failure_of(*error, ExitCode::kNoInput, kNothingProjected);
  const analyses::OverlapSource source =
      or_fail(analyses::survey_overlap(each.words.source, each.words.most_rows), ExitCode::kNoInput,
              kNothingProjected);
  if (!words.each.words.quiet)
    fmt::print(stderr, "nplus1: {} of {}: {}\n", i + 1, words.sources.size(), each.words.source);
  RunOfProjection made{
      overlap::numbers_of(
          or_fail(analyses::find_overlap(each.options(), source), ExitCode::kNoInput, kNothingProjected),
          *source.survey, *source.analysis, words.sizes.empty() ? 1 : words.sizes[i]),
      source};
  overlap::PhaseSums sums{*source.survey};
  or_fail(analyses::play_recording(each.words.source, each.words.most_rows)(sums, false), ExitCode::kNoInput,
          kNothingProjected);
  made.run.phases = sums.phases();
  return made;
}

/// Replays of the largest run with the phases that the fits give.
overlap::Recomputed recomputed(const ProjectWords& words, const analyses::OverlapSource& source,
                               const std::vector<overlap::ProjectedRun>& runs, const overlap::Basis& basis,
                               double size) {
  OverlapWords each = words.each;
  each.words.source = words.sources[basis.run];
  each.words.quiet = true;
  std::vector<std::size_t> chains;
  for (std::size_t c = 0; c < source.analysis->chains.size(); ++c)
    if (runs[basis.run].chains.contains(overlap::chain_name(source.analysis->chains[c]))) chains.push_back(c);
  overlap::Recomputed made;
  const auto replay = [&](overlap::Estimate estimate, overlap::Recomputed::Times& into) {
    const auto scales = std::make_shared<const overlap::Scales>(
        overlap::scales_at(basis.phases, runs[basis.run].phases, size, estimate));
    const std::vector<double> times = or_fail(analyses::replay_scaled(each.options(), source, scales, chains),
                                              ExitCode::kNoInput, kNothingProjected);
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
void add_left_out(const analyses::OverlapSource& source, const std::string& name,
                  overlap::Projection& projection) {
  if (source.left_out == 0) return;
  projection.warnings.push_back(fmt::format(
      "Of {} the first {} of {} events and matches were looked at: its time and savings are of that part "
      "(--events 0 takes all of them).",
      name, source.rows, source.rows + source.left_out));
}

int show_projection(const ProjectWords& words) {
  if (!words.sizes.empty() && words.sizes.size() != words.sources.size())
    throw Failure{ExitCode::kUsage,
                  fmt::format("--sizes has {} sizes for {} runs", words.sizes.size(), words.sources.size()),
                  kNothingProjected, "give one for each, in their order"};
  std::vector<overlap::ProjectedRun> runs;
  std::vector<analyses::OverlapSource> sources;
  for (std::size_t i = 0; i < words.sources.size(); ++i) {
    RunOfProjection made = projected_run(words, i);
    runs.push_back(std::move(made.run));
    sources.push_back(std::move(made.source));
  }
  double size = words.size, ranks = words.ranks;
  for (const auto& run : runs) {
    if (words.size <= 0) size = std::max(size, run.size);
    if (words.ranks <= 0) ranks = std::max(ranks, run.ranks);
  }
  std::string why_not;
  std::optional<overlap::Recomputed> again;
  if (const auto basis = overlap::basis_of(runs, ranks, why_not))
    again = recomputed(words, sources[basis->run], runs, *basis, size);
  overlap::Projection projection = overlap::project(std::move(runs), size, ranks, again, why_not);
  for (std::size_t i = 0; i < sources.size(); ++i) add_left_out(sources[i], words.sources[i], projection);
  if (!words.each.words.json.empty())
    or_fail(report::write_file(words.each.words.json, overlap::projection_json(projection)),
            ExitCode::kCantCreate, kNothingProjected);
  fmt::print("{}", overlap::projection_text(projection));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_overlap_project(CLI::App& parent, const Registration& registration) {
  CLI::App* verb = parent.add_subcommand(
      "project", "From runs of several sizes or numbers of ranks to others that nobody has made");
  set_manual(*verb, {"nplus1 overlap project DIR DIR... [--sizes N,N,...] [--size N] [--ranks P] [options]",
                     kProjectExamples});
  const auto words = std::make_shared<ProjectWords>();
  verb->add_option("sources", words->sources, "Result folders of runs with --record-accesses")
      ->type_name("DIR")
      ->required()
      ->expected(2, 1000);
  verb->add_option("--sizes", words->sizes, "The problem size of each, in their order")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->type_name("N,N,...");
  verb->add_option("--size", words->size, "The size to project to [the largest]")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  verb->add_option("--ranks", words->ranks, "The number of ranks to project to [the largest]")
      ->check(CLI::PositiveNumber)
      ->type_name("P");
  declare_bounds(*verb, words->each);
  declare_network(*verb, words->each.words);
  declare_results(*verb, words->each.words, nullptr);
  verb->callback(
      [registration, words] { registration.chosen = [words] { return show_projection(*words); }; });
}

}  // namespace nplus1::cli
