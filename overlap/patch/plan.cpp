#include "overlap/patch/plan.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace nplus1::overlap::patch {
namespace {

bool is_block(const Node& node) {
  return node.kind == CXCursor_CompoundStmt;
}

/// What a chain may go through between its block and a call: nothing that runs more than once or is jumped into.
bool may_be_between(const Node& node) {
  return is_block(node) || node.kind == CXCursor_IfStmt || node.kind == CXCursor_UnexposedExpr;
}

const Node* child_holding(const Node& block, const Node& inner) {
  for (const auto& child : block.children)
    if (inner.is_within(*child)) return child.get();
  return nullptr;
}

std::size_t index_of(const Node& block, const Node& child) {
  std::size_t i = 0;
  while (block.children[i].get() != &child) ++i;
  return i;
}

/// The innermost node that a declaration at `offset` is visible in.
const Node* scope_of(const Node& function, std::size_t offset) {
  const Node* innermost = &function;
  walk(function, [&](const Node& node) {
    const bool is_scope = is_block(node) || node.kind == CXCursor_ForStmt ||
                          node.kind == CXCursor_CXXForRangeStmt || node.kind == CXCursor_IfStmt ||
                          node.kind == CXCursor_WhileStmt || node.kind == CXCursor_SwitchStmt ||
                          node.kind == CXCursor_CXXCatchStmt || node.kind == CXCursor_LambdaExpr;
    if (!node.holds(offset)) return &node == &function;
    if (is_scope) innermost = &node;
    return true;
  });
  return innermost;
}

/// The preprocessor conditions that are open at each place; the same text for places that are switched together.
std::string conditions_at(const Source& source, std::size_t offset) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < source.tokens().size() && source.tokens()[i].begin < offset; ++i) {
    const Token& token = source.tokens()[i];
    if (token.kind != TokenKind::kDirective) continue;
    const std::string text{source.text(token)};
    const std::size_t word = std::min(text.find_first_not_of(" \t", 1), text.size());
    const std::string mark = std::to_string(i) + ",";
    if (text.compare(word, 2, "if") == 0)
      open.push_back(mark);
    else if (text.compare(word, 2, "el") == 0 && !open.empty())
      open.back() += mark;
    else if (text.compare(word, 5, "endif") == 0 && !open.empty())
      open.pop_back();
  }
  std::string all;
  for (const std::string& one : open) all += one + ";";
  return all;
}

class Planner {
 public:
  Planner(const Source& source, const SyntaxTree& tree, const Node& function, const Chain& chain,
          const std::vector<LocatedCall>& calls)
      : source_{source}, tree_{tree}, function_{function}, chain_{chain}, calls_{calls} {}

  std::variant<Plan, Refusal> run() {
    if (auto refused = check_order()) return *refused;
    const std::vector<const Node*> blocks = candidates();
    if (blocks.empty()) return refused_between();
    std::optional<Refusal> reason;
    // The widest block that the wait allows hides most; a narrower one may be safe where it isn't.
    for (const Node* block : blocks) {
      auto plan = in_block(*block);
      if (std::holds_alternative<Plan>(plan)) return plan;
      reason = std::get<Refusal>(plan);
    }
    return *reason;
  }

 private:
  [[nodiscard]] Refusal refuse(std::size_t offset, std::string code, std::string reason) const {
    return {{chain_.calls.front().place.file, source_.line_of(offset)}, std::move(code), std::move(reason)};
  }

  [[nodiscard]] const Node& first_call() const { return *calls_.front().call; }
  [[nodiscard]] const Node& last_call() const { return *calls_.back().call; }

