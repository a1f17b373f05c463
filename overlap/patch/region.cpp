#include "overlap/patch/region.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace nplus1::overlap::patch {
namespace {

bool is_one_of(const std::string& name, const std::set<std::string_view>& names) {
  return names.count(name) != 0;
}

/// Functions that touch no memory but what their arguments name, wait for nobody and come back.
bool is_harmless(const std::string& name) {
  static const std::set<std::string_view> kNames{"printf",
                                                 "fprintf",
                                                 "puts",
                                                 "putchar",
                                                 "fputs",
                                                 "fflush",
                                                 "putc",
                                                 "fputc",
                                                 "perror",
                                                 "abs",
                                                 "labs",
                                                 "fabs",
                                                 "fabsf",
                                                 "sqrt",
                                                 "sqrtf",
                                                 "sin",
                                                 "cos",
                                                 "tan",
                                                 "sinf",
                                                 "cosf",
                                                 "exp",
                                                 "expf",
                                                 "log",
                                                 "logf",
                                                 "log10",
                                                 "pow",
                                                 "powf",
                                                 "floor",
                                                 "ceil",
                                                 "fmod",
                                                 "fmax",
                                                 "fmin",
                                                 "min",
                                                 "max",
                                                 "hypot",
                                                 "atan",
                                                 "atan2",
                                                 "rand",
                                                 "srand",
                                                 "clock",
                                                 "time",
                                                 "gettimeofday",
                                                 "clock_gettime",
                                                 "omp_get_wtime",
                                                 "omp_get_thread_num",
                                                 "omp_get_num_threads",
                                                 "abort",
                                                 "__assert_fail",
                                                 "MPI_Abort",
                                                 "operator<<",
                                                 "endl",
                                                 "flush",
                                                 "data",
                                                 "size",
                                                 "begin",
                                                 "end",
                                                 "operator[]",
                                                 "isnan",
                                                 "isfinite",
                                                 "sizeof"};
  return is_one_of(name, kNames);
}

/// Functions that don't come back here.
bool leaves(const std::string& name) {
  static const std::set<std::string_view> kNames{
      "exit",       "_exit",        "_Exit",       "quick_exit", "longjmp", "_longjmp",
      "siglongjmp", "pthread_exit", "__cxa_throw", "terminate",  "setjmp",  "_setjmp",
      "sigsetjmp",  "__sigsetjmp",  "fork",        "execv",      "execvp",  "execve"};
  return is_one_of(name, kNames);
}

/// MPI calls that neither communicate nor synchronise.
bool is_local_mpi(const std::string& name) {
  static const std::set<std::string_view> kNames{
      "MPI_Wtime",        "MPI_Wtick",           "MPI_Comm_rank",    "MPI_Comm_size",
      "MPI_Abort",        "MPI_Get_count",       "MPI_Get_elements", "MPI_Type_size",
      "MPI_Type_extent",  "MPI_Type_get_extent", "MPI_Cart_coords",  "MPI_Cart_rank",
      "MPI_Cart_shift",   "MPI_Initialized",     "MPI_Finalized",    "MPI_Get_processor_name",
      "MPI_Error_string", "MPI_Error_class",     "MPI_Pcontrol",     "MPI_Get_address"};
  return is_one_of(name, kNames);
}

/// MPI calls that may run while a chain is open, where the recording saw that they touch none of its buffers.
bool may_stand_between(const std::string& name) {
  static const std::set<std::string_view> kNames{"MPI_Send",
                                                 "MPI_Recv",
                                                 "MPI_Sendrecv",
                                                 "MPI_Isend",
                                                 "MPI_Irecv",
                                                 "MPI_Wait",
                                                 "MPI_Waitall",
                                                 "MPI_Waitany",
                                                 "MPI_Waitsome",
                                                 "MPI_Test",
                                                 "MPI_Testall",
                                                 "MPI_Testany",
                                                 "MPI_Testsome",
                                                 "MPI_Pack",
                                                 "MPI_Unpack",
                                                 "MPI_Pack_size",
                                                 "MPI_Allreduce",
                                                 "MPI_Reduce",
                                                 "MPI_Bcast",
                                                 "MPI_Gather",
                                                 "MPI_Allgather",
                                                 "MPI_Type_commit",
                                                 "MPI_Type_free",
                                                 "MPI_Type_vector",
                                                 "MPI_Type_contiguous",
                                                 "MPI_Type_create_subarray",
                                                 "MPI_Start",
                                                 "MPI_Startall",
                                                 "MPI_Send_init",
                                                 "MPI_Recv_init"};
  return is_one_of(name, kNames);
}

bool is_loop(CXCursorKind kind) {
  return kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt ||
         kind == CXCursor_CXXForRangeStmt;
}

std::string words_of(const Node& node) {
  switch (node.kind) {
    case CXCursor_ReturnStmt:
      return "a return";
    case CXCursor_BreakStmt:
      return "a break";
    case CXCursor_ContinueStmt:
      return "a continue";
    case CXCursor_CXXThrowExpr:
      return "a throw";
    default:
      return "a goto";
  }
}

const Node& root_of(const Node& access) {
  const Node* at = &access;
  while (!at->children.empty() &&
         (at->kind == CXCursor_ArraySubscriptExpr || at->kind == CXCursor_UnaryOperator ||
          at->kind == CXCursor_MemberRefExpr || at->kind == CXCursor_BinaryOperator))
    at = &bare(*at->children[0]);
  return *at;
}

bool is_declared_array(const Node& reference) {
  if (reference.kind != CXCursor_DeclRefExpr) return false;
  const CXCursor declaration = declaration_of(reference.cursor);
  return clang_getCursorKind(declaration) == CXCursor_VarDecl && is_array(clang_getCursorType(declaration));
}

/// Types that memory of any other type may be accessed as, or whose parts may be of the other type.
bool may_be_any(const std::string& type) {
  return type.empty() || type == "void" || type.find("char") != std::string::npos ||
         type.find("struct") != std::string::npos || type.find("::") != std::string::npos ||
         type.find("union") != std::string::npos;
}

bool is_global(const CXCursor& declaration) {
  if (clang_getCursorKind(declaration) != CXCursor_VarDecl) return false;
  return clang_getCursorLinkage(declaration) != CXLinkage_NoLinkage ||
         clang_Cursor_getStorageClass(declaration) == CX_SC_Static;
}

}  // namespace

