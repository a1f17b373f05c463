// Messages as flows that share links (flow-level simulation): a message first takes its route's latency, during which it
// takes nothing of any link, then flows at its max-min fair share (max_min.hpp) until its bytes are there.
//
// Source of the model: P. Velho, L. Schnorr, H. Casanova, A. Legrand, *On the validity of flow-level TCP network models
// for grid and cloud simulations* (TOMACS 2013); as SimGrid 3.32 has it in its models CM02, LV08 and SMPI with
// network/optim:Full (docs/networks.md, "Flows that share links").
#pragma once

#include <boost/heap/d_ary_heap.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "netmodel/flow_start.hpp"
#include "netmodel/flows.hpp"
#include "netmodel/flows/max_min.hpp"

namespace nplus1::netmodel {

/// From one rank's host to another's. Without links and latency: messages are there at once.
struct Route {
  double latency = 0;  // seconds; the sum of the links'
  double weight = 1;   // of its flows
  double bound = 0;    // bytes per second
  std::vector<MaxMin::Use> uses;
};

struct SharedLink {
  double capacity;  // bytes per second
  MaxMin::Sharing sharing;
};

/// What a message of some bytes, its envelope included, makes of latencies and rates.
struct Factors {
  double latency;
  double rate;
};

/// All that a platform says of its network. The functions may be called from any thread.
struct LinkNetwork {
  std::function<SharedLink(MaxMin::Link)> link;  // of a number that a route has named
  std::function<Route(RankId, RankId)> route;
  std::function<Factors(double)> factors;
  double envelope = 0;  // bytes that travel with each message
};

class LinkFlows final : public Flows {
 public:
  explicit LinkFlows(std::shared_ptr<const LinkNetwork> network);

  void start(FlowId id, RankId source, RankId destination, Bytes size, Time at) override;
  void advance(Time until, std::vector<Completion>& completions) override;
  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] bool idle() const override { return under_way_ == 0 && waiting_.empty(); }

 private:
  /// The end of a latency, or of a flow: in the order in which they were begun.
  struct Due {
    Time at;
    std::uint64_t order;
    FlowId id;
    friend bool operator>(const Due& a, const Due& b) {
      return std::tie(a.at, a.order) > std::tie(b.at, b.order);
    }
  };
  using Ends = boost::heap::d_ary_heap<Due, boost::heap::arity<4>, boost::heap::mutable_<true>,
                                       boost::heap::compare<std::greater<>>>;
  struct Message {
    const Route* route = nullptr;
    double left = 0;    // bytes that are not there yet, at `since`
    double factor = 1;  // of its rate
    double speed = 0;   // bytes per second since then
    Time since{};
    std::uint64_t order = 0;
    MaxMin::Flow flow = 0;
    Ends::handle_type end{};
    bool has_end = false;
  };

  const Route& route(RankId source, RankId destination);
  void begin(const FlowStart& start);
  void flow(const Due& due);
  void change_speeds();
  [[nodiscard]] Time next() const;

  std::shared_ptr<const LinkNetwork> network_;
  MaxMin shares_;
  std::unordered_map<std::uint64_t, Route> routes_;
  std::vector<Message> messages_;   // by id
  std::vector<FlowId> message_of_;  // by MaxMin::Flow
  FlowStarts waiting_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> latencies_;
  Ends ends_;
  std::vector<MaxMin::Flow> changed_;
  std::vector<FlowId> done_;
  Time now_{};
  std::uint64_t order_ = 0;
  std::size_t under_way_ = 0;
};

}  // namespace nplus1::netmodel
