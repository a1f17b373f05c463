// `nplus1 overlap project`: what several runs let one expect at other sizes and numbers of ranks.
#include <fmt/format.h>

#include <memory>

#include "analyses/projection.hpp"
#include "cli/failure.hpp"
#include "cli/overlap/overlap.hpp"
#include "cli/program.hpp"
#include "cli/replay/results.hpp"
#include "cli/to_stderr.hpp"
#include "report/files.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kNothingProjected = "nothing was projected, nothing is written";

constexpr const char* kProjectExamples =
    "  nplus1 overlap project A B --sizes 64,128 --size 1024    two runs of sizes 64 and 128, projected to "
    "1024\n"
    "  nplus1 overlap project A B --sizes 64,128 --size 1024 --ranks 256 --json projection.json\n";

struct ProjectWords {
  analyses::ProjectionOptions options;  // but for `each`
  OverlapWords each;
};

int show_projection(const ProjectWords& words) {
  analyses::ProjectionOptions options = words.options;
  options.each = words.each.options();
  analyses::ProjectionBegins begins;
  if (!words.each.words.quiet)
    begins = [](std::size_t run, std::size_t all, const std::string& source) {
      to_stderr("nplus1: {} of {}: {}\n", run + 1, all, source);
    };
  const overlap::Projection projection =
      or_fail(analyses::project_overlap(options, begins), ExitCode::kNoInput, kNothingProjected);
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
  verb->add_option("sources", words->options.sources, "Result folders of runs with --record-accesses")
      ->type_name("DIR")
      ->required()
      ->expected(2, 1000);
  verb->add_option("--sizes", words->options.sizes, "The problem size of each, in their order")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->type_name("N,N,...");
  verb->add_option("--size", words->options.size, "The size to project to [the largest]")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  verb->add_option("--ranks", words->options.ranks, "The number of ranks to project to [the largest]")
      ->check(CLI::PositiveNumber)
      ->type_name("P");
  declare_bounds(*verb, words->each);
  declare_network(*verb, words->each.words);
  declare_results(*verb, words->each.words, nullptr);
  verb->callback(
      [registration, words] { registration.chosen = [words] { return show_projection(*words); }; });
}

}  // namespace nplus1::cli
