// `--host-speed` of nplus1 run.
#pragma once

#include "cli/run/run_options.hpp"

namespace nplus1::cli {

/// What two files say becomes a factor of measured computing; with other computing that is refused. Says on stderr what it
/// relies on. Throws Failure (kUsage).
void apply_host_speed(RunOptions& options);

}  // namespace nplus1::cli
