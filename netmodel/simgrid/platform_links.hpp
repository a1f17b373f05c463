// A platform's links, routes and parameters, as SimGrid has read them, for netmodel/flows to simulate. Private to the
// module.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "netmodel/flows/link_flows.hpp"
#include "netmodel/simgrid/options.hpp"
#include "support/result.hpp"

namespace simgrid::s4u {
class Engine;
class Host;
}  // namespace simgrid::s4u

namespace nplus1::netmodel {

/// What SMPI adds to each message: tag, communicator and source.
inline constexpr std::uint64_t kEnvelopeBytes = 16;

/// Why SimGrid itself has to simulate this platform with these options; empty if netmodel/flows can.
[[nodiscard]] std::string needs_simgrid(const simgrid::s4u::Engine& engine, const PlatformOptions& options);

/// `hosts` by rank. Routes are looked up when they are asked for, by one thread at a time. Errors: factors that cannot be
/// read.
[[nodiscard]] Result<std::shared_ptr<const LinkNetwork>> links_of(const simgrid::s4u::Engine& engine,
                                                                  std::vector<simgrid::s4u::Host*> hosts,
                                                                  const PlatformOptions& options);

}  // namespace nplus1::netmodel