Branches branches_of(const Source& source, const Node& statement) {
  const auto& children = statement.children;
  if (children.size() < 2) return {};
  const Token* before = source.code_before(children.back()->begin);
  const bool has_else = children.size() >= 3 && before != nullptr && source.text(*before) == "else";
  if (has_else) return {children[children.size() - 2].get(), children.back().get()};
  return {children.back().get(), nullptr};
}

Region::Region(const Source& source, const SyntaxTree& tree, const Node& function, const Node& block,
               const std::vector<LocatedCall>& calls)
    : source_{source}, tree_{tree}, function_{function}, block_{block}, calls_{calls} {
  for (const Node* node = &block; node != nullptr; node = node->parent)
    in_try_ |= node->kind == CXCursor_CXXTryStmt;
}

std::optional<Obstacle> Region::in_statement(const Node& statement) const {
  return check(statement, false);
}

Region::Found Region::found(const Node& node, std::string code, std::string reason) const {
  return Obstacle{node.begin, std::move(code), std::move(reason)};
}

bool Region::holds_chain_call(const Node& node) const {
  return std::any_of(calls_.begin(), calls_.end(),
                     [&](const LocatedCall& call) { return call.call->is_within(node); });
}

std::vector<Region::Posted> Region::posted(const Node& at) const {
  std::vector<Posted> list;
  for (const LocatedCall& call : calls_) {
    if (call.call->begin >= at.begin) break;
    if (call.sends) list.push_back({&*call.sends, &call, false});
    if (call.receives) list.push_back({&*call.receives, &call, true});
  }
  return list;
}

bool Region::all_watched(const Node& at) const {
  const auto list = posted(at);
  return std::all_of(list.begin(), list.end(), [](const Posted& p) { return p.call->asked->watched; });
}

bool Region::only_sends(const Node& at) const {
  const auto list = posted(at);
  return std::none_of(list.begin(), list.end(), [](const Posted& p) { return p.receive; });
}

bool Region::any_source_posted(const Node& at) const {
  const auto list = posted(at);
  return std::any_of(list.begin(), list.end(), [](const Posted& p) { return p.call->any_source; });
}

Region::Found Region::check_children(const Node& node, bool conditional) const {
  for (const auto& child : node.children)
    if (auto obstacle = check(*child, conditional)) return obstacle;
  return std::nullopt;
}

