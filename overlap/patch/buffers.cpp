#include "overlap/patch/buffers.hpp"

#include <algorithm>
#include <string_view>

#include "overlap/patch/source.hpp"

namespace nplus1::overlap::patch {
namespace {

CXType canonical(CXType type) {
  return clang_getCanonicalType(type);
}

bool returns_by_value(const Node& call) {
  const CXCursor function = clang_getCursorReferenced(call.cursor);
  if (clang_Cursor_isNull(function) != 0) return true;
  if (clang_getCursorKind(function) == CXCursor_Constructor) return true;
  return is_record(clang_getCursorResultType(function));
}

/// Goes down from the argument to what holds the buffer.
class RootSearch {
 public:
  explicit RootSearch(Buffer& buffer) : buffer_{buffer} {}

  void visit(const Node& expression) {
    const Node& node = bare(expression);
    switch (node.kind) {
      case CXCursor_UnaryOperator:
      case CXCursor_ArraySubscriptExpr:
        return visit_child(node, 0);
      case CXCursor_DeclRefExpr:
        return root(node);
      case CXCursor_MemberRefExpr:
        return member(node);
      case CXCursor_BinaryOperator:
        return addition(node);
      case CXCursor_ConditionalOperator:
        visit_child(node, 1);
        return visit_child(node, 2);
      case CXCursor_CallExpr:
        return call(node);
      default:
        nowhere();
    }
  }

 private:
  void nowhere() {
    buffer_.known = false;
    buffer_.declared = false;
  }

  void visit_child(const Node& node, std::size_t index) {
    if (index < node.children.size())
      visit(*node.children[index]);
    else
      nowhere();
  }

  void root(const Node& reference) {
    const CXType type = canonical(clang_getCursorType(declaration_of(reference.cursor)));
    const bool is_memory = is_array(type) || (!is_pointer(type) && type.kind != CXType_LValueReference &&
                                              !(is_record(type) && by_method_));
    buffer_.declared = buffer_.declared && is_memory;
    buffer_.roots.push_back(&reference);
  }

  void member(const Node& node) {
    root(node);
    // s.a lies in s itself; p->a in what p points to.
    if (node.children.empty() || is_pointer(canonical(clang_getCursorType(node.children[0]->cursor))))
      buffer_.declared = false;
    else
      visit_child(node, 0);
  }

  void addition(const Node& node) {
    for (const auto& child : node.children) {
      const CXType type = canonical(clang_getCursorType(child->cursor));
      if (is_pointer(type) || is_array(type)) visit(*child);
    }
    if (buffer_.roots.empty()) nowhere();
  }

  /// v.data(), v[i] of a class: the memory that v owns or points to.
  void call(const Node& node) {
    by_method_ = true;
    buffer_.declared = false;
    if (returns_by_value(node)) buffer_.temporary = true;
    if (node.children.empty()) return nowhere();
    const Node& callee = bare(*node.children[0]);
    if (callee.kind == CXCursor_MemberRefExpr && !callee.children.empty()) return visit(*callee.children[0]);
    if (is_record(canonical(clang_getCursorType(callee.cursor))))
      return visit(callee);  // an overloaded operator
    nowhere();
  }

