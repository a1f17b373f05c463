// Where the declarations, the posts and the wait of one chain go: the block that holds them, and before which of its
// statements the wait stands. Pure functions over the tree; where there is no safe place, a Refusal.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "overlap/patch/located_call.hpp"
#include "overlap/patch/region.hpp"

namespace nplus1::overlap::patch {

struct Plan {
  const Node* block = nullptr;   ///< the compound statement
  const Node* first = nullptr;   ///< its statement with the first post: the declarations go before it
  const Node* last = nullptr;    ///< its statement with the last post
  const Node* before = nullptr;  ///< its statement that the wait goes before; nullptr: the block's end
  bool may_skip_posts = false;   ///< a post stands in a branch: requests begin as MPI_REQUEST_NULL
  bool has_declarations =
      false;  ///< among the statements from the first post to the wait: no braces around them
  std::vector<std::string> notes;
};

/// `calls` in the order of the chain.
[[nodiscard]] std::variant<Plan, Refusal> plan_for(const Source& source, const SyntaxTree& tree,
                                                   const Node& function, const Chain& chain,
                                                   const std::vector<LocatedCall>& calls);

/// Whether the status of a receive from MPI_PROC_NULL has to be completed: something may look at it, and MPICH (4.0 at
/// least) leaves source and tag of such a request's status at 0, where those of the blocking call name MPI_PROC_NULL.
[[nodiscard]] bool may_show_null_source(const Node& function, const LocatedCall& call);

/// Whether an if between the block and the call decides about the call.
[[nodiscard]] bool is_in_branch(const Node& block, const Node& call);

/// Where a statement's text begins, with the pragmas that belong to it.
[[nodiscard]] std::size_t begin_with_pragmas(const Source& source, const Node& statement);

}  // namespace nplus1::overlap::patch