Region::Found Region::check(const Node& node, bool conditional) const {
  if (node.end <= calls_.front().statement->end) return std::nullopt;  // runs before the first post
  for (const LocatedCall& call : calls_)
    if (&node == call.statement || &node == call.call) return check_chain_call(call);
  if (!node.in_file) return found(node, "included", "this code comes out of another file");
  switch (node.kind) {
    case CXCursor_ReturnStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
    case CXCursor_CXXThrowExpr:
      if (auto obstacle = check_jump(node)) return obstacle;
      break;
    case CXCursor_LabelStmt:
      return found(node, "label", "a label stands between post and wait: what jumps here has posted nothing");
    case CXCursor_CXXTryStmt:
    case CXCursor_CXXCatchStmt:
      return found(node, "exception", "an exception could go past the wait");
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
      if (conditional || !all_watched(node))
        return found(node, "not_watched", "assembler may touch the buffers");
      break;
    case CXCursor_IfStmt:
      return check_branches(node, conditional);
    case CXCursor_SwitchStmt:
    case CXCursor_WhileStmt:
    case CXCursor_LambdaExpr:
      return check_children(node, true);
    case CXCursor_ConditionalOperator:
    case CXCursor_BinaryOperator:
      if (auto obstacle = check_operands(node, conditional)) return obstacle;
      return std::nullopt;
    case CXCursor_CallExpr:
      if (auto obstacle = check_call(node, conditional)) return obstacle;
      break;
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr:
      if (auto obstacle = check_reference(node, conditional)) return obstacle;
      if (auto obstacle = check_hidden(node, conditional)) return obstacle;
      break;
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_UnaryOperator:
      if (auto obstacle = check_dereference(node, conditional)) return obstacle;
      break;
    default:
      break;
  }
  return check_children(node, conditional);
}

Region::Found Region::check_branches(const Node& node, bool conditional) const {
  const Branches branches = branches_of(source_, node);
  const Node& first = *calls_.front().call;
  for (const auto& child : node.children) {
    const bool is_branch = child.get() == branches.then || child.get() == branches.otherwise;
    if (child.get() == branches.otherwise && branches.then != nullptr && first.is_within(*branches.then)) {
      if (holds_chain_call(*child))
        return found(*child, "both_branches", "the chain goes through both branches of an if");
      continue;  // whoever comes here has posted nothing
    }
    if (auto obstacle = check(*child, conditional || (is_branch && !holds_chain_call(*child))))
      return obstacle;
  }
  return std::nullopt;
}

Region::Found Region::check_operands(const Node& node, bool conditional) const {
  const std::string sign = node.kind == CXCursor_BinaryOperator ? binary_operator(node, source_.text()) : "?";
  const bool decides = sign == "?" || sign == "&&" || sign == "||" || sign.empty();
  for (std::size_t i = 0; i < node.children.size(); ++i)
    if (auto obstacle = check(*node.children[i], conditional || (decides && i > 0))) return obstacle;
  return std::nullopt;
}

Region::Found Region::check_jump(const Node& node) const {
  const bool leaves_loops = node.kind != CXCursor_ReturnStmt && node.kind != CXCursor_CXXThrowExpr;
  const bool is_goto = node.kind == CXCursor_GotoStmt || node.kind == CXCursor_IndirectGotoStmt;
  for (const Node* above = node.parent; above != nullptr && above != &block_; above = above->parent) {
    if (above->kind == CXCursor_LambdaExpr) return std::nullopt;
    if (is_goto || !leaves_loops) continue;
    if (is_loop(above->kind) || (node.kind == CXCursor_BreakStmt && above->kind == CXCursor_SwitchStmt))
      return std::nullopt;
  }
  return found(node, "jump", words_of(node) + " between post and wait goes past the wait");
}

