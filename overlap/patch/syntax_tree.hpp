// A source as libclang sees it: the tree of one function, with byte offsets into the file's text. One thread at a time.
// A source that doesn't parse is an Error with the compiler's first message.
#pragma once

#include <clang-c/Index.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/result.hpp"

namespace nplus1::overlap::patch {

/// A cursor with its place: bytes [begin, end) of the file, where macros stand for what they expand to.
struct Node {
  CXCursor cursor;
  CXCursorKind kind;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool in_file = true;      ///< else it comes out of an included file
  bool from_macro = false;  ///< begins in what a macro expands to
  Node* parent = nullptr;
  std::vector<std::unique_ptr<Node>> children;

  [[nodiscard]] bool holds(std::size_t offset) const { return begin <= offset && offset < end; }
  [[nodiscard]] bool is_within(const Node& other) const;  ///< or the same
};

[[nodiscard]] std::string spelling(const CXCursor& cursor);

/// The declaration that a cursor refers to, as one cursor however often it is declared; null if there is none.
[[nodiscard]] CXCursor declaration_of(const CXCursor& cursor);

/// The node without the parentheses, casts and implicit conversions around it.
[[nodiscard]] const Node& bare(const Node& node);

/// Calls `visit` with `node` and all below it, in the order of the source; a false return keeps out of a node.
template <class Visit>
void walk(const Node& node, Visit&& visit) {
  if (!visit(node)) return;
  for (const auto& child : node.children) walk(*child, visit);
}

class SyntaxTree {
 public:
  /// Parses `unit` as `arguments` say; `file` (the same, or included by it) is what offsets are of, with `text` in
  /// place of its content on the disk.
  static Result<SyntaxTree> parse(const std::string& unit, const std::string& file, const std::string& text,
                                  const std::vector<std::string>& arguments);

  /// The tree of the innermost function with a body around the byte; nullptr if there is none.
  [[nodiscard]] std::unique_ptr<Node> function_around(std::size_t offset) const;
  /// Bytes of the file that preprocessor conditions switch off.
  [[nodiscard]] const std::vector<std::pair<std::size_t, std::size_t>>& skipped() const { return skipped_; }
  [[nodiscard]] bool is_cpp() const { return is_cpp_; }

 private:
  struct Disposer {
    void operator()(CXIndex index) const { clang_disposeIndex(index); }
    void operator()(CXTranslationUnit unit) const { clang_disposeTranslationUnit(unit); }
  };
  void note_skipped();

  std::unique_ptr<void, Disposer> index_;
  std::unique_ptr<CXTranslationUnitImpl, Disposer> unit_;
  CXFile file_ = nullptr;
  bool is_cpp_ = false;
  std::vector<std::pair<std::size_t, std::size_t>> skipped_;
};

}  // namespace nplus1::overlap::patch
