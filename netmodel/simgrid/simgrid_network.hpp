// A platform simulated by SimGrid, as a network with contention. Lives in a module that is loaded only when a
// platform is asked for (load.hpp); never in a process with an MPI library, whose symbols SimGrid has too.
//
// SimGrid reads the platform; its flows are simulated by netmodel/flows where that can (platform_links.hpp), else by
// SimGrid. SimGrid keeps one engine per process, whose clock never goes back: one model per process, and one Flows at
// a time. Not thread-safe. Malformed platforms throw or abort inside SimGrid, so validate first
// (validate.hpp), in another process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "netmodel/flow_protocol/flow_protocol.hpp"
#include "netmodel/flows/link_flows.hpp"
#include "netmodel/simgrid/load.hpp"
#include "netmodel/simgrid/options.hpp"

namespace simgrid::s4u {
class Engine;
class Host;
}  // namespace simgrid::s4u

namespace nplus1::netmodel {

class SimgridNetwork final : public FlowProtocol {
 public:
  SimgridNetwork(simgrid::s4u::Engine& engine, std::vector<simgrid::s4u::Host*> hosts,
                 PlatformOptions options, Parameters protocol, std::shared_ptr<const LinkNetwork> links);

  /// One that SimGrid simulates starts when no flow of an earlier one is left.
  [[nodiscard]] std::unique_ptr<Flows> flows() const override;
  [[nodiscard]] double compute_scale(RankId rank) const override;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] std::string describe_to_ranks() const override { return protocol(); }

 private:
  simgrid::s4u::Engine& engine_;
  std::vector<simgrid::s4u::Host*> hosts_;  // by rank
  PlatformOptions options_;
  std::shared_ptr<const LinkNetwork> links_;  // null: SimGrid itself simulates them
};

/// Loads the platform; throws what SimGrid throws, or aborts.
[[nodiscard]] Result<std::unique_ptr<NetworkModel>> make_simgrid_network(const PlatformOptions& options);

}  // namespace nplus1::netmodel