/// A call of the chain: what its arguments read must not be what an earlier one receives.
Region::Found Region::check_chain_call(const LocatedCall& call) const {
  if (any_source_posted(*call.call))
    return found(*call.call, "any_source",
                 "a receive from any source precedes it: posted early, it could take an answer to this call");
  const bool both = call.asked->kind == CallKind::kSendrecv;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const bool is_buffer = i == 0 || (both && i == 5);
    if (call.asked->kind != CallKind::kSend && i + 1 == call.arguments.size()) continue;
    if (!is_buffer) {
      if (auto obstacle = check(*call.arguments[i].node, false)) return obstacle;
      continue;
    }
    const Buffer& buffer = i == 0 ? (call.sends ? *call.sends : *call.receives) : *call.receives;
    const bool receives = i == 5 || !call.sends;
    for (const Posted& earlier : posted(*call.call)) {
      const bool conflict = receives || earlier.receive;
      const bool unwatched = !earlier.call->asked->watched || !call.asked->watched;
      const bool same = std::any_of(buffer.roots.begin(), buffer.roots.end(), [&](const Node* root) {
        return earlier.buffer->is_rooted_in(declaration_of(root->cursor));
      });
      const bool apart = buffer.declared && earlier.buffer->declared && !same;
      if (conflict && unwatched && !apart)
        return found(*call.call, "same_buffer",
                     "its buffer may be that of an earlier call of the chain, and nothing says that they are "
                     "disjoint");
      if (conflict && same && buffer.scalar && earlier.buffer->scalar)
        return found(*call.call, "same_buffer", "it uses the variable of an earlier call of the chain");
    }
    // The buffer's own name is an address here; what indexes it is read.
    Found obstacle;
    walk(*call.arguments[i].node, [&](const Node& node) {
      if (obstacle) return false;
      const bool is_root = std::find(buffer.roots.begin(), buffer.roots.end(), &node) != buffer.roots.end();
      if (!is_root && node.kind == CXCursor_DeclRefExpr) obstacle = check_reference(node, false);
      return !obstacle;
    });
    if (obstacle) return obstacle;
  }
  return std::nullopt;
}

Region::Found Region::check_mpi(const Node& node, const std::string& name, bool conditional) const {
  if (is_local_mpi(name)) return std::nullopt;
  if (!may_stand_between(name)) return found(node, "mpi_call", name + " stands between post and wait");
  if (any_source_posted(node))
    return found(node, "any_source", name + " behind a receive from any source could change what that takes");
  if (conditional)
    return found(node, "branch", name + " stands in a branch that the recorded run may not have taken");
  if (!all_watched(node))
    return found(node, "not_watched", "nothing says that " + name + " leaves the buffers alone");
  return std::nullopt;
}

Region::Found Region::check_call(const Node& node, bool conditional) const {
  const std::string name = name_of(source_, node);
  if (leaves(name)) return found(node, "jump", name + " between post and wait goes past the wait");
  if (name.compare(0, 4, "MPI_") == 0) return check_mpi(node, name, conditional);
  if (is_harmless(name)) return std::nullopt;
  const std::string shown = name.empty() ? "a call" : "a call of " + name;
  if (in_try_) return found(node, "exception", shown + " in a try block could throw past the wait");
  if (any_source_posted(node))
    return found(node, "any_source", shown + " behind a receive from any source could send what that takes");
  if (conditional)
    return found(node, "branch", shown + " stands in a branch that the recorded run may not have taken");
  if (!all_watched(node))
    return found(node, "not_watched", "nothing says that " + shown + " leaves the buffers alone");
  return std::nullopt;
}

Region::Found Region::check_reference(const Node& node, bool conditional) const {
  const CXCursor declaration = declaration_of(node.cursor);
  if (clang_Cursor_isNull(declaration) != 0) return std::nullopt;
  const std::string name = spelling(node.cursor);
  for (const Posted& earlier : posted(node)) {
    if (earlier.receive && earlier.call->has_status()) {
      bool names_status = false;
      walk(*earlier.call->status().node, [&](const Node& at) {
        if (at.kind == CXCursor_DeclRefExpr || at.kind == CXCursor_MemberRefExpr)
          names_status |= clang_equalCursors(declaration_of(at.cursor), declaration) != 0;
        return true;
      });
      if (names_status) return found(node, "status", "the status " + name + " is used between post and wait");
    }
    if (!earlier.buffer->is_rooted_in(declaration)) continue;
    if (!earlier.receive && only_read(node, source_.text(), tree_.is_cpp())) continue;
    if (earlier.buffer->scalar)
      return found(node, "touch", "the buffer " + name + " is used between post and wait");
    if (conditional)
      return found(node, "branch",
                   "the buffer " + name + " is named in a branch that the recorded run may not have taken");
    if (!earlier.call->asked->watched)
      return found(
          node, "not_watched",
          "the buffer " + name + " is named between post and wait, and nothing says that it isn't touched");
  }
  return std::nullopt;
}

