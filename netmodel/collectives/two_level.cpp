// Collectives on nodes with several ranks: between the nodes' leaders over the network, inside each node
// among its members. Node i has members i n .. i n + n-1, n = `ranks_per_node`; the leader is the first of
// them, or the root on its node.
#include <algorithm>

#include "netmodel/collectives/algorithms.hpp"

namespace nplus1::netmodel::algorithms {
namespace {

struct Nodes {
  explicit Nodes(const CollectiveCall& c, std::int32_t r)
      : call{c}, root{r}, width{c.ranks_per_node}, count{(c.members - 1) / c.ranks_per_node + 1} {}

  [[nodiscard]] std::int32_t leader(std::int32_t node) const {
    return node == root / width ? root : node * width;
  }

  /// Runs `append` among the leaders.
  void between(AppendFunction append, std::vector<Step>& steps) const {
    const std::int32_t node = call.me / width;
    if (call.me != leader(node)) return;
    CollectiveCall inner = call;
    inner.members = count;
    inner.me = node;
    inner.root = root / width;
    run(
        inner, append, [this](std::int32_t n) { return leader(n); }, steps);
  }

  /// Runs `append` among the members of my node, with its leader as the root.
  void inside(AppendFunction append, std::vector<Step>& steps) const {
    const std::int32_t first = call.me / width * width;
    CollectiveCall inner = call;
    inner.members = std::min(width, call.members - first);
    inner.me = call.me - first;
    inner.root = leader(call.me / width) - first;
    run(
        inner, append, [first](std::int32_t member) { return first + member; }, steps);
  }

  const CollectiveCall& call;
  std::int32_t root;
  std::int32_t width;
  std::int32_t count;

 private:
  /// Appends the steps of `inner` with its members renamed.
  template <class Name>
  static void run(const CollectiveCall& inner, AppendFunction append, Name name, std::vector<Step>& steps) {
    if (inner.members < 2) return;
    const auto begin = static_cast<std::ptrdiff_t>(steps.size());
    append(inner, steps);
    for (auto step = steps.begin() + begin; step != steps.end(); ++step) {
      if (step->send_to != kNoMember) step->send_to = name(step->send_to);
      if (step->receive_from != kNoMember) step->receive_from = name(step->receive_from);
    }
  }
};

}  // namespace

void bcast_two_level(const CollectiveCall& call, std::vector<Step>& steps) {
  const Nodes nodes{call, call.root};
  nodes.between(bcast_binomial, steps);
  nodes.inside(bcast_binomial, steps);
}

void reduce_two_level(const CollectiveCall& call, std::vector<Step>& steps) {
  const Nodes nodes{call, call.root};
  nodes.inside(reduce_binomial, steps);
  nodes.between(reduce_binomial, steps);
}

void allreduce_two_level(const CollectiveCall& call, std::vector<Step>& steps) {
  const Nodes nodes{call, 0};
  nodes.inside(reduce_binomial, steps);
  nodes.between(allreduce_recursive_doubling, steps);
  nodes.inside(bcast_binomial, steps);
}

void barrier_two_level(const CollectiveCall& call, std::vector<Step>& steps) {
  const Nodes nodes{call, 0};
  nodes.inside(reduce_binomial, steps);  // of nothing: the size is 0
  nodes.between(barrier_dissemination, steps);
  nodes.inside(bcast_binomial, steps);
}

}  // namespace nplus1::netmodel::algorithms
