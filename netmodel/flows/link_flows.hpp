// Messages as flows that share links (flow-level simulation): a message first takes its route's latency, during which it
// takes nothing of any link, then flows at its max-min fair share (max_min.hpp) until its bytes are there.
//
// Source of the model: P. Velho, L. Schnorr, H. Casanova, A. Legrand, *On the validity of flow-level TCP network models
// for grid and cloud simulations* (TOMACS 2013); as SimGrid 3.32 has it in its models CM02, LV08 and SMPI with
// network/optim:Full (docs/networks.md, "Flows that share links").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "netmodel/flow_start.hpp"
#include "netmodel/flows.hpp"
#include "netmodel/flows/link_account.hpp"
#include "netmodel/flows/max_min.hpp"
#include "support/indexed_heap.hpp"
#include "support/prefetch.hpp"

namespace nplus1::netmodel {

/// From one rank's host to another's. Without links and latency: messages are there at once.
struct Route {
  double latency = 0;  // seconds; the sum of the links'
  double weight = 1;   // of its flows
  double bound = 0;    // bytes per second
  boost::container::small_vector<MaxMin::Use, 4> uses;
  std::vector<MaxMin::Link> way{};  // there, in order: one that it crosses twice stands there twice
};

struct SharedLink {
  double capacity;  // bytes per second
  MaxMin::Sharing sharing;
  std::string name{};
  /// Traffic of others that comes in bursts: while one lasts it takes so many bytes per second, fewer than `capacity`. The
  /// phases from time zero on, in seconds: quiet, burst, quiet ...; null: there is none.
  double background = 0;
  std::function<double(std::uint64_t phase)> phases{};
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
  double envelope = 0;               // bytes that travel with each message
  std::vector<std::string> hosts{};  // by rank: their names
  /// Seconds that each message between different hosts takes at least before it shares links with others, if those within a
  /// host share none with them; else 0. Null: not known.
  std::function<double()> lookahead{};
  /// Seconds by which the latency of the `number`th message between two ranks is longer; null: none.
  std::function<double(RankId, RankId, std::uint64_t number)> jitter{};
};

class LinkFlows final : public Flows {
 public:
  explicit LinkFlows(std::shared_ptr<const LinkNetwork> network);

  void start(FlowId id, RankId source, RankId destination, Bytes size, Time at, std::uint32_t cause) override;
  void advance(Time until, std::vector<Completion>& completions) override;
  [[nodiscard]] Time now() const override { return open_from_; }
  [[nodiscard]] bool idle() const override { return under_way_ == 0 && waiting_.empty(); }
  void look_ahead() override;
  void watch_links() override { account_ = std::make_unique<LinkAccount>(); }
  [[nodiscard]] std::optional<LinkUsage> link_usage() const override;
  [[nodiscard]] MaxMin::Effort effort() const { return shares_.effort(); }

 private:
  /// The end of a latency: in the order in which they were begun.
  struct Due {
    Time at;
    std::uint64_t order;
    FlowId id;
    friend bool operator>(const Due& a, const Due& b) {
      return std::tie(a.at, a.order) > std::tie(b.at, b.order);
    }
  };
  /// Messages that share links with each other and with no others: their time passes by itself.
  struct Realm {
    std::priority_queue<Due, std::vector<Due>, std::greater<>> latencies{};
    IndexedHeap ends{};  // of flows, by message; ties in the order in which they were begun
    Time now{};
  };
  /// Between two ranks.
  struct Known {
    Route route;
    RankId source;
    RankId destination;
    Realm* realm;
    std::uint64_t begun = 0;                                               // messages
    std::vector<std::pair<std::uint32_t, LinkAccount::Stream>> streams{};  // of few causes
  };
  /// What a change of its speed needs is in the first cache line.
  struct alignas(kCacheLine) Message {
    Known* known = nullptr;
    double left = 0;    // bytes that are not there yet, at `since`
    double factor = 1;  // of its rate
    double speed = 0;   // bytes per second since then
    Time since{};
    std::uint64_t order = 0;
    MaxMin::Flow flow = 0;
    std::uint32_t cause = 0;
    double alone = 0;   // what its speed would be, bytes per second
    Time flows_from{};  // when its latency was over
    Duration least{};   // what its bytes would take alone
    std::uint64_t payload = 0;
  };

  struct Background {
    MaxMin::Link link;
    double rate;
    std::function<double(std::uint64_t phase)> phases;
    std::uint64_t phase = 0;
    bool bursts = false;
    MaxMin::Flow flow = 0;  // while it does
  };
  struct Turn {
    Time at;
    std::size_t background;
    friend bool operator>(const Turn& a, const Turn& b) {
      return std::tie(a.at, a.background) > std::tie(b.at, b.background);
    }
  };

  Known& known(RankId source, RankId destination);
  [[nodiscard]] bool within_host(RankId source, RankId destination) const;
  void add_link(const SharedLink& link);
  bool turn_backgrounds();
  void turn(Background& background);
  [[nodiscard]] static Duration held_up(const Message& message, Time at);
  void watch_begin(FlowId id);
  void watch_change(FlowId id, double passed);
  void watch_links_of(const Message& message);
  void begin(const FlowStart& start);
  void flow(const Due& due, Realm& realm);
  void change_speeds(Realm& realm);
  [[nodiscard]] static Time next(const Realm& realm);
  [[nodiscard]] Time next_between() const;
  [[nodiscard]] Realm* next_realm(Time until);
  void begin_next();
  void happen(Realm& realm);
  void approach_next(const Realm& realm) const;

  std::shared_ptr<const LinkNetwork> network_;
  MaxMin shares_;
  std::unordered_map<std::uint64_t, Known> routes_;
  std::vector<Message> messages_;               // by id
  std::vector<LinkAccount::Passage> passages_;  // likewise, if links are watched
  std::vector<FlowId> message_of_;              // by MaxMin::Flow; kNobody: a burst
  std::vector<Background> backgrounds_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;  // when each begins or ends a burst
  FlowStarts waiting_;
  Realm between_;         // hosts
  Realm within_;          // a host; used after look_ahead() only
  Duration lookahead_{};  // of between_
  std::vector<MaxMin::Flow> changed_;
  std::vector<FlowId> done_;
  std::unique_ptr<LinkAccount> account_;  // null: nobody asks
  Time open_from_{};
  std::uint64_t started_ = 0;
  std::uint64_t begun_ = 0;
  std::size_t under_way_ = 0;
};

}  // namespace nplus1::netmodel
