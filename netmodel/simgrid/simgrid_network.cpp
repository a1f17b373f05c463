#include "netmodel/simgrid/simgrid_network.hpp"

#include <simgrid/s4u.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "netmodel/simgrid/link_changes.hpp"
#include "netmodel/simgrid/loading.hpp"
#include "netmodel/simgrid/platform_links.hpp"
#include "netmodel/simgrid/simgrid_flows.hpp"

namespace nplus1::netmodel {

namespace sg = simgrid::s4u;

SimgridNetwork::SimgridNetwork(sg::Engine& engine, std::vector<sg::Host*> hosts, PlatformOptions options,
                               Parameters protocol, std::shared_ptr<const LinkNetwork> links)
    : FlowProtocol{std::move(protocol)},
      engine_{engine},
      hosts_{std::move(hosts)},
      options_{std::move(options)},
      links_{std::move(links)} {}

std::unique_ptr<Flows> SimgridNetwork::flows() const {
  if (links_ != nullptr) return std::make_unique<LinkFlows>(links_);
  return std::make_unique<SimgridFlows>(engine_, hosts_, options_.model == "ns-3");
}

double SimgridNetwork::compute_scale(RankId rank) const {
  return options_.host_speed > 0 ? options_.host_speed / hosts_[rank.index()]->get_speed() : 1.0;
}

std::string SimgridNetwork::describe() const {
  std::string text =
      "simgrid:platform=" + options_.file + ",model=" + options_.model + ",map=" + options_.map;
  for (const std::string& setting : options_.settings)
    if (setting != kOwnSolver) text += "," + setting;
  if (links_ != nullptr) text += std::string{","} + kOwnSolver;
  return text;
}

namespace {

/// The process's only engine, with a platform.
struct Loaded {
  PlatformOptions options;
  sg::Engine& engine;
  std::string why_simgrid;  // has to simulate the messages; empty if netmodel/flows does
};

/// Ranks may be placed on its hosts anew; for all else it is as it was first asked for.
const Loaded& loaded_for(const PlatformOptions& options) {
  static std::optional<Loaded> loaded;
  PlatformOptions alike = options;
  if (loaded) alike.map = loaded->options.map;
  if (loaded && alike == loaded->options) return *loaded;
  sg::Engine& engine = start_engine(options);
  load(engine, options);
  return loaded.emplace(Loaded{options, engine, needs_simgrid(engine, options)});
}

}  // namespace

Result<std::unique_ptr<NetworkModel>> make_simgrid_network(const PlatformOptions& options) {
  const auto& [_, engine, why_simgrid] = loaded_for(options);
  auto hosts = hosts_of_ranks(engine, options);
  if (!hosts) return hosts.error();
  auto protocol = protocol_in_force();
  if (!protocol) return protocol.error();
  std::shared_ptr<const LinkNetwork> links;
  if (!why_simgrid.empty() && std::ranges::any_of(options.settings, LinkChanges::is_ours))
    return Error{"links cannot be changed where SimGrid itself simulates them: " + why_simgrid,
                 "Change the platform's file instead."};
  if (why_simgrid.empty()) {
    auto read = links_of(engine, hosts.value(), options);
    if (!read) return read.error();
    links = std::move(read).value();
  }
  return std::unique_ptr<NetworkModel>{std::make_unique<SimgridNetwork>(
      engine, std::move(hosts).value(), options, std::move(protocol).value(), std::move(links))};
}

}  // namespace nplus1::netmodel
