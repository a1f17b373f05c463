// `nplus1 guidelines`: does the MPI library keep its own promises? Its subverbs have files of their own.
#include "cli/guidelines/guidelines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyses/installation.hpp"
#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "report/files.hpp"

namespace nplus1::cli {
namespace {

constexpr const char* kGuidelinesExamples =
    "  nplus1 guidelines run -n 8 -o DIR             measure collectives, and what could replace them\n"
    "  nplus1 guidelines check DIR                   judge what was measured\n"
    "  nplus1 guidelines confirm DIR                 measure what was found violated once more\n"
    "  nplus1 guidelines advise DIR                  try the library's settings on it\n"
    "  nplus1 guidelines tune DIR -o LIB.so          a library that runs what is faster instead\n"
    "  nplus1 guidelines check DIR --application R   what the violations cost a recorded program\n";

constexpr const char* kOwnGuidelines = "catalogue.json";

/// A name that no guideline has would be left out without a word.
void check_names(const char* option, const std::vector<std::string>& names,
                 const guidelines::Catalogue& catalogue, std::string guidelines::Guideline::*field) {
  std::set<std::string> known;
  for (const guidelines::Guideline& g : catalogue.guidelines) known.insert(g.*field);
  for (const std::string& name : names)
    if (known.count(name) == 0)
      throw Failure{ExitCode::kUsage, fmt::format("{}: no guideline has '{}'", option, name),
                    "nothing is compared", fmt::format("choose from {}", fmt::join(known, ", "))};
}

}  // namespace

void declare_catalogue(CLI::App& verb, CatalogueWords& words) {
  verb.add_option("--catalogue", words.files, "More guidelines from this file; may be repeated")
      ->type_name("FILE");
  verb.add_option("--set", words.sets,
                  "Only these sets of guidelines: pgmpi, tunelib, nonblocking, ... [all]")
      ->delimiter(',')
      ->type_name("SETS");
  verb.add_option("--functions", words.functions,
                  "Only guidelines of these functions: Bcast,Gather,... [all]")
      ->delimiter(',')
      ->type_name("NAMES");
}

guidelines::Catalogue catalogue_of(const CatalogueWords& words) {
  const auto shipped = or_fail(analyses::find_catalogue(), ExitCode::kUnavailable, "nothing is compared");
  auto catalogue =
      or_fail(guidelines::read_catalogue(shipped), ExitCode::kUnavailable, "nothing is compared");
  for (const std::string& file : words.files)
    catalogue = merged(std::move(catalogue),
                       or_fail(guidelines::read_catalogue(file), ExitCode::kNoInput, "nothing is compared"));
  std::vector<std::string> functions = words.functions;
  for (std::string& function : functions) function = guidelines::canonical_name(function);
  check_names("--functions", functions, catalogue, &guidelines::Guideline::original);
  check_names("--set", words.sets, catalogue, &guidelines::Guideline::set);
  auto chosen = selected(catalogue, words.sets, functions);
  if (chosen.guidelines.empty())
    throw Failure{ExitCode::kUsage, "no guideline of the catalogue is in --set and --functions",
                  "nothing is compared", "correct them; the names are in " + shipped.string()};
  return chosen;
}

guidelines::Catalogue catalogue_of(CatalogueWords words, const std::filesystem::path& folder) {
  std::error_code error;
  const auto own = folder / kOwnGuidelines;
  if (std::filesystem::is_regular_file(own, error)) words.files.insert(words.files.begin(), own.string());
  return catalogue_of(words);
}

void keep_own_guidelines(const CatalogueWords& words, const std::filesystem::path& folder) {
  guidelines::Catalogue own;
  for (const std::string& file : words.files)
    own = merged(std::move(own),
                 or_fail(guidelines::read_catalogue(file), ExitCode::kNoInput, "nothing is compared"));
  if (own.guidelines.empty()) return;
  const auto written = report::write_file(folder / kOwnGuidelines, catalogue_text(own));
  if (!written)
    throw Failure{ExitCode::kCantCreate, written.error().what, "nothing was measured",
                  written.error().remedy};
}

void add_guidelines(const Registration& registration) {
  CLI::App* verb = registration.app.add_subcommand(
      "guidelines", "Check whether the MPI library's functions are slower than others that do the same");
  set_manual(*verb, {"nplus1 guidelines VERB [options]", kGuidelinesExamples});
  add_guidelines_run(*verb, registration);
  add_guidelines_check(*verb, registration);
  add_guidelines_confirm(*verb, registration);
  add_guidelines_advise(*verb, registration);
  add_guidelines_tune(*verb, registration);
  verb->require_subcommand(1);
}

}  // namespace nplus1::cli