/// A variable that a pointer to the buffer might point to.
Region::Found Region::check_hidden(const Node& node, bool conditional) const {
  if (node.kind != CXCursor_DeclRefExpr || (!conditional && all_watched(node))) return std::nullopt;
  const CXCursor declaration = declaration_of(node.cursor);
  const CXType type = clang_getCursorType(declaration);
  if (clang_getCursorKind(declaration) != CXCursor_VarDecl || is_array(type) ||
      clang_isConstQualifiedType(type) != 0)
    return std::nullopt;
  if (only_sends(node) && only_read(node, source_.text(), tree_.is_cpp())) return std::nullopt;
  bool exposed = is_global(declaration);
  if (!exposed)
    walk(function_, [&](const Node& at) {
      if (at.kind == CXCursor_UnaryOperator && unary_operator(at, source_.text()) == "&" &&
          !at.children.empty())
        exposed |= clang_equalCursors(declaration_of(bare(*at.children[0]).cursor), declaration) != 0;
      return !exposed;
    });
  const std::string plain = plain_type(type);
  for (const Posted& earlier : posted(node))
    if (exposed && !earlier.buffer->declared &&
        (earlier.buffer->element == plain || earlier.buffer->element == "void"))
      return found(node, "alias",
                   "a buffer's pointer might point to " + spelling(node.cursor) + ", which is used here");
  return std::nullopt;
}

Region::Found Region::check_dereference(const Node& node, bool conditional) const {
  if (!conditional && all_watched(node)) return std::nullopt;
  if (node.kind == CXCursor_UnaryOperator) {
    const std::string sign = unary_operator(node, source_.text());
    if (sign != "*" && !sign.empty()) return std::nullopt;
    if (sign.empty() && !is_pointer(clang_getCursorType(bare(*node.children.front()).cursor)))
      return std::nullopt;
  }
  const bool reads = only_read(node, source_.text(), tree_.is_cpp());
  const std::string type = plain_type(clang_getCursorType(node.cursor));
  const bool is_memory = is_declared_array(root_of(node));
  for (const Posted& earlier : posted(node)) {
    if (!earlier.receive && reads) continue;
    if (is_memory && earlier.buffer->declared) continue;  // the same array is found by its name
    if (!may_be_any(type) && !may_be_any(earlier.buffer->element) && type != earlier.buffer->element)
      continue;
    return found(node, "alias",
                 conditional ? "a pointer is followed in a branch that the recorded run may not have taken: "
                               "it might lead to a buffer"
                             : "a pointer is followed, which might lead to a buffer");
  }
  return std::nullopt;
}

std::optional<Obstacle> Region::in_directives(std::size_t begin, std::size_t end) const {
  const auto is_skipped = [&](std::size_t offset) {
    return std::any_of(tree_.skipped().begin(), tree_.skipped().end(),
                       [&](const auto& range) { return range.first <= offset && offset < range.second; });
  };
  static const std::set<std::string_view> kLeaving{"return", "goto",    "break", "continue", "throw",
                                                   "case",   "default", "else",  "exit"};
  for (std::size_t i = source_.token_from(begin);
       i < source_.tokens().size() && source_.tokens()[i].begin < end; ++i) {
    const Token& token = source_.tokens()[i];
    const std::string text{source_.text(token)};
    if (token.kind == TokenKind::kDirective) {
      const std::size_t word = text.find_first_not_of(" \t", 1);
      const std::string rest = word == std::string::npos ? "" : text.substr(word);
      if (rest.rfind("include", 0) == 0 || rest.rfind("line", 0) == 0)
        return Obstacle{token.begin, "preprocessor", "#" + rest + " stands between post and wait"};
    } else if (token.kind == TokenKind::kIdentifier && is_skipped(token.begin)) {
      bool named = is_one_of(text, kLeaving) || text.compare(0, 4, "MPI_") == 0;
      for (const LocatedCall& call : calls_)
        for (const auto& buffer : {call.sends, call.receives})
          if (buffer)
            for (const Node* root : buffer->roots) named |= spelling(root->cursor) == text;
      if (named)
        return Obstacle{token.begin, "preprocessor",
                        "a preprocessor condition switches off code here that names " + text};
    }
  }
  return std::nullopt;
}

}  // namespace nplus1::overlap::patch
