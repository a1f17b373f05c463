// Machines, as far as they matter for the numbering of ranks: how many hops two places are apart. Immutable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace nplus1::patterns {

class Topology {
 public:
  /// "nodes:4": nodes of 4 places each; 0 hops within a node, 1 between nodes.
  /// "torus:4x4x2": one place on each node of a torus, numbered with the last dimension fastest; hops along
  /// the shorter way around each dimension. It must have `ranks` places.
  [[nodiscard]] static Result<Topology> parse(std::string_view text, std::size_t ranks);

  [[nodiscard]] std::uint32_t hops(std::size_t a, std::size_t b) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t per_node_ = 0;          // nodes; 0: a torus
  std::vector<std::size_t> extents_;  // torus
};

}  // namespace nplus1::patterns
