// `nplus1 diff`: the communication patterns of two runs, compared.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "cli/patterns_source.hpp"
#include "cli/program.hpp"
#include "cli/verbs.hpp"
#include "patterns/difference.hpp"

namespace nplus1::cli {
namespace {

constexpr int kDifferent = 1;  // as diff(1)

constexpr const char* kExamples =
    "  nplus1 diff nplus1-app-16-1 nplus1-app-16-2    exit code 0: same pattern, 1: different\n"
    "  nplus1 diff before after && echo unchanged      in a script\n";

int show(const std::string& before, const std::string& after) {
  const PatternsSource first = load_patterns(before);
  const PatternsSource second = load_patterns(after);
  const patterns::Difference difference = patterns::compare(first.patterns, second.patterns);
  fmt::print("{}", patterns::difference_text(difference, before, after));
  for (const PatternsSource* source : {&first, &second})
    if (!source->note.empty()) fmt::print("\n{}: {}\n", source == &first ? before : after, source->note);
  return difference.same_pattern ? 0 : kDifferent;
}

}  // namespace

void add_diff(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand("diff", "Compare the communication patterns of two runs");
  set_manual(*verb, {"nplus1 diff A B", kExamples});
  const auto sources = std::make_shared<std::pair<std::string, std::string>>();
  verb->add_option("A", sources->first, "Result folder, patterns.json or recording of the first run")
      ->type_name("DIR|RECORDING")
      ->required();
  verb->add_option("B", sources->second, "The same of the second")->type_name("DIR|RECORDING")->required();
  verb->callback([registration, sources] {
    registration.chosen = [sources] { return show(sources->first, sources->second); };
  });
}

}  // namespace nplus1::cli
