#include "simnode/node/network.hpp"

#include "netmodel/simgrid/load.hpp"
#include "netmodel/simgrid/options.hpp"

namespace nplus1::simnode::node {

Result<NetworkMaker> network_maker(const Settings& settings) {
  if (settings.platform.platform.empty()) {
    const std::string specification = settings.network;
    const auto network = netmodel::parse(specification);
    if (!network) return network.error();
    if (!network.value()->contention_free() && !network.value()->flows())
      return Error{"--network: '" + specification + "' is for ranks only", "Give --platform FILE."};
    return NetworkMaker{[specification](int) { return netmodel::parse(specification); }};
  }
  const netmodel::PlatformFlags flags = settings.platform;
  const auto options = netmodel::parse_platform_flags(flags, 0);
  if (!options) return options.error();
  if (!netmodel::works_live(options.value().model)) {
    return Error{"--model " + options.value().model + " simulates further than the ranks have come",
                 "Use another model for running programs."};
  }
  return NetworkMaker{[flags](int ranks) {
    return netmodel::load_platform(netmodel::parse_platform_flags(flags, ranks).value());
  }};
}

}  // namespace nplus1::simnode::node
