#include "overlap/patch/located_call.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace nplus1::overlap::patch {
namespace {

struct Form {
  std::string_view function;
  CallKind kind;
  std::size_t arguments;
};
constexpr std::array<Form, 3> kForms{{{"MPI_Send", CallKind::kSend, 6},
                                      {"MPI_Recv", CallKind::kReceive, 7},
                                      {"MPI_Sendrecv", CallKind::kSendrecv, 12}}};

Refusal refusal(const Call& asked, std::string code, std::string reason) {
  return {asked.place, std::move(code), std::move(reason)};
}

/// The reason why no non-blocking function stands in for this one.
std::string why_not(const std::string& function) {
  if (function == "MPI_Ssend") return "MPI_Ssend waits for its receiver: the program may rely on that";
  if (function == "MPI_Rsend")
    return "MPI_Rsend needs a receive that is posted already: that must not change";
  if (function == "MPI_Bsend")
    return "MPI_Bsend is done when it has copied its buffer: nothing is left to hide";
  if (function == "MPI_Sendrecv_replace") return "MPI_Sendrecv_replace sends and receives in one buffer";
  return function + " is none of MPI_Send, MPI_Recv and MPI_Sendrecv";
}

std::vector<const Node*> calls_on_line(const Source& source, const Node& function, const Call& asked) {
  std::vector<const Node*> covering;
  walk(function, [&](const Node& node) {
    if (node.kind == CXCursor_CallExpr && node.in_file && source.line_of(node.begin) <= asked.place.line &&
        asked.place.line <= source.line_of(node.end) && name_of(source, node) == asked.function)
      covering.push_back(&node);
    return true;
  });
  // Debug information names the line of the function's name, or of a later argument: what begins there goes first.
  std::vector<const Node*> beginning;
  for (const Node* node : covering)
    if (source.line_of(node->begin) == asked.place.line) beginning.push_back(node);
  return beginning.empty() ? covering : beginning;
}

bool is(const Source& source, const Token* token, std::string_view text) {
  return token != nullptr && source.text(*token) == text;
}

/// Cuts the tokens between the call's parentheses at the commas outside of brackets. Empty if they don't balance or
/// a preprocessor line stands among them.
std::vector<Argument> cut(const Source& source, const Node& call) {
  std::vector<Argument> arguments(1);
  int depth = 0;
  for (std::size_t i = source.token_from(call.begin) + 1; i < source.tokens().size(); ++i) {
    const Token& token = source.tokens()[i];
    if (token.kind == TokenKind::kDirective) return {};
    const char c = token.kind == TokenKind::kPunctuation ? source.text()[token.begin] : 'x';
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0 && c == ')') return token.end == call.end ? arguments : std::vector<Argument>{};
    if (c == ',' && depth == 1)
      arguments.emplace_back();
    else if (depth > 0)
      arguments.back().tokens.push_back(token);
    if (c == '(' || c == '[' || c == '{') ++depth;
  }
  return {};
}

bool is_compound(const Node& node) {
  return node.kind == CXCursor_CompoundStmt;
}

/// Whether the statement stands where any other statement could: in a block, or alone behind an if.
bool stands_alone(const Source& source, const Node& statement) {
  const Token* before = source.code_before(statement.begin);
  const Token* after = source.code_from(statement.end);
  if (!is(source, after, ";") || statement.parent == nullptr) return false;
  if (is_compound(*statement.parent))
    return is(source, before, ";") || is(source, before, "{") || is(source, before, "}") ||
           is(source, before, ":");
  return is(source, before, ")") || is(source, before, "else") || is(source, before, "do") ||
         is(source, before, ":");
}

/// The outermost node that is the same statement: conversions that C++ wraps around, and a cast to void.
const Node& statement_of(const Source& source, const Node& call) {
  const Node* at = &call;
  while (at->parent != nullptr && at->parent->end == call.end &&
         ((at->parent->kind == CXCursor_UnexposedExpr && at->parent->begin == at->begin) ||
          (at->parent->kind == CXCursor_CStyleCastExpr &&
           clang_getCursorType(at->parent->cursor).kind == CXType_Void &&
           source.text()[at->parent->begin] == '(')))
    at = at->parent;
  return *at;
}

std::optional<Refusal> not_rewritable(const Source& source, const Node& call, const Call& asked) {
  const std::size_t first = source.token_from(call.begin);
  if (call.from_macro || first >= source.tokens().size() ||
      source.text(source.tokens()[first]) != asked.function)
    return refusal(asked, "macro", "the call comes out of a macro, or is an argument of one");
  const Node& statement = statement_of(source, call);
  for (const Node* node = &statement; node != nullptr; node = node->parent)
    if (node->kind == CXCursor_StmtExpr)
      return refusal(asked, "statement_expression",
                     "the call stands in a statement expression, whose value it may be");
  if (!stands_alone(source, statement))
    return refusal(asked, "return_value",
                   "what the call returns is used, or the call is only a part of its statement");
  return std::nullopt;
}

bool any_source_in(const Source& source, const Argument& argument) {
  for (const Token& token : argument.tokens)
    if (source.text(token) == "MPI_ANY_SOURCE") return true;
  CXEvalResult value = clang_Cursor_Evaluate(argument.node->cursor);
  const bool any = value != nullptr && clang_EvalResult_getKind(value) == CXEval_Int &&
                   clang_EvalResult_getAsInt(value) == -2;
  if (value != nullptr) clang_EvalResult_dispose(value);
  return any;
}

