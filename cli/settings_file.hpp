// Defaults from a file: `--config FILE`, NPLUS1_CONFIG, or ./nplus1.toml. Flags and environment variables
// win.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace nplus1::cli {

/// Gives each option of `verb` that was neither on the command line nor in the environment the value in the
/// file's table [VERB]: `network = "lsb:latency=1e-6"`. `named` is the file asked for; when empty,
/// ./nplus1.toml is read if it is there. Throws Failure (kUsage) that names file and line, or the unknown key
/// and those that exist.
void apply_settings_file(CLI::App& verb, const std::string& named);

}  // namespace nplus1::cli