  std::optional<Refusal> check_order() const {
    for (std::size_t i = 1; i < calls_.size(); ++i) {
      if (calls_[i].call == calls_[i - 1].call)
        return refuse(calls_[i].call->begin, "loop",
                      "the chain makes this call several times: it would need as many requests");
      if (calls_[i].call->begin < calls_[i - 1].call->begin)
        return refuse(calls_[i].call->begin, "loop", "the chain goes around a loop");
      if (source_.line_of(calls_[i].call->begin) == source_.line_of(calls_[i - 1].call->begin))
        return refuse(calls_[i].call->begin, "several_calls", "several calls of the chain are in this line");
    }
    return std::nullopt;
  }

  [[nodiscard]] bool reaches(const Node& block, const Node& call) const {
    for (const Node* node = call.parent; node != &block; node = node->parent)
      if (!may_be_between(*node)) return false;
    return true;
  }

  /// Blocks around all calls that are left only once all have been passed; the widest that is asked for first.
  [[nodiscard]] std::vector<const Node*> candidates() const {
    std::vector<const Node*> blocks;
    for (const Node* node = first_call().parent; node != nullptr; node = node->parent) {
      if (!is_block(*node)) continue;
      const bool around_all = std::all_of(
          calls_.begin(), calls_.end(), [&](const LocatedCall& call) { return call.call->is_within(*node); });
      if (!around_all) continue;
      const bool straight = std::all_of(calls_.begin(), calls_.end(), [&](const LocatedCall& call) {
        return reaches(*node, *call.statement);
      });
      if (!straight) break;
      blocks.push_back(node);
      if (!wants_wider(*node)) break;
    }
    std::reverse(blocks.begin(), blocks.end());
    return blocks;
  }

  /// Whether the wait that is asked for lies behind the block.
  [[nodiscard]] bool wants_wider(const Node& block) const {
    if (chain_.wait.where != WaitPlace::kBeforeLine) return false;
    const int line = chain_.wait.place.line;
    if (line < source_.line_of(first_call().begin)) return true;  // around a loop: as far as it can go
    return source_.line_of(block.end - 1) < line;
  }

  [[nodiscard]] Refusal refused_between() const {
    for (const LocatedCall& call : calls_) {
      for (const Node* node = call.statement->parent; node != nullptr; node = node->parent) {
        const bool around_all = std::all_of(calls_.begin(), calls_.end(), [&](const LocatedCall& other) {
          return other.call->is_within(*node);
        });
        if (around_all && is_block(*node)) break;
        if (!may_be_between(*node))
          return refuse(
              call.call->begin, "loop",
              "the call stands in a loop, a switch or behind a label that the rest of the chain is not in");
      }
    }
    return refuse(first_call().begin, "not_understood", "no block holds all calls of the chain");
  }

  /// The index among the block's statements that the wait is asked to go before.
  [[nodiscard]] std::size_t asked_index(const Node& block, std::size_t last) const {
    const std::size_t all = block.children.size();
    if (chain_.wait.where == WaitPlace::kAfterCalls) return last + 1;
    if (chain_.wait.where == WaitPlace::kEndOfBlock) return all;
    const int line = chain_.wait.place.line;
    if (line < source_.line_of(first_call().begin)) return all;
    // Inside of the statement with the last call, but not behind that in this block: there is no later place.
    if (source_.line_of(block.children[last]->end) >= line) return last + 1;
    for (std::size_t i = last + 1; i < all; ++i)
      if (source_.line_of(block.children[i]->end) >= line) return i;
    return all;
  }

