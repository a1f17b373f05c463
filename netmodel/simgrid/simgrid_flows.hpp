// Flows as communications between SimGrid hosts, without actors: started from outside (Comm::sendto), and
// SimGrid's clock led from event to event, never beyond what the engine allows.
//
// Actors (put_async and get_async, an actor per rank) give the same times: docs/networks.md has what was
// measured. Private to netmodel/simgrid.
#pragma once

#include <simgrid/s4u.hpp>

#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <vector>

#include "netmodel/flow_start.hpp"
#include "netmodel/flows.hpp"

namespace nplus1::netmodel {

class SimgridFlows final : public Flows {
 public:
  SimgridFlows(simgrid::s4u::Engine& engine, const std::vector<simgrid::s4u::Host*>& hosts, bool ns3);
  ~SimgridFlows() override;

  void start(FlowId id, RankId source, RankId destination, Bytes size, Time at, std::uint32_t cause) override;
  void advance(Time until, std::vector<Completion>& completions) override;
  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] bool idle() const override { return under_way_ == 0 && waiting_.empty(); }

 private:
  void begin(const FlowStart& start);
  [[nodiscard]] bool has_route(const FlowStart& start) const;
  [[nodiscard]] double next_event() const;
  [[nodiscard]] bool disturbs(Time at) const;
  void step(Time until);
  void ended(const simgrid::s4u::Activity& activity);

  /// SimGrid's signals cannot be disconnected: they find the flows of the day here.
  static SimgridFlows* current_;

  simgrid::s4u::Engine& engine_;
  const std::vector<simgrid::s4u::Host*>& hosts_;
  const bool ns3_;
  const bool
      full_;  // SimGrid looks at all flows at each event, and never comes to an end if led from event to event
  const double precision_;  // SimGrid's, in seconds
  double origin_;           // SimGrid's clock at our time zero
  Time clock_{};            // SimGrid's, which stays at its last event where a stop would disturb
  Time now_{};              // what was asked for and reached: not before clock_
  FlowStarts waiting_;
  std::vector<simgrid::s4u::CommPtr> comms_;  // by id: they live as long as the flow
  std::vector<FlowId> ended_;
  /// SimGrid's main loop returns after the event at which this is no longer empty: meant for activities that
  /// may not start, used for those that have ended.
  std::set<simgrid::s4u::Activity*> stop_;
  std::uint64_t order_ = 0;
  std::size_t under_way_ = 0;
};

}  // namespace nplus1::netmodel
