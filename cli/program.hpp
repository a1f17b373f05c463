// The command `nplus1` as CLI11 sees it: shared by main() and by the printer of the man pages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace nplus1::cli {

/// Name, description, examples and formatting of the top-level command; verbs are added by add_verbs().
void describe_program(CLI::App& app);

/// What CLI11 has no place for: one line of usage, and examples, which come before the options in --help and
/// in the man page. `app` must outlive the program's output.
struct Manual {
  std::string usage;
  std::string examples;
};
void set_manual(const CLI::App& app, Manual manual);

/// What set_manual() was given; empty strings when nothing.
[[nodiscard]] Manual manual_of(const CLI::App& app);

}  // namespace nplus1::cli
