// What is wrong with a platform file, and in which line: for `nplus1 doctor --platform` and before every run.
// SimGrid finds much of it, but aborts, or says no line, or takes values that make no sense; so this runs in
// a child process (validate.cpp) and says itself where it was. Private to the module.
#pragma once

#include "netmodel/simgrid/load.hpp"
#include "netmodel/simgrid/options.hpp"
#include "support/result.hpp"

namespace nplus1::netmodel {

/// Loads the platform; checks every host and link, the routes between the ranks' hosts (all of them up to 64
/// hosts, else each host's to a few others), and sends one message. Errors name file and line where there is
/// one. Where SimGrid aborts, its words stand on stderr, and after them the line as `kLineMark`; the process
/// ends.
[[nodiscard]] Result<PlatformReport> check_simgrid_platform(const PlatformOptions& options);

}  // namespace nplus1::netmodel
