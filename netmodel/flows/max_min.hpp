// Weighted max-min fair shares of links, kept exact while flows come and go: what comes or goes changes the rates that
// it changes, and nothing else is looked at.
//
// A flow f with weight w has the level x = rate w. Its level is the lowest of bound w and of the levels of its links;
// the level of a shared link is where the sum over its flows of share/w min(x of f elsewhere, level) reaches the
// capacity, and infinite where it doesn't. A fat pipe gives each flow its whole capacity; as in SimGrid the first flow
// that takes it all sets the level for all. These shares exist and are unique (D. Bertsekas, R. Gallager, *Data
// Networks*, section 6.5.2). A change travels from a link to links of higher levels only: J. Ros-Giralt et al., *On the
// bottleneck structure of congestion-controlled networks* (SIGMETRICS 2020).
//
// docs/networks.md, "Flows that share links", has the equations, and what was compared with SimGrid. Not thread-safe.
#pragma once

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "support/prefetch.hpp"

namespace nplus1::netmodel {

class MaxMin {
 public:
  using Link = std::uint32_t;
  using Flow = std::uint32_t;

  enum class Sharing : std::uint8_t { kShared, kFatPipe };

  /// What a flow takes of a link for each unit of its rate: 1 on its way, 0.05 where its acknowledgements go.
  struct Use {
    Link link;
    double share;
  };

  /// A link without flows. `capacity` in bytes per second, above 0.
  Link add_link(double capacity, Sharing sharing);

  /// A flow over links, each named once, that gets 1/`weight` of what a flow of weight 1 gets and at most `bound`.
  /// Its rate is known after settle().
  Flow add(double weight, double bound, std::span<const Use> uses);
  /// Its number may be given to another flow.
  void remove(Flow flow);

  /// Makes all rates what they have to be, and appends the flows whose rate is another than at the last call, each
  /// once; those that were added since among them.
  void settle(std::vector<Flow>& changed);

  /// Bytes per second.
  [[nodiscard]] double rate(Flow flow) const { return flows_[flow].level * flows_[flow].inverse_weight; }

  /// Its rate if it were alone, bytes per second.
  [[nodiscard]] double alone(Flow flow) const { return flows_[flow].cap * flows_[flow].inverse_weight; }
  /// The place among the flow's uses of the link that sets its rate; none if it has all that it would have alone.
  [[nodiscard]] std::optional<std::uint32_t> limited_by(Flow flow) const;
  /// Whether the link's flows want more of it than there is.
  [[nodiscard]] bool full(Link link) const { return levels_[link] != kNotFull; }

  /// What the flows of a link take of it, bytes per second (of a fat pipe: all together).
  [[nodiscard]] double used(Link link) const { return links_[link].demand; }
  [[nodiscard]] double capacity(Link link) const { return links_[link].capacity; }
  [[nodiscard]] std::size_t links() const { return links_.size(); }

  /// What settling costs: calls, links evaluated, with how many flows in all, rates that came out otherwise, and the flows that
  /// were there, all added up over the calls.
  struct Effort {
    std::uint64_t settled = 0;
    std::uint64_t links = 0;
    std::uint64_t flows = 0;
    std::uint64_t changed = 0;
    std::uint64_t present = 0;
  };
  [[nodiscard]] Effort effort() const { return effort_; }

 private:
  static constexpr double kNotFull = std::numeric_limits<double>::infinity();

  struct Element {  // a flow on a link
    double slope;   // share / weight: what the link gives for each unit of level
    Flow flow;
    std::uint32_t hop;  // the link's place among those of the flow
  };
  struct alignas(kCacheLine) LinkState {
    double capacity;
    double demand = 0;  // sum of slope times level of its flows
    Sharing sharing;
    bool queued = false;
    boost::container::small_vector<Element, 4> elements;
  };
  struct Hop {
    double slope;
    Link link;
    std::uint32_t place;  // among the link's elements, so that leaving takes no search
  };
  struct FlowState {
    double cap = 0;    // bound times weight
    double level = 0;  // as applied
    double inverse_weight = 1;
    bool changed = false;
    boost::container::small_vector<Hop, 4>
        hops;  // beside the rest: a change reads those of all flows of a link
  };

  [[nodiscard]] double elsewhere(const Element& element) const;
  void look_elsewhere(const LinkState& link);
  [[nodiscard]] double level_of(const LinkState& link);
  [[nodiscard]] double level_of_pipe(const LinkState& link);
  [[nodiscard]] double fill(double capacity);
  [[nodiscard]] static bool nearly_takes_all_of(const LinkState& link, double demand);
  void set_level(Flow flow, double level);
  void evaluate(Link link, double tolerance);
  void enqueue(Link link);

  using Turn = std::pair<double, Link>;  // the level when it was queued: lowest first

  std::vector<LinkState> links_;
  std::vector<double> levels_;  // of the links: what is read most, close together
  std::vector<FlowState> flows_;
  std::vector<Flow> free_;
  std::vector<Flow> changed_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> queue_;
  std::vector<double> elsewhere_;  // by element of the link that is evaluated: its flow's level elsewhere
  std::vector<std::pair<double, double>> open_;  // of the link that is evaluated: level elsewhere, slope
  Effort effort_;
};

}  // namespace nplus1::netmodel
