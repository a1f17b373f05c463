// What the subverbs of `nplus1 guidelines` share. One thread; bad input throws Failure.
#pragma once

#include "analyses/guidelines/catalogue.hpp"
#include "cli/verbs.hpp"

namespace nplus1::cli {

/// --catalogue, --set, --functions.
void declare_catalogue(CLI::App& verb, analyses::CatalogueChoice& choice);

void add_guidelines_advise(CLI::App& guidelines, const Registration& registration);
void add_guidelines_tune(CLI::App& guidelines, const Registration& registration);
void add_guidelines_run(CLI::App& guidelines, const Registration& registration);
void add_guidelines_check(CLI::App& guidelines, const Registration& registration);
void add_guidelines_confirm(CLI::App& guidelines, const Registration& registration);

}  // namespace nplus1::cli
