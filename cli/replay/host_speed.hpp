// `--host-speed` of verbs that replay.
#pragma once

#include "cli/replay/replay.hpp"

namespace nplus1::cli {

/// What two files say becomes a factor of measured computing; with other computing that is refused. Says on stderr what it
/// relies on. Throws Failure (kUsage).
void apply_host_speed(ReplayWords& words);

}  // namespace nplus1::cli
