// Messages that share nothing but the interfaces of their ranks: a message leaves when its sender's interface is free,
// its first byte is at the receiver L later, and the receiver's interface takes it when it is free, first come first
// served. Each keeps either interface busy for g + (s - 1) G.
//
// Source: A. Alexandrov et al., *LogGP*, 1995 (g is the least time between two sends, and between two receptions);
// T. Hoefler, T. Schneider, A. Lumsdaine, *LogGOPSim*, 2010. docs/networks.md, "Both interfaces".
#pragma once

#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "netmodel/flow_start.hpp"
#include "netmodel/flows.hpp"

namespace nplus1::netmodel {

class LogGops;

class InterfaceFlows final : public Flows {
 public:
  /// `model` is asked for transit(), occupancy(), eager() and handshake(), and must live as long.
  explicit InterfaceFlows(const LogGops& model) : model_{model} {}

  void start(FlowId id, RankId source, RankId destination, Bytes size, Time at, std::uint32_t cause) override;
  void advance(Time until, std::vector<Completion>& completions) override;
  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] bool idle() const override {
    return waiting_.empty() && on_their_way_.empty() && ending_.empty();
  }

 private:
  /// Its first byte reaches the receiver, or its last one has been taken.
  struct Due {
    Time at;
    std::uint64_t order;  // in which they left: what meets at an instant is taken in that order
    FlowId id;
    RankId destination;
    Bytes size;
    Time alone;  // when it would end if it met nobody
    friend bool operator>(const Due& a, const Due& b) {
      return std::tie(a.at, a.order) > std::tie(b.at, b.order);
    }
  };
  using Dues = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

  void leave(const FlowStart& start);
  void take(Due due);
  static Time& of(std::vector<Time>& free_from, RankId rank);

  const LogGops& model_;
  FlowStarts waiting_;
  Dues on_their_way_;
  Dues ending_;
  std::vector<Time> sends_from_;     // by rank: when its interface may send the next message
  std::vector<Time> receives_from_;  // by rank: when it may take the next one
  Time now_{};
  Time happened_{};  // when the last message left, was taken or ended
  std::uint64_t order_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace nplus1::netmodel
