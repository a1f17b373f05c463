// The verb `nplus1 guidelines` and its parts: each is a file that defines add_guidelines_PART().
#pragma once

#include "cli/verbs.hpp"

namespace nplus1::cli {

/// The verb itself, declared by whichever part asks first.
[[nodiscard]] CLI::App& guidelines_verb(const Registration& registration);

void add_guidelines_run(const Registration& registration);

}  // namespace nplus1::cli
