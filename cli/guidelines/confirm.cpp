// `nplus1 guidelines confirm`: measures what was found violated once more, in fresh mpiruns, and k calls for
// real where the split rule only multiplied.
#include <fmt/format.h>

#include <memory>

#include "analyses/guidelines/follow_up.hpp"
#include "cli/failure.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/guidelines/options.hpp"
#include "cli/guidelines/watch.hpp"
#include "cli/program.hpp"
#include "cli/to_stderr.hpp"
#include "support/number_of.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kGuidelinesConfirmExamples =
    "  nplus1 guidelines run -n 8 -o measured\n"
    "  nplus1 guidelines confirm measured      then `check measured` says what was confirmed\n";

struct ConfirmWords {
  std::string folder;
  std::string budget = "2min";
  bool quiet = false;
};

void print_verdicts(const guidelines::Analysis& analysis) {
  std::size_t all = 0, confirmed = 0, open = 0;
  for (const guidelines::Comparison& c : analysis.comparisons) {
    if (c.verdict != guidelines::Verdict::kViolated) continue;
    if (!c.confirmed) ++open;
    if (!c.confirmed) continue;
    ++all;
    confirmed += *c.confirmed ? 1U : 0U;
    fmt::print("  {:<62} {:>8} B  {:5.2f} x  {}\n", title(c), c.left.size, c.ratio.estimate,
               *c.confirmed ? "confirmed" : "NOT confirmed");
  }
  fmt::print("Fresh measurements confirm {} of {}\n", confirmed, number_of(all, "violation"));
  if (open > 0)
    fmt::print(
        "They are too few to tell of {}: the same command goes on, with more --budget in more mpiruns\n",
        number_of(open, "violation"));
}

int confirm(const ConfirmWords& words) {
  const double budget = parse_duration(words.budget);
  const analyses::Confirmation confirmation = done_or_fail(
      [&] { return analyses::confirm_violations(words.folder, budget, measuring_watch(words.quiet)); },
      ExitCode::kNoInput, "nothing was measured");
  if (confirmation.undecided) {
    print_undecided(*confirmation.undecided);
    fmt::print("no guideline was found violated: there is nothing to confirm\n");
    return static_cast<int>(ExitCode::kOk);
  }
  for (const auto& note : confirmation.notes) to_stderr("nplus1: {}\n", note);
  print_verdicts(confirmation.analysis);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_guidelines_confirm(CLI::App& guidelines, const Registration& registration) {
  CLI::App* part = guidelines.add_subcommand("confirm", "Measure what was found violated once more");
  set_manual(*part, {"nplus1 guidelines confirm DIR [options]", kGuidelinesConfirmExamples});
  const auto words = std::make_shared<ConfirmWords>();
  part->add_option("folder", words->folder, "What nplus1 guidelines run measured")
      ->required()
      ->type_name("DIR");
  part->add_option("--budget", words->budget, "How long it may take [2min]")->type_name("TIME");
  part->add_flag("-q,--quiet", words->quiet, "No progress");
  part->callback([registration, words] { registration.chosen = [words] { return confirm(*words); }; });
}

}  // namespace nplus1::cli
