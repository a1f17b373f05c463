// How a process gets a network simulated by SimGrid: by loading the module libnplus1-simgrid.so when it is
// asked for. Linking SimGrid costs every start of a program some 30 ms, installs signal handlers, and brings
// MPI symbols.
#pragma once

#include <cstddef>
#include <memory>

#include "netmodel/network_model.hpp"
#include "netmodel/simgrid/options.hpp"
#include "support/result.hpp"

namespace nplus1::netmodel {

/// One platform per process, ever (SimGrid's own limit); with other options `map` a network each. Errors: a process with an MPI library, no module, a
/// platform that does not fit. Malformed platforms may abort the process: validate_platform() first.
[[nodiscard]] Result<std::unique_ptr<NetworkModel>> load_platform(const PlatformOptions& options);

/// What a platform is made of.
struct PlatformReport {
  std::size_t hosts = 0;
  std::size_t links = 0;
  std::size_t routes = 0;  // between hosts of ranks, checked
  std::string simgrid;     // why SimGrid itself has to simulate the messages; empty if netmodel/flows does
};

/// Loads the platform for these options in a child process, because SimGrid aborts on many errors. The error
/// is one line that names file and line where SimGrid does. Call it while the process has one thread.
[[nodiscard]] Result<PlatformReport> validate_platform(const PlatformOptions& options);

}  // namespace nplus1::netmodel
