// `nplus1 diff`: two runs compared: their communication patterns, their times and where they waited.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "analyses/patterns.hpp"
#include "analyses/wait_states.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "events/recording/reader.hpp"
#include "hypothesis/whatif/text.hpp"
#include "patterns/difference.hpp"

namespace nplus1::cli {
namespace {

constexpr int kDifferent = 1;  // as diff(1)

constexpr const char* kDiffExamples =
    "  nplus1 diff nplus1-app-16-1 nplus1-app-16-2    exit code 0: same pattern, 1: different\n"
    "  nplus1 diff before after && echo unchanged      in a script\n"
    "  nplus1 diff faster nplus1-app-16-3              a prediction of nplus1 whatif, and what came of it\n"
    "  nplus1 diff faster:before faster                the two sides of a prediction\n";

/// Whether the two have the same pattern.
bool show_patterns(const std::string& before, const std::string& after) {
  const auto first = or_fail(analyses::load_patterns(before), ExitCode::kNoInput, kNothingShown);
  const auto second = or_fail(analyses::load_patterns(after), ExitCode::kNoInput, kNothingShown);
  const patterns::Difference difference = patterns::compare(first.patterns, second.patterns);
  fmt::print("{}", patterns::difference_text(difference, before, after));
  for (const auto* source : {&first, &second})
    if (!source->note.empty()) fmt::print("\n{}: {}\n", source == &first ? before : after, source->note);
  return difference.same_pattern;
}

bool is_side(const std::string& path) {
  return or_fail(analyses::read_side(path), ExitCode::kNoInput, kNothingShown).has_value();
}

/// Whether there is a recording to compare times by; one that is there and can't be read is said.
bool is_recording(const std::string& path) {
  const auto reader = events::recording::Reader::open(path);
  std::error_code error;
  if (!reader && std::filesystem::exists(std::filesystem::path{path} / "recording", error))
    fmt::print("\n{}: times are not compared: {}\n", path, reader.error().what);
  return reader.ok();
}

/// Where one of the two is a result of whatif or waitstates there are no patterns: then times are what
/// differs.
int show(const std::string& before, const std::string& after) {
  const bool results = is_side(before) || is_side(after);
  const bool same_pattern = results || show_patterns(before, after);
  const bool recordings = !results && is_recording(before) && is_recording(after);
  if (!results && !recordings) return same_pattern ? 0 : kDifferent;
  const auto first = or_fail(analyses::load_side(before), ExitCode::kNoInput, kNothingShown);
  const auto second = or_fail(analyses::load_side(after), ExitCode::kNoInput, kNothingShown);
  if (!results) fmt::print("\n");
  fmt::print("{}", hypothesis::comparison_text(first, second, "A", "B"));
  for (const auto& [name, side] : {std::pair{"A", &first}, std::pair{"B", &second}})
    if (!side->trust.empty()) fmt::print("\n{}: {}\n", name, side->trust);
  return same_pattern && (!results || first.metrics == second.metrics) ? 0 : kDifferent;
}

}  // namespace

void add_diff(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "diff", "Compare two runs, recordings or results: their patterns, times and wait states");
  set_manual(*verb, {"nplus1 diff A B", kDiffExamples});
  const auto sources = std::make_shared<std::pair<std::string, std::string>>();
  constexpr const char* kType = "DIR|RECORDING|JSON";
  verb->add_option("A", sources->first,
                   "A result folder, a recording, patterns.json, waitstates.json, or a result of whatif")
      ->type_name(kType)
      ->required();
  verb->add_option("B", sources->second, "What to compare it with")->type_name(kType)->required();
  verb->callback([registration, sources] {
    registration.chosen = [sources] { return show(sources->first, sources->second); };
  });
}

}  // namespace nplus1::cli
