// `nplus1 guidelines confirm`: measures what was found violated once more, in fresh mpiruns, and k calls for
// real where the split rule only multiplied.
#include <fmt/format.h>

#include <memory>

#include "cli/failure.hpp"
#include "cli/guidelines/folder.hpp"
#include "cli/guidelines/guidelines.hpp"
#include "cli/guidelines/options.hpp"
#include "cli/program.hpp"
#include "guidelines/follow_up.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kGuidelinesConfirmExamples =
    "  nplus1 guidelines run -n 8 -o measured\n"
    "  nplus1 guidelines confirm measured      then `check measured` says what was confirmed\n";
constexpr const char* kFile = "confirmation.csv";

struct ConfirmWords {
  std::string folder;
  std::string budget = "2min";
  bool quiet = false;
};

void print_verdicts(const guidelines::Analysis& analysis) {
  std::size_t all = 0, confirmed = 0;
  for (const guidelines::Comparison& c : analysis.comparisons) {
    if (c.verdict != guidelines::Verdict::kViolated || !c.confirmed) continue;
    ++all;
    confirmed += *c.confirmed ? 1U : 0U;
    fmt::print("  {:<62} {:>8} B  {:5.2f} x  {}\n", title(c), c.left.size, c.ratio.estimate,
               *c.confirmed ? "confirmed" : "NOT confirmed");
  }
  fmt::print("{} of {} violations were confirmed by fresh measurements\n", confirmed, all);
}

int confirm(const ConfirmWords& words) {
  MeasuredFolder measured = open_measured(words.folder);
  Measuring& measuring = measured.measuring;
  measuring.budget = parse_duration(words.budget);
  measuring.quiet = words.quiet;
  const auto cells = confirmation_cells(measured.analysis, measured.data, measuring.how.criteria.least);
  if (cells.empty()) {
    check_nothing_was_missed(measured);
    fmt::print("no guideline was found violated: there is nothing to confirm\n");
    return static_cast<int>(ExitCode::kOk);
  }
  guidelines::Settings settings = settings_of(measuring);
  settings[guidelines::kPurpose] = guidelines::kConfirmation;
  for (const auto& note : measure(measuring, cells, measured.path / kFile, guidelines::csv_head(settings)))
    fmt::print(stderr, "nplus1: {}\n", note);
  print_verdicts(open_measured(words.folder).analysis);
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
