// The calls of a chain found in the tree, and what makes a call one that can be rewritten where it stands. Pure
// functions; what can't be rewritten is a Refusal.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "overlap/patch/buffers.hpp"
#include "overlap/patch/request.hpp"
#include "overlap/patch/source.hpp"
#include "overlap/patch/syntax_tree.hpp"

namespace nplus1::overlap::patch {

/// An argument as written: its tokens, comments among them, without the commas.
struct Argument {
  const Node* node = nullptr;
  std::vector<Token> tokens;

  [[nodiscard]] std::size_t begin() const;  ///< of its first token that is no comment
  [[nodiscard]] std::size_t end() const;    ///< of its last such
};

struct LocatedCall {
  const Call* asked = nullptr;
  const Node* call = nullptr;
  const Node* statement = nullptr;  ///< the expression statement: the call, or its cast to void
  std::size_t semicolon = 0;        ///< where the statement's ends
  std::vector<Argument> arguments;
  std::optional<Buffer> sends;
  std::optional<Buffer> receives;
  bool ignores_status = true;
  bool any_source = false;

  [[nodiscard]] const Argument& communicator() const {
    return arguments[asked->kind == CallKind::kSendrecv ? 10 : 5];
  }
  [[nodiscard]] const Argument& source_rank() const {
    return arguments[asked->kind == CallKind::kSendrecv ? 8 : 3];
  }
  [[nodiscard]] const Argument& status() const { return arguments.back(); }
  [[nodiscard]] bool has_status() const { return asked->kind != CallKind::kSend && !ignores_status; }
  [[nodiscard]] int requests() const { return asked->kind == CallKind::kSendrecv ? 2 : 1; }
};

/// The call that `asked` names, in `function`, with everything that can be said of it alone.
[[nodiscard]] std::variant<LocatedCall, Refusal> locate(const Source& source, const Node& function,
                                                        const Call& asked, bool is_cpp);

/// The name of the function that is called; in a template, where that is not decided, as written.
[[nodiscard]] std::string name_of(const Source& source, const Node& call);

/// Whether evaluating an expression does more than that.
[[nodiscard]] bool has_effects(const Node& node, const std::string& text);

/// A byte of the line that the call stands in: of the function's name, else the line's first; for finding the function.
[[nodiscard]] std::size_t offset_of(const Source& source, const Call& asked);

}  // namespace nplus1::overlap::patch
