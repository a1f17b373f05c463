// What the subverbs of `nplus1 guidelines` share. One thread; bad input throws Failure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/verbs.hpp"
#include "guidelines/catalogue.hpp"

namespace nplus1::cli {

/// Which guidelines are meant.
struct CatalogueWords {
  std::vector<std::string> files;      // beside the one that comes with nplus1
  std::vector<std::string> sets;       // empty: all
  std::vector<std::string> functions;  // empty: all; "MPI_Bcast" is "Bcast"
};
void declare_catalogue(CLI::App& verb, CatalogueWords& words);
[[nodiscard]] guidelines::Catalogue catalogue_of(const CatalogueWords& words);

/// The same, with the guidelines that `folder` was measured with: keep_own_guidelines() left them there.
[[nodiscard]] guidelines::Catalogue catalogue_of(CatalogueWords words, const std::filesystem::path& folder);
void keep_own_guidelines(const CatalogueWords& words, const std::filesystem::path& folder);

void add_guidelines_advise(CLI::App& guidelines, const Registration& registration);
void add_guidelines_tune(CLI::App& guidelines, const Registration& registration);
void add_guidelines_run(CLI::App& guidelines, const Registration& registration);
void add_guidelines_check(CLI::App& guidelines, const Registration& registration);
void add_guidelines_confirm(CLI::App& guidelines, const Registration& registration);

}  // namespace nplus1::cli
