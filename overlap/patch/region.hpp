// What may stand between a post and its wait. The recording saw what the run touched; what the run did not reach, and
// what leaves the block, only the source shows. Pure functions over the tree; in doubt something is an obstacle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "overlap/patch/located_call.hpp"
#include "overlap/patch/source.hpp"
#include "overlap/patch/syntax_tree.hpp"

namespace nplus1::overlap::patch {

/// Where the wait has to have been, and why.
struct Obstacle {
  std::size_t offset;
  std::string code;
  std::string reason;
};

class Region {
 public:
  /// `calls` in the order of the source; all inside `block`, a block inside `function`. All outlive this.
  Region(const Source& source, const SyntaxTree& tree, const Node& function, const Node& block,
         const std::vector<LocatedCall>& calls);

  /// The first obstacle in a statement of the block, behind the first post.
  [[nodiscard]] std::optional<Obstacle> in_statement(const Node& statement) const;

  /// The first obstacle among the preprocessor lines of [begin, end), and what they switch off.
  [[nodiscard]] std::optional<Obstacle> in_directives(std::size_t begin, std::size_t end) const;

 private:
  using Found = std::optional<Obstacle>;
  [[nodiscard]] Found check(const Node& node, bool conditional) const;
  [[nodiscard]] Found check_children(const Node& node, bool conditional) const;
  [[nodiscard]] Found check_branches(const Node& node, bool conditional) const;
  [[nodiscard]] Found check_operands(const Node& node, bool conditional) const;
  [[nodiscard]] Found check_chain_call(const LocatedCall& call) const;
  [[nodiscard]] Found check_call(const Node& node, bool conditional) const;
  [[nodiscard]] Found check_mpi(const Node& node, const std::string& name, bool conditional) const;
  [[nodiscard]] Found check_reference(const Node& node, bool conditional) const;
  [[nodiscard]] Found check_hidden(const Node& node, bool conditional) const;
  [[nodiscard]] Found check_dereference(const Node& node, bool conditional) const;
  [[nodiscard]] Found check_jump(const Node& node) const;
  [[nodiscard]] Found found(const Node& node, std::string code, std::string reason) const;
  [[nodiscard]] bool holds_chain_call(const Node& node) const;
  [[nodiscard]] bool all_watched(const Node& at) const;
  [[nodiscard]] bool only_sends(const Node& at) const;
  [[nodiscard]] bool any_source_posted(const Node& at) const;

  /// A buffer with what was said of its call.
  struct Posted {
    const Buffer* buffer;
    const LocatedCall* call;
    bool receive;
  };
  [[nodiscard]] std::vector<Posted> posted(const Node& at) const;

  const Source& source_;
  const SyntaxTree& tree_;
  const Node& function_;
  const Node& block_;
  const std::vector<LocatedCall>& calls_;
  bool in_try_ = false;
};

/// The then and else of an if, as nodes; nullptr where there is none.
struct Branches {
  const Node* then = nullptr;
  const Node* otherwise = nullptr;
};
[[nodiscard]] Branches branches_of(const Source& source, const Node& statement);

}  // namespace nplus1::overlap::patch