  std::variant<Plan, Refusal> in_block(const Node& block) const {
    Plan plan;
    plan.block = &block;
    plan.first = child_holding(block, first_call());
    plan.last = child_holding(block, last_call());
    const std::size_t first = index_of(block, *plan.first);
    const std::size_t last = index_of(block, *plan.last);
    const Region region{source_, tree_, function_, block, calls_};
    for (std::size_t i = first; i <= last; ++i)
      if (auto obstacle = region.in_statement(*block.children[i]))
        return refuse(obstacle->offset, obstacle->code, obstacle->reason);
    if (auto obstacle = region.in_directives(first_call().begin, plan.last->end))
      return refuse(obstacle->offset, obstacle->code, obstacle->reason);
    const std::size_t asked = asked_index(block, last);
    const auto [wait, obstacle] = reachable(region, block, last + 1, asked);
    if (obstacle) note(plan, *obstacle, wait < block.children.size() ? block.children[wait].get() : nullptr);
    plan.before = wait < block.children.size() ? block.children[wait].get() : nullptr;
    for (std::size_t i = first; i < wait; ++i)
      plan.has_declarations |= block.children[i]->kind == CXCursor_DeclStmt;
    if (auto refused = check_gain(plan, wait == last + 1, obstacle)) return *refused;
    if (auto refused = check_places(plan)) return *refused;
    if (auto refused = check_scopes(plan)) return *refused;
    for (const LocatedCall& call : calls_) plan.may_skip_posts |= is_in_branch(block, *call.call);
    return plan;
  }

  /// How far down the wait can go.
  [[nodiscard]] std::pair<std::size_t, std::optional<Obstacle>> reachable(const Region& region,
                                                                          const Node& block, std::size_t from,
                                                                          std::size_t asked) const {
    for (std::size_t i = from; i < asked; ++i) {
      auto obstacle = region.in_statement(*block.children[i]);
      const std::size_t begin = i == 0 ? block.begin : block.children[i - 1]->end;
      if (!obstacle) obstacle = region.in_directives(begin, block.children[i]->end);
      if (obstacle) return {i, obstacle};
    }
    return {asked, std::nullopt};
  }

  void note(Plan& plan, const Obstacle& obstacle, const Node* before) const {
    const bool at_leaving = chain_.wait.where != WaitPlace::kBeforeLine && obstacle.code == "jump";
    if (at_leaving || before == nullptr) return;  // the end of the block is there
    plan.notes.push_back("the wait stands before line " + std::to_string(source_.line_of(before->begin)) +
                         ", earlier than asked for: line " +
                         std::to_string(source_.line_of(obstacle.offset)) + ": " + obstacle.reason);
  }

  [[nodiscard]] std::optional<Refusal> check_gain(const Plan& plan, bool at_once,
                                                  const std::optional<Obstacle>& obstacle) const {
    if (calls_.size() > 1 || !at_once) return std::nullopt;
    if (obstacle) return refuse(obstacle->offset, obstacle->code, obstacle->reason);
    return refuse(plan.first->begin, "no_gain", "a wait straight behind a single call hides nothing");
  }

  /// Every place that text goes into is the beginning of a statement, under the same preprocessor conditions.
  [[nodiscard]] std::optional<Refusal> check_places(const Plan& plan) const {
    std::vector<const Node*> statements{plan.first};
    if (plan.before != nullptr) statements.push_back(plan.before);
    const std::string conditions = conditions_at(source_, plan.first->begin);
    for (const Node* statement : statements) {
      const Token* before = source_.code_before(statement->begin);
      const std::string_view text = before == nullptr ? "" : source_.text(*before);
      const auto next = std::find_if(plan.block->children.begin(), plan.block->children.end(),
                                     [&](const auto& child) { return child.get() == statement; });
      const bool shares_macro = next != plan.block->children.begin() && (*(next - 1))->end > statement->begin;
      if ((text != ";" && text != "{" && text != "}") || shares_macro || !statement->in_file)
        return refuse(statement->begin, "macro", "a macro hides where this statement begins");
      if (conditions_at(source_, statement->begin) != conditions)
        return refuse(statement->begin, "preprocessor",
                      "the chain and its wait stand under different preprocessor conditions");
      if (statement == plan.first && begin_with_pragmas(source_, *statement) != statement->begin &&
          statement->kind == CXCursor_CallExpr)
        return refuse(statement->begin, "pragma", "a pragma belongs to this call");
    }
    for (const LocatedCall& call : calls_)
      if (conditions_at(source_, call.call->begin) != conditions)
        return refuse(call.call->begin, "preprocessor",
                      "the calls of the chain stand under different preprocessor conditions");
    if (plan.before == nullptr && conditions_at(source_, plan.block->end - 1) != conditions)
      return refuse(plan.block->end - 1, "preprocessor",
                    "the chain and its wait stand under different preprocessor conditions");
    if (source_.text()[plan.block->end - 1] != '}')
      return refuse(plan.block->begin, "macro", "a macro hides where the block ends");
    return std::nullopt;
  }

