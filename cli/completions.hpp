// What a shell completes after `nplus1`: verbs, and the options of each, from the declarations that --help shows.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace nplus1::cli {

/// Scripts for bash (to be sourced), zsh (`_nplus1` in its fpath) and fish. After `--` files and programs are completed.
[[nodiscard]] std::string bash_completions(CLI::App& app);
[[nodiscard]] std::string zsh_completions(CLI::App& app);
[[nodiscard]] std::string fish_completions(CLI::App& app);

}  // namespace nplus1::cli
