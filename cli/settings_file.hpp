// Defaults from a file: `--config FILE`, NPLUS1_CONFIG, or ./nplus1.toml. Each verb has a table of its name
// ([run], [guidelines.check]) whose keys are its long options; flags and environment variables beat them. The whole
// file is checked, whichever verb reads it: an unknown table or key is an error.
#pragma once

#include <CLI/CLI.hpp>

namespace nplus1::cli {

/// Gives every verb `--config`, and lets the chosen one's table fill the options that were not given, before the
/// verb's own callback. Throws Failure (kUsage) from within parse(). `app` has all its verbs.
void use_settings_file(CLI::App& app);

}  // namespace nplus1::cli