  /// What is used at the wait has to be alive there, and a status variable still the one that the call named.
  [[nodiscard]] std::optional<Refusal> check_scopes(const Plan& plan) const {
    std::optional<Refusal> refused;
    for (const LocatedCall& call : calls_) {
      std::vector<const Node*> lasting;
      for (const auto& buffer : {call.sends, call.receives})
        if (buffer) lasting.insert(lasting.end(), buffer->roots.begin(), buffer->roots.end());
      const auto add_variables = [&](const Node& node) {
        if (node.kind == CXCursor_DeclRefExpr) lasting.push_back(&node);
        return true;
      };
      if (call.has_status()) walk(*call.status().node, add_variables);
      if (call.has_status() && may_show_null_source(function_, call))
        walk(*call.source_rank().node, add_variables);
      for (const Node* reference : lasting)
        if (!refused && !is_visible(*plan.block, *reference))
          refused = refuse(call.call->begin, "scope",
                           spelling(reference->cursor) + " does not live until the wait");
      if (!refused && call.has_status() && !is_stable(plan, call, *call.status().node))
        refused = refuse(call.call->begin, "status_expression",
                         "what the status names may be another variable at the wait");
      const bool needs_source = call.has_status() && may_show_null_source(function_, call);
      if (!refused && needs_source &&
          (has_effects(*call.source_rank().node, source_.text()) ||
           !is_stable(plan, call, *call.source_rank().node)))
        refused = refuse(call.call->begin, "status_expression",
                         "the source that the status tells of may be another at the wait");
    }
    return refused;
  }

  [[nodiscard]] bool is_visible(const Node& block, const Node& reference) const {
    const CXCursor declaration = clang_getCursorReferenced(reference.cursor);
    const CXCursor home = clang_getCursorSemanticParent(declaration);
    if (reference.kind == CXCursor_MemberRefExpr ||
        clang_equalCursors(clang_getCanonicalCursor(home), clang_getCanonicalCursor(function_.cursor)) == 0)
      if (clang_getCursorLinkage(declaration) != CXLinkage_NoLinkage ||
          reference.kind == CXCursor_MemberRefExpr)
        return true;
    unsigned offset = 0;
    CXFile file = nullptr;
    clang_getExpansionLocation(clang_getCursorLocation(declaration), &file, nullptr, nullptr, &offset);
    const Node* scope = scope_of(function_, offset);
    return block.is_within(*scope);
  }

  /// The variables in an argument keep their values up to the wait.
  [[nodiscard]] bool is_stable(const Plan& plan, const LocatedCall& call, const Node& expression) const {
    const std::size_t end = plan.before != nullptr ? plan.before->begin : plan.block->end;
    bool stable = true;
    walk(expression, [&](const Node& node) {
      if (node.kind == CXCursor_MemberRefExpr && is_pointer(clang_getCursorType(node.cursor))) stable = false;
      if (node.kind == CXCursor_DeclRefExpr) {
        const CXCursor declaration = declaration_of(node.cursor);
        const CXType type = clang_getCursorType(declaration);
        const bool is_variable = !is_array(type) && !is_record(type);
        const bool is_const = clang_isConstQualifiedType(type) != 0 ||
                              clang_getCursorKind(declaration) == CXCursor_EnumConstantDecl;
        const bool local = clang_getCursorLinkage(declaration) == CXLinkage_NoLinkage;
        if (is_variable && !is_const && (!local || changes(declaration, call.call->end, end))) stable = false;
      }
      return stable;
    });
    return stable;
  }