std::optional<Refusal> read_buffers(LocatedCall& located, const Source& source) {
  const Call& asked = *located.asked;
  const bool both = asked.kind == CallKind::kSendrecv;
  if (asked.kind != CallKind::kReceive) located.sends = buffer_of(*located.arguments[0].node);
  if (asked.kind != CallKind::kSend) located.receives = buffer_of(*located.arguments[both ? 5 : 0].node);
  for (const auto& buffer : {located.sends, located.receives})
    if (buffer && buffer->temporary)
      return refusal(asked, "temporary", "the buffer belongs to an object that ends with the statement");
  if (located.receives)
    located.any_source = asked.any_source || any_source_in(source, located.arguments[both ? 8 : 3]);
  return std::nullopt;
}

std::optional<Refusal> read_status(LocatedCall& located, const Source& source) {
  const Call& asked = *located.asked;
  if (asked.kind == CallKind::kSend) return std::nullopt;
  const Argument& status = located.status();
  std::vector<std::string_view> words;
  for (const Token& token : status.tokens)
    if (token.kind != TokenKind::kComment) words.push_back(source.text(token));
  located.ignores_status =
      words.size() == 1 && (words[0] == "MPI_STATUS_IGNORE" || words[0] == "MPI_STATUSES_IGNORE");
  if (located.ignores_status) return std::nullopt;
  bool named = false;
  walk(*status.node, [&](const Node& node) {
    named |= node.kind == CXCursor_DeclRefExpr || node.kind == CXCursor_MemberRefExpr;
    return true;
  });
  if (!named || has_effects(*status.node, source.text()))
    return refusal(asked, "status_expression",
                   "the status is no plain variable: it would be written later than it is named");
  return std::nullopt;
}

std::optional<Refusal> describe(LocatedCall& located, const Source& source, const Form& form) {
  const Call& asked = *located.asked;
  located.arguments = cut(source, *located.call);
  const int given = clang_Cursor_getNumArguments(located.call->cursor);
  const bool empty = std::any_of(located.arguments.begin(), located.arguments.end(),
                                 [](const Argument& argument) { return argument.tokens.empty(); });
  if (located.arguments.size() != form.arguments || given != static_cast<int>(form.arguments) || empty)
    return refusal(asked, "macro",
                   "the arguments as written are not the " + std::to_string(form.arguments) + " that " +
                       asked.function + " takes: a macro or a preprocessor line stands among them");
  for (std::size_t i = 0; i < form.arguments; ++i) {
    const CXCursor argument = clang_Cursor_getArgument(located.call->cursor, static_cast<unsigned>(i));
    for (const auto& child : located.call->children)
      if (clang_equalCursors(child->cursor, argument) != 0) located.arguments[i].node = child.get();
    if (located.arguments[i].node == nullptr)
      return refusal(asked, "not_understood", "an argument of the call is not where libclang says it is");
  }
  if (auto refused = read_buffers(located, source)) return refused;
  if (asked.kind == CallKind::kSendrecv && has_effects(*located.communicator().node, source.text()))
    return refusal(asked, "side_effect", "the communicator would be evaluated twice, and that has effects");
  return read_status(located, source);
}

}  // namespace

std::size_t Argument::begin() const {
  for (const Token& token : tokens)
    if (token.kind != TokenKind::kComment) return token.begin;
  return tokens.front().begin;
}

std::size_t Argument::end() const {
  for (std::size_t i = tokens.size(); i-- > 0;)
    if (tokens[i].kind != TokenKind::kComment) return tokens[i].end;
  return tokens.back().end;
}

bool has_effects(const Node& node, const std::string& text) {
  bool effects = false;
  walk(node, [&](const Node& at) {
    if (at.kind == CXCursor_CompoundAssignOperator || at.kind == CXCursor_CallExpr) effects = true;
    if (at.kind == CXCursor_BinaryOperator)
      effects |= binary_operator(at, text).empty() || binary_operator(at, text) == "=";
    if (at.kind == CXCursor_UnaryOperator) {
      const std::string sign = unary_operator(at, text);
      effects |= sign == "++" || sign == "--";
    }
    return !effects;
  });
  return effects;
}

std::string name_of(const Source& source, const Node& call) {
  const std::string name = spelling(call.cursor);
  if (!name.empty()) return name;
  const Token* first = source.code_from(call.begin);
  return first != nullptr && first->kind == TokenKind::kIdentifier ? std::string{source.text(*first)} : "";
}

std::size_t offset_of(const Source& source, const Call& asked) {
  const std::size_t begin = source.begin_of_line(asked.place.line);
  const std::size_t end = source.begin_of_line(asked.place.line + 1);
  for (std::size_t i = source.token_from(begin); i < source.tokens().size() && source.tokens()[i].begin < end;
       ++i)
    if (source.text(source.tokens()[i]) == asked.function) return source.tokens()[i].begin;
  return std::min(source.text().find_first_not_of(" \t", begin), source.text().size());
}

std::variant<LocatedCall, Refusal> locate(const Source& source, const Node& function, const Call& asked,
                                          bool /*is_cpp*/) {
  const auto* form =
      std::find_if(kForms.begin(), kForms.end(), [&](const Form& f) { return f.function == asked.function; });
  if (form == kForms.end() || form->kind != asked.kind)
    return refusal(asked, "function", why_not(asked.function));
  const auto found = calls_on_line(source, function, asked);
  if (found.empty())
    return refusal(asked, "not_found",
                   "no call of " + asked.function +
                       " is here: it comes out of a macro, or this is not the source that was compiled");
  if (found.size() > 1)
    return refusal(asked, "several_calls", "several calls of " + asked.function + " are in this line");
  LocatedCall located;
  located.asked = &asked;
  located.call = found.front();
  if (auto refused = not_rewritable(source, *located.call, asked)) return *refused;
  located.statement = &statement_of(source, *located.call);
  located.semicolon = source.code_from(located.statement->end)->end;
  if (auto refused = describe(located, source, *form)) return *refused;
  return located;
}

}  // namespace nplus1::overlap::patch
