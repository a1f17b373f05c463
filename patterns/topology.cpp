#include "patterns/topology.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace nplus1::patterns {
namespace {

constexpr std::size_t kMost = 1U << 30;

/// A number from 1 to kMost, all of `text`.
std::optional<std::size_t> positive(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value > 0 && value <= kMost ? std::optional{value} : std::nullopt;
}

std::optional<std::vector<std::size_t>> extents(std::string_view text) {
  std::vector<std::size_t> result;
  while (true) {
    const std::size_t x = std::min(text.find('x'), text.size());
    const auto extent = positive(text.substr(0, x));
    if (!extent) return std::nullopt;
    result.push_back(*extent);
    if (x == text.size()) return result;
    text.remove_prefix(x + 1);
  }
}

std::size_t places(const std::vector<std::size_t>& extents) {
  std::size_t product = 1;
  for (const std::size_t extent : extents) product = std::min(kMost, product) * std::min(kMost, extent);
  return product;
}

}  // namespace

Result<Topology> Topology::parse(std::string_view text, std::size_t ranks) {
  const Error malformed{"'" + std::string{text} + "' is no topology",
                        "write nodes:4 (ranks on a node) or torus:4x4x2 (nodes in each dimension)"};
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const std::string_view value = text.substr(std::min(colon + 1, text.size()));
  Topology topology;
  topology.text_ = text;
  if (name == "nodes") {
    const auto per_node = positive(value);
    if (!per_node) return malformed;
    topology.per_node_ = *per_node;
    return topology;
  }
  const auto found = name == "torus" ? extents(value) : std::nullopt;
  if (!found) return malformed;
  if (places(*found) < ranks)
    return Error{"'" + topology.text_ + "' has " + std::to_string(places(*found)) + " places for " +
                     std::to_string(ranks) + " ranks",
                 "give it at least as many nodes as there are ranks"};
  topology.extents_ = *found;
  return topology;
}

std::uint32_t Topology::hops(std::size_t a, std::size_t b) const {
  if (per_node_ > 0) return a / per_node_ == b / per_node_ ? 0 : 1;
  std::size_t sum = 0;
  for (auto extent = extents_.rbegin(); extent != extents_.rend(); ++extent) {
    const std::size_t apart =
        a % *extent > b % *extent ? a % *extent - b % *extent : b % *extent - a % *extent;
    sum += std::min(apart, *extent - apart);
    a /= *extent;
    b /= *extent;
  }
  return static_cast<std::uint32_t>(sum);
}

}  // namespace nplus1::patterns
