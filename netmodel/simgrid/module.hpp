// The functions of the module libnplus1-simgrid.so. Private to netmodel/simgrid.
#pragma once

#include <memory>

#include "netmodel/network_model.hpp"
#include "netmodel/simgrid/load.hpp"
#include "netmodel/simgrid/options.hpp"
#include "support/result.hpp"

extern "C" {
/// Overwrites `result`. Aborts where SimGrid does.
using Nplus1SimgridNetwork = void(const nplus1::netmodel::PlatformOptions* options,
                                  nplus1::Result<std::unique_ptr<nplus1::netmodel::NetworkModel>>* result);
void nplus1_simgrid_network(const nplus1::netmodel::PlatformOptions* options,
                            nplus1::Result<std::unique_ptr<nplus1::netmodel::NetworkModel>>* result);

/// check.hpp. Overwrites `result`; ends the process where SimGrid aborts.
using Nplus1SimgridCheck = void(const nplus1::netmodel::PlatformOptions* options,
                                nplus1::Result<nplus1::netmodel::PlatformReport>* result);
void nplus1_simgrid_check(const nplus1::netmodel::PlatformOptions* options,
                          nplus1::Result<nplus1::netmodel::PlatformReport>* result);
}

/// In what a check says before it dies: the line of the file that it was about follows; 0: none.
inline constexpr const char* kLineMark = "nplus1-platform-line ";

inline constexpr const char* kSimgridNetworkEntry = "nplus1_simgrid_network";
inline constexpr const char* kSimgridCheckEntry = "nplus1_simgrid_check";
