// Which guidelines are meant: the catalogue that comes with nplus1, more from files, and a choice of them. One
// thread; throws Stopped.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "guidelines/catalogue.hpp"

namespace nplus1::analyses {

struct CatalogueChoice {
  std::vector<std::string> files;      // beside the one that comes with nplus1
  std::vector<std::string> sets;       // empty: all
  std::vector<std::string> functions;  // empty: all; "MPI_Bcast" is "Bcast"
};
[[nodiscard]] guidelines::Catalogue catalogue_of(const CatalogueChoice& choice);

/// The same, with the guidelines that `folder` was measured with: keep_own_guidelines() left them there.
[[nodiscard]] guidelines::Catalogue catalogue_of(CatalogueChoice choice, const std::filesystem::path& folder);
void keep_own_guidelines(const CatalogueChoice& choice, const std::filesystem::path& folder);

}  // namespace nplus1::analyses
