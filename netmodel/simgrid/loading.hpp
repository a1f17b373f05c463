// From options to a SimGrid engine with a platform, step by step, so that the check (check.cpp) can say at
// which step, and where in the file, SimGrid gave up. All may throw what SimGrid throws, or abort. Private to
// the module.
#pragma once

#include <vector>

#include "netmodel/flow_protocol/flow_protocol.hpp"
#include "netmodel/simgrid/options.hpp"
#include "support/result.hpp"

namespace simgrid::s4u {
class Engine;
class Host;
}  // namespace simgrid::s4u

namespace nplus1::netmodel {

/// With the options, without a platform. Lives to the end of the process.
[[nodiscard]] simgrid::s4u::Engine& start_engine(const PlatformOptions& options);
void load(simgrid::s4u::Engine& engine, const PlatformOptions& options);
/// By rank. Errors: too few cores, a bad map.
[[nodiscard]] Result<std::vector<simgrid::s4u::Host*>> hosts_of_ranks(const simgrid::s4u::Engine& engine,
                                                                      const PlatformOptions& options);
/// From SimGrid's configuration: the platform file may set it as well as the user.
[[nodiscard]] Result<FlowProtocol::Parameters> protocol_in_force();

}  // namespace nplus1::netmodel
