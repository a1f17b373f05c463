#include "patterns/links_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "report/json_object.hpp"

namespace nplus1::patterns {
namespace {

using netmodel::LinkUsage;

constexpr std::size_t kMostNodes = 600;
constexpr std::uint32_t kNobody = ~0U;

/// What the routes say of where links begin and end: nodes that turn out to be one are united.
class Graph {
 public:
  explicit Graph(const LinkUsage& usage) : usage_{usage}, ends_(usage.links.size(), {kNobody, kNobody}) {}

  std::uint32_t host_of(RankId rank) {
    const std::string& name = usage_.hosts[rank.index()];
    const auto [found, fresh] = hosts_.emplace(name, kNobody);
    if (fresh) {
      found->second = new_node();
      nodes_[found->second].host = name;
    }
    const std::uint32_t node = find(found->second);
    std::vector<std::int32_t>& ranks = nodes_[node].ranks;
    if (std::ranges::find(ranks, rank.value) == ranks.end()) ranks.push_back(rank.value);
    return node;
  }

  /// Follows a route from host to host.
  void follow(RankId source, RankId destination, const std::vector<LinkUsage::Number>& links) {
    std::uint32_t at = host_of(source);
    const std::uint32_t goal = host_of(destination);
    for (std::size_t i = 0; i < links.size(); ++i) {
      const LinkUsage::Number link = links[i];
      auto& [from, to] = ends_[link];
      if (from == kNobody) {
        from = at;
        to = i + 1 == links.size() ? goal : new_node();
        at = to;
        continue;
      }
      const bool backwards =
          !directed(link) && is_backwards(at, from, to, i + 1 == links.size() ? goal : kNobody);
      unite(at, backwards ? to : from);
      at = backwards ? from : to;
    }
    unite(at, goal);
  }

  [[nodiscard]] bool sound() const { return sound_; }

  std::string json(const std::vector<LinkUsage::Number>& order) {
    std::map<std::uint32_t, std::size_t> numbers;
    std::vector<std::uint32_t> kept;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n)
      if (find(n) == n && numbers.emplace(n, kept.size()).second) kept.push_back(n);
    if (kept.size() > kMostNodes) return "null";
    std::vector<std::array<std::size_t, 3>> edges;
    for (std::size_t place = 0; place < order.size(); ++place) {
      const auto& [from, to] = ends_[order[place]];
      if (from != kNobody) edges.push_back({place, numbers.at(find(from)), numbers.at(find(to))});
    }
    const std::vector<std::uint32_t> levels = levels_of(kept, edges);
    const bool layered = std::ranges::all_of(edges, [&](const auto& e) {
      return e[1] == e[2] || levels[e[1]] + 1 == levels[e[2]] || levels[e[2]] + 1 == levels[e[1]];
    });
    std::string text = "{\n    \"nodes\": [";
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Node& node = nodes_[kept[i]];
      text += fmt::format(
          "{}\n      {{\"host\": {}, \"ranks\": {}, \"level\": {}}}", i == 0 ? "" : ",",
          node.host.empty() ? "null" : report::JsonObject::quoted(node.host),
          report::JsonObject::joined(node.ranks, [](std::int32_t r) { return std::to_string(r); }),
          levels[i]);
    }
    text += "],\n    \"edges\": " +
            report::JsonObject::joined(
                edges,
                [](const auto& e) {
                  return fmt::format("\n      {{\"link\": {}, \"from\": {}, \"to\": {}}}", e[0], e[1], e[2]);
                },
                ",");
    return text + fmt::format(",\n    \"layered\": {}}}", layered);
  }

 private:
  struct Node {
    std::string host;
    std::vector<std::int32_t> ranks;
    std::uint32_t parent;
  };

  std::uint32_t new_node() {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({{}, {}, node});
    return node;
  }
  std::uint32_t find(std::uint32_t node) {
    while (nodes_[node].parent != node) node = nodes_[node].parent = nodes_[nodes_[node].parent].parent;
    return node;
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return;
    if (!nodes_[a].host.empty() && !nodes_[b].host.empty()) sound_ = false;
    if (nodes_[a].host.empty()) std::swap(a, b);  // a host stays what it is
    nodes_[b].parent = a;
  }
  /// SimGrid names the two halves of a split duplex link so.
  [[nodiscard]] bool directed(LinkUsage::Number link) const {
    const std::string& name = usage_.links[link].name;
    return name.ends_with("_UP") || name.ends_with("_DOWN");
  }
  /// Whether a link that goes both ways is crossed from its second end: by the end that is here, or by the one that is
  /// the goal, or because the first belongs to a host that is not here.
  bool is_backwards(std::uint32_t at, std::uint32_t from, std::uint32_t to, std::uint32_t goal) {
    at = find(at);
    if (find(from) == at) return false;
    if (find(to) == at) return true;
    if (goal != kNobody) return find(from) == find(goal);
    return !nodes_[find(from)].host.empty();
  }

  static std::vector<std::uint32_t> distances(std::size_t nodes,
                                              const std::vector<std::vector<std::size_t>>& next,
                                              std::vector<std::size_t> front) {
    std::vector<std::uint32_t> far(nodes, kNobody);
    for (const std::size_t n : front) far[n] = 0;
    for (std::size_t i = 0; i < front.size(); ++i)
      for (const std::size_t n : next[front[i]]) {
        if (far[n] != kNobody) continue;
        far[n] = far[front[i]] + 1;
        front.push_back(n);
      }
    return far;
  }
  std::vector<std::uint32_t> levels_of(const std::vector<std::uint32_t>& kept,
                                       const std::vector<std::array<std::size_t, 3>>& edges) {
    std::vector<std::vector<std::size_t>> next(kept.size());
    for (const auto& e : edges) {
      next[e[1]].push_back(e[2]);
      next[e[2]].push_back(e[1]);
    }
    std::vector<std::size_t> hosts;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (!nodes_[kept[i]].host.empty()) hosts.push_back(i);
    std::vector<std::uint32_t> levels = distances(kept.size(), next, hosts);
    for (std::uint32_t& level : levels)
      if (level == kNobody) level = 1;
    return levels;
  }

  const LinkUsage& usage_;
  std::vector<Node> nodes_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_;  // by link
  std::map<std::string, std::uint32_t> hosts_;
  bool sound_ = true;
};

}  // namespace

std::string drawing_json(const LinkUsage& usage, const std::vector<LinkUsage::Number>& order) {
  if (usage.hosts.empty()) return "null";
  Graph graph{usage};
  for (const LinkUsage::Stream& stream : usage.streams) {
    const auto& links = usage.routes[stream.route];
    const bool at_home = usage.hosts[stream.source.index()] == usage.hosts[stream.destination.index()];
    if (!links.empty() && !at_home) graph.follow(stream.source, stream.destination, links);
  }
  return graph.sound() ? graph.json(order) : "null";
}

}  // namespace nplus1::patterns