  /// Whether a local variable may get another value in [begin, end), or through its address.
  [[nodiscard]] bool changes(const CXCursor& declaration, std::size_t begin, std::size_t end) const {
    bool changed = false;
    walk(function_, [&](const Node& node) {
      if (node.kind == CXCursor_DeclRefExpr &&
          clang_equalCursors(declaration_of(node.cursor), declaration) != 0) {
        const bool address = node.parent->kind == CXCursor_UnaryOperator &&
                             unary_operator(*node.parent, source_.text()) == "&";
        const bool between = begin <= node.begin && node.begin < end;
        const bool in_status = std::any_of(calls_.begin(), calls_.end(), [&](const LocatedCall& call) {
          return call.has_status() && node.is_within(*call.status().node);
        });
        changed |= address || (between && !in_status && !only_read(node, source_.text(), tree_.is_cpp()));
      }
      return !changed;
    });
    return changed;
  }

  const Source& source_;
  const SyntaxTree& tree_;
  const Node& function_;
  const Chain& chain_;
  const std::vector<LocatedCall>& calls_;
};

}  // namespace

bool may_show_null_source(const Node& function, const LocatedCall& call) {
  CXEvalResult value = clang_Cursor_Evaluate(call.source_rank().node->cursor);
  const bool is_rank = value != nullptr && clang_EvalResult_getKind(value) == CXEval_Int &&
                       clang_EvalResult_getAsInt(value) >= 0;
  if (value != nullptr) clang_EvalResult_dispose(value);
  if (is_rank) return false;
  const Buffer status = buffer_of(*call.status().node);
  bool is_used = !status.known || !status.declared;
  for (const Node* root : status.roots) {
    const CXCursor declaration = declaration_of(root->cursor);
    is_used |= clang_getCursorLinkage(declaration) != CXLinkage_NoLinkage;
    walk(function, [&](const Node& node) {
      const bool writes = node.kind == CXCursor_CallExpr && !node.children.empty() &&
                          (spelling(node.cursor) == "MPI_Recv" || spelling(node.cursor) == "MPI_Sendrecv");
      if (writes) {
        for (std::size_t i = 0; i + 1 < node.children.size(); ++i)
          walk(*node.children[i], [&](const Node& at) {
            is_used |= at.kind == CXCursor_DeclRefExpr &&
                       clang_equalCursors(declaration_of(at.cursor), declaration) != 0;
            return !is_used;
          });
        return false;
      }
      is_used |= node.kind == CXCursor_DeclRefExpr &&
                 clang_equalCursors(declaration_of(node.cursor), declaration) != 0;
      return !is_used;
    });
  }
  return is_used;
}

bool is_in_branch(const Node& block, const Node& call) {
  for (const Node* node = call.parent; node != &block; node = node->parent)
    if (node->kind == CXCursor_IfStmt) return true;
  return false;
}

std::size_t begin_with_pragmas(const Source& source, const Node& statement) {
  std::size_t begin = statement.begin;
  for (std::size_t i = source.token_from(statement.begin); i-- > 0;) {
    const Token& token = source.tokens()[i];
    if (token.kind == TokenKind::kComment) continue;
    if (token.kind != TokenKind::kDirective) break;
    const std::string_view text = source.text(token);
    const std::size_t word = std::min(text.find_first_not_of(" \t", 1), text.size());
    if (text.substr(word, 6) != "pragma") break;
    begin = token.begin;
  }
  return begin;
}

std::variant<Plan, Refusal> plan_for(const Source& source, const SyntaxTree& tree, const Node& function,
                                     const Chain& chain, const std::vector<LocatedCall>& calls) {
  return Planner{source, tree, function, chain, calls}.run();
}

}  // namespace nplus1::overlap::patch
