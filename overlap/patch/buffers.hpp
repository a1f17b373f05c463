// Which variables a message buffer's expression names, and what a piece of code does with a variable: whether it only
// reads its value, or might write to it or hand its address on. Pure functions over the tree; in doubt the answer is
// that it might.
#pragma once

#include <string>
#include <vector>

#include "overlap/patch/syntax_tree.hpp"

namespace nplus1::overlap::patch {

/// A buffer of a call, from its argument in the source.
struct Buffer {
  std::vector<const Node*> roots;  ///< references to the variables or members that hold or point to it
  bool known = true;       ///< every way to the buffer ends at a root; else it comes out of a function
  bool declared = true;    ///< all roots are the memory itself (arrays, variables), not pointers to it
  bool scalar = false;     ///< a single variable's address
  bool temporary = false;  ///< in an object that ends with the statement
  std::string element;     ///< canonical type of what the argument points to

  [[nodiscard]] bool is_rooted_in(const CXCursor& declaration) const;
};

[[nodiscard]] Buffer buffer_of(const Node& argument);

/// Whether the code around the expression `use` only reads what it denotes.
[[nodiscard]] bool only_read(const Node& use, const std::string& text, bool is_cpp);

/// The first character of an operator that stands between a binary operator's operands, with the second where it has
/// one ("=", "==", "&&"); empty if a macro hides it.
[[nodiscard]] std::string binary_operator(const Node& node, const std::string& text);
/// The operator of a unary expression: "&", "*", "++", "--", "-", "!", "~"; empty if a macro hides it.
[[nodiscard]] std::string unary_operator(const Node& node, const std::string& text);

/// The canonical type of an expression without qualifiers, as text.
[[nodiscard]] std::string plain_type(CXType type);

[[nodiscard]] bool is_pointer(CXType type);
[[nodiscard]] bool is_array(CXType type);
[[nodiscard]] bool is_record(CXType type);

}  // namespace nplus1::overlap::patch