  Buffer& buffer_;
  bool by_method_ = false;
};

bool is_value(const Node& node) {
  const CXType type = canonical(clang_getCursorType(node.cursor));
  return !is_pointer(type) && !is_array(type) && !is_record(type) && type.kind != CXType_Invalid &&
         type.kind != CXType_Dependent && type.kind != CXType_Unexposed &&
         type.kind != CXType_LValueReference;
}

/// Whether a C++ function gets a copy of an argument.
bool is_passed_by_value(const Node& call, const Node& argument) {
  const CXCursor function = clang_getCursorReferenced(call.cursor);
  if (clang_Cursor_isNull(function) != 0) return false;
  const CXType type = clang_getCursorType(function);
  for (int i = 0; i < clang_getNumArgTypes(type); ++i)
    if (clang_equalCursors(clang_Cursor_getArgument(call.cursor, static_cast<unsigned>(i)),
                           argument.cursor) != 0) {
      const CXTypeKind kind = canonical(clang_getArgType(type, static_cast<unsigned>(i))).kind;
      return kind != CXType_LValueReference && kind != CXType_RValueReference;
    }
  return false;
}

bool converts_to_value(const Node& wrapper) {
  return is_value(wrapper) && wrapper.kind == CXCursor_CStyleCastExpr;
}

}  // namespace

bool is_pointer(CXType type) {
  return canonical(type).kind == CXType_Pointer;
}

bool is_array(CXType type) {
  const CXTypeKind kind = canonical(type).kind;
  return kind == CXType_ConstantArray || kind == CXType_VariableArray || kind == CXType_IncompleteArray ||
         kind == CXType_DependentSizedArray;
}

bool is_record(CXType type) {
  return canonical(type).kind == CXType_Record;
}

std::string plain_type(CXType type) {
  CXType at = canonical(type);
  while (is_array(at)) at = canonical(clang_getArrayElementType(at));
  CXString shown = clang_getTypeSpelling(at);
  std::string name = clang_getCString(shown);
  clang_disposeString(shown);
  for (const std::string_view qualifier : {"const ", "volatile "})
    if (const auto found = name.find(qualifier); found == 0) name.erase(0, qualifier.size());
  return name;
}

bool Buffer::is_rooted_in(const CXCursor& declaration) const {
  return std::any_of(roots.begin(), roots.end(), [&](const Node* root) {
    return clang_equalCursors(declaration_of(root->cursor), declaration) != 0;
  });
}

Buffer buffer_of(const Node& argument) {
  Buffer buffer;
  RootSearch{buffer}.visit(argument);
  const Node& inner = bare(argument);
  const CXType type = canonical(clang_getCursorType(inner.cursor));
  buffer.element = is_pointer(type) ? plain_type(clang_getPointeeType(type)) : plain_type(type);
  buffer.scalar = inner.kind == CXCursor_UnaryOperator && !inner.children.empty() &&
                  bare(*inner.children[0]).kind == CXCursor_DeclRefExpr &&
                  !is_array(clang_getCursorType(bare(*inner.children[0]).cursor));
  walk(argument, [&](const Node& node) {
    const bool built = node.kind == CXCursor_CompoundLiteralExpr || node.kind == CXCursor_InitListExpr ||
                       node.kind == CXCursor_LambdaExpr || node.kind == CXCursor_StmtExpr;
    const bool by_value = node.kind == CXCursor_CallExpr && is_record(clang_getCursorType(node.cursor)) &&
                          returns_by_value(node);
    if (built || by_value) buffer.temporary = true;
    return true;
  });
  return buffer;
}

std::string binary_operator(const Node& node, const std::string& text) {
  if (node.children.size() != 2) return "";
  const std::size_t begin = node.children[0]->end;
  const std::size_t end = node.children[1]->begin;
  if (begin >= end || end > text.size()) return "";
  const std::string_view between = std::string_view{text}.substr(begin, end - begin);
  std::string found;
  for (const Token& token : tokens_of(between))
    if (token.kind == TokenKind::kPunctuation) {
      const std::string_view c = between.substr(token.begin, 1);
      if (c != "(" && c != ")") found += c;
    } else if (token.kind == TokenKind::kIdentifier) {
      return "";
    }
  return found;
}

std::string unary_operator(const Node& node, const std::string& text) {
  if (node.children.size() != 1 || node.end > text.size() || node.from_macro) return "";
  const Node& operand = *node.children[0];
  const std::string before =
      text.substr(node.begin, operand.begin > node.begin ? operand.begin - node.begin : 0);
  const std::string after = operand.end < node.end ? text.substr(operand.end, node.end - operand.end) : "";
  for (const std::string& side : {before, after})
    for (const char* sign : {"++", "--", "&", "*", "-", "!", "~", "+"})
      if (side.find(sign) != std::string::npos) return sign;
  return "";
}

bool only_read(const Node& use, const std::string& text, bool is_cpp) {
  const Node* at = &use;
  for (const Node* above = use.parent; above != nullptr; at = above, above = above->parent) {
    switch (above->kind) {
      case CXCursor_UnexposedExpr:
      case CXCursor_ParenExpr:
      case CXCursor_CStyleCastExpr:
        if (converts_to_value(*above)) return true;
        continue;
      case CXCursor_ArraySubscriptExpr:
        if (above->children.front().get() != at && is_value(*at)) return true;
        continue;
      case CXCursor_MemberRefExpr:
        continue;
      case CXCursor_UnaryOperator: {
        const std::string sign = unary_operator(*above, text);
        if (sign == "*") continue;
        return sign == "-" || sign == "!" || sign == "~" || sign == "+";
      }
      case CXCursor_BinaryOperator: {
        const std::string sign = binary_operator(*above, text);
        const bool written = sign == "=" && above->children.front().get() == at;
        if (sign.empty() || written) return false;
        if (is_value(*at)) return true;
        if (sign == "=") return false;  // a pointer kept elsewhere
        if (is_value(*above)) return true;
        continue;
      }
      case CXCursor_CompoundAssignOperator:
        return above->children.front().get() != at && is_value(*at);
      case CXCursor_CallExpr:
        return is_value(*at) && (!is_cpp || is_passed_by_value(*above, *at));
      case CXCursor_GCCAsmStmt:
      case CXCursor_MSAsmStmt:
        return false;
      case CXCursor_VarDecl:
        return is_value(*at) && clang_getCursorType(above->cursor).kind != CXType_LValueReference;
      default:
        return is_value(*at);
    }
  }
  return false;
}

}  // namespace nplus1::overlap::patch
