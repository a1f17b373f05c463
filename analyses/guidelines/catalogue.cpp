#include "analyses/guidelines/catalogue.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "analyses/installation.hpp"
#include "report/files.hpp"
#include "support/stopped.hpp"

namespace nplus1::analyses {
namespace {

constexpr const char* kOwnGuidelines = "catalogue.json";
constexpr const char* kNothingCompared = "nothing is compared";

/// A name that no guideline has would be left out without a word.
void check_names(const char* option, const std::vector<std::string>& names,
                 const guidelines::Catalogue& catalogue, std::string guidelines::Guideline::*field) {
  std::set<std::string> known;
  for (const guidelines::Guideline& g : catalogue.guidelines) known.insert(g.*field);
  for (const std::string& name : names)
    if (known.count(name) == 0)
      throw Stopped{{fmt::format("{}: no guideline has '{}'", option, name),
                     fmt::format("choose from {}", fmt::join(known, ", ")), Fault::kUsage},
                    kNothingCompared};
}

}  // namespace

guidelines::Catalogue catalogue_of(const CatalogueChoice& choice) {
  const auto shipped = need(find_catalogue(), Fault::kUnavailable, kNothingCompared);
  auto catalogue = need(guidelines::read_catalogue(shipped), Fault::kUnavailable, kNothingCompared);
  for (const std::string& file : choice.files)
    catalogue =
        merged(std::move(catalogue), need(guidelines::read_catalogue(file), Fault::kInput, kNothingCompared));
  std::vector<std::string> functions = choice.functions;
  for (std::string& function : functions) function = guidelines::canonical_name(function);
  check_names("--functions", functions, catalogue, &guidelines::Guideline::original);
  check_names("--set", choice.sets, catalogue, &guidelines::Guideline::set);
  auto chosen = selected(catalogue, choice.sets, functions);
  if (chosen.guidelines.empty())
    throw Stopped{{"no guideline of the catalogue is in --set and --functions",
                   "correct them; the names are in " + shipped.string(), Fault::kUsage},
                  kNothingCompared};
  return chosen;
}

guidelines::Catalogue catalogue_of(CatalogueChoice choice, const std::filesystem::path& folder) {
  std::error_code error;
  const auto own = folder / kOwnGuidelines;
  if (std::filesystem::is_regular_file(own, error)) choice.files.insert(choice.files.begin(), own.string());
  return catalogue_of(choice);
}

void keep_own_guidelines(const CatalogueChoice& choice, const std::filesystem::path& folder) {
  guidelines::Catalogue own;
  for (const std::string& file : choice.files)
    own = merged(std::move(own), need(guidelines::read_catalogue(file), Fault::kInput, kNothingCompared));
  if (own.guidelines.empty()) return;
  need(report::write_file(folder / kOwnGuidelines, catalogue_text(own)), Fault::kOutput,
       "nothing was measured");
}

}  // namespace nplus1::analyses
