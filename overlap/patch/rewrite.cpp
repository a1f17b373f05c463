#include "overlap/patch/rewrite.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace nplus1::overlap::patch {
namespace {

bool is_line_comment(const Source& source, const Token& token) {
  return token.kind == TokenKind::kComment && source.text(token).substr(0, 2) == "//";
}

/// Without the line breaks and the alignment that a call over several lines has.
std::string joined_lines(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = std::min(text.find_first_not_of(" \t\r\n", i), text.size());
    if (text.substr(i, end - i).find('\n') == std::string_view::npos) {
      out += text[i];
      continue;
    }
    while (!out.empty() && (out.back() == ' ' || out.back() == '\t')) out.pop_back();
    out += ' ';
    i = end - 1;
  }
  return out;
}

class Rewriter {
 public:
  Rewriter(const Source& source, const Plan& plan, const std::vector<LocatedCall>& calls, Style style)
      : source_{source}, plan_{plan}, calls_{calls}, style_{style} {
    for (const LocatedCall& call : calls_) {
      total_ += call.requests();
      any_status_ |= call.has_status();
    }
    name_variables();
  }

  std::vector<Edit> run() {
    declare();
    for (std::size_t i = 0; i < calls_.size(); ++i) post(calls_[i]);
    wait();
    return std::move(edits_);
  }

 private:
  void name_variables() {
    const std::string line = std::to_string(source_.line_of(calls_.front().call->begin));
    std::string suffix = line;
    for (char more = 'b'; source_.names("req_" + suffix) || source_.names("status_" + suffix); ++more)
      suffix = line + more;
    requests_ = "req_" + suffix;
    statuses_ = "status_" + suffix;
  }

  [[nodiscard]] std::string next_line(std::size_t offset) const {
    return source_.newline() + source_.indentation_at(offset);
  }
  [[nodiscard]] std::string request(int index) const {
    return "&" + requests_ + "[" + std::to_string(index) + "]";
  }

  void declare() {
    const std::string line = next_line(plan_.first->begin);
    const std::string size = "[" + std::to_string(total_) + "]";
    std::string text = style_ == Style::kBraces ? "{" + line : "";
    text += "MPI_Request " + requests_ + size;
    if (plan_.may_skip_posts) {
      text += " = {";
      for (int i = 0; i < total_; ++i) text += i == 0 ? "MPI_REQUEST_NULL" : ", MPI_REQUEST_NULL";
      text += "}";
    }
    text += ";" + line;
    if (any_status_) text += "MPI_Status " + statuses_ + size + ";" + line;
    insert_before(*plan_.first, text);
  }

  /// Puts lines before a statement; `text` ends with the indentation of the statement.
  void insert_before(const Node& statement, std::string text) {
    std::size_t at = begin_with_pragmas(source_, statement);
    if (at != statement.begin) {
      const std::string indentation = source_.indentation_at(statement.begin);
      at = source_.begin_of_line(source_.line_of(at));
      text = indentation + text.substr(0, text.size() - indentation.size());
    }
    edits_.push_back({at, at, text});
  }

  void post(const LocatedCall& call) {
    const int index = std::exchange(next_, next_ + call.requests());
    if (call.asked->kind == CallKind::kSendrecv) return post_both(call, index);
    const std::size_t name_end = call.call->begin + call.asked->function.size();
    const bool sends = call.asked->kind == CallKind::kSend;
    edits_.push_back({call.call->begin, name_end, sends ? "MPI_Isend" : "MPI_Irecv"});
    const Argument& last = call.arguments.back();
    if (sends)
      edits_.push_back({last.end(), last.end(), ", " + request(index)});
    else
      edits_.push_back({last.begin(), last.end(), request(index)});
  }

  /// An argument list of its own for one half of MPI_Sendrecv, and the comments behind its last comma.
  struct Half {
    std::string text;
    std::string comments;
  };

  /// The words of arguments [from, to] as written, up to the comment that follows on the last one's line.
  Half half(const LocatedCall& call, std::size_t from, std::size_t to) const {
    std::vector<Token> tokens;
    for (std::size_t i = from; i <= to; ++i)
      tokens.insert(tokens.end(), call.arguments[i].tokens.begin(), call.arguments[i].tokens.end());
    // A comment in the line of the comma before it belongs to what is before.
    while (from > 0 && is_behind_comma(call, from, tokens.front())) tokens.erase(tokens.begin());
    const bool has_comment = std::any_of(tokens.begin(), tokens.end(),
                                         [](const Token& t) { return t.kind == TokenKind::kComment; });
    const std::string_view verbatim = source_.text(tokens.front().begin, tokens.back().end);
    Half result{has_comment ? std::string{verbatim} : joined_lines(verbatim), ""};
    if (is_line_comment(source_, tokens.back())) result.text += next_line(call.statement->begin);
    if (to + 1 < call.arguments.size())
      for (const Token& token : call.arguments[to + 1].tokens) {
        if (!is_behind_comma(call, to + 1, token)) break;
        result.comments += " " + std::string{source_.text(token)};
      }
    return result;
  }

  /// Whether `token` is a comment of the argument that stands in the line where the argument before it ends.
  [[nodiscard]] bool is_behind_comma(const LocatedCall& call, std::size_t argument,
                                     const Token& token) const {
    const Token& before = call.arguments[argument - 1].tokens.back();
    return token.kind == TokenKind::kComment && source_.line_of(token.begin) == source_.line_of(before.end) &&
           token.begin < call.arguments[argument].begin() &&
           source_.line_of(token.begin) != source_.line_of(call.arguments[argument].begin());
  }

  void post_both(const LocatedCall& call, int index) {
    const std::string prefix{source_.text(call.statement->begin, call.call->begin)};
    const std::string communicator =
        joined_lines(source_.text(call.communicator().begin(), call.communicator().end()));
    const auto one = [&](const char* function, const Half& half, int request_index) {
      return prefix + function + "(" + half.text + ", " + communicator + ", " + request(request_index) +
             ");" + half.comments;
    };
    const Half sending = half(call, 0, 4);
    Half receiving = half(call, 5, 9);
    std::string last_comment = receiving.comments;
    for (std::size_t i = 10; i <= 11; ++i)
      for (const Token& token : call.arguments[i].tokens) {
        if (token.kind != TokenKind::kComment || (i == 10 && is_behind_comma(call, 10, token))) continue;
        if (!last_comment.empty() && last_comment.find("//") != std::string::npos)
          receiving.comments += next_line(call.statement->begin);
        last_comment = source_.text(token);
        receiving.comments += " " + last_comment;
      }
    std::string text = one("MPI_Isend", sending, index) + next_line(call.statement->begin) +
                       one("MPI_Irecv", receiving, index + 1);
    const bool alone = call.statement->parent->kind == CXCursor_CompoundStmt;
    const bool open_comment = last_comment.find("//") != std::string::npos;
    if (open_comment) text += next_line(call.statement->begin);
    if (!alone) text = "{ " + text + " }";
    edits_.push_back({call.statement->begin, call.semicolon, text});
  }

  /// The statements of the wait, in the order of the requests.
  [[nodiscard]] std::vector<std::string> wait_lines() const {
    std::vector<std::string> lines{"MPI_Waitall(" + std::to_string(total_) + ", " + requests_ + ", " +
                                   (any_status_ ? statuses_ : "MPI_STATUSES_IGNORE") + ");"};
    int index = 0;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const int receive = index + calls_[i].requests() - 1;
      index += calls_[i].requests();
      if (calls_[i].has_status() && !is_overwritten(i)) lines.push_back(assignment(calls_[i], receive));
    }
    return lines;
  }

  [[nodiscard]] std::string words_of(const Argument& argument) const {
    std::string text;
    for (const Token& token : argument.tokens) {
      if (token.kind == TokenKind::kComment) continue;
      const bool apart = !text.empty() && token.kind != TokenKind::kPunctuation &&
                         (std::isalnum(static_cast<unsigned char>(text.back())) != 0 || text.back() == '_');
      text += (apart ? " " : "") + std::string{source_.text(token)};
    }
    return text;
  }

  /// A later call of the chain that is certain to be made writes the same variable.
  [[nodiscard]] bool is_overwritten(std::size_t index) const {
    for (std::size_t i = index + 1; i < calls_.size(); ++i)
      if (calls_[i].has_status() && !is_in_branch(*plan_.block, *calls_[i].call) &&
          words_of(calls_[i].status()) == words_of(calls_[index].status()))
        return true;
    return false;
  }

  /// Whether the argument can be no null pointer or MPI_STATUS_IGNORE: the address of something, or an array.
  [[nodiscard]] static bool is_surely_a_status(const Node& argument) {
    const Buffer buffer = buffer_of(argument);
    return buffer.known && buffer.declared;
  }

  [[nodiscard]] std::string assignment(const LocatedCall& call, int index) const {
    const std::string status = words_of(call.status());
    const std::string element = statuses_ + "[" + std::to_string(index) + "]";
    std::string text = "*(" + status + ") = " + element + ";";
    if (!is_surely_a_status(*call.status().node)) text = "if ((" + status + ") != MPI_STATUS_IGNORE) " + text;
    const Node* function = plan_.block;
    while (function->parent != nullptr) function = function->parent;
    std::string null_source;
    if (may_show_null_source(*function, call))
      null_source = "if ((" + words_of(call.source_rank()) + ") == MPI_PROC_NULL) { " + element +
                    ".MPI_SOURCE = MPI_PROC_NULL; " + element + ".MPI_TAG = MPI_ANY_TAG; }";
    // A request that was not posted has an empty status, from no source.
    if (is_in_branch(*plan_.block, *call.call))
      return "if (" + element + ".MPI_SOURCE != MPI_ANY_SOURCE) { " +
             (null_source.empty() ? "" : null_source + " ") + text + " }";
    return null_source.empty()
               ? text
               : null_source + source_.newline() + source_.indentation_at(call.statement->begin) + text;
  }

  void wait() {
    std::vector<std::string> lines = wait_lines();
    if (style_ == Style::kBraces) lines.emplace_back("}");
    const bool straight_behind = plan_.before == nullptr || only_blanks_between();
    if (straight_behind) return wait_behind(lines);
    std::string text;
    for (const std::string& line : lines) text += line + next_line(plan_.before->begin);
    insert_before(*plan_.before, text);
  }

  /// The statement that the wait goes behind, where the block ends or the next statement follows at once.
  [[nodiscard]] const Node& statement_before() const {
    const auto& children = plan_.block->children;
    const auto found = std::find_if(children.begin(), children.end(),
                                    [&](const auto& child) { return child.get() == plan_.before; });
    return **(found - 1);
  }

  /// Whether the wait follows the last call's statement; then it goes behind that line, before empty lines and comments.
  [[nodiscard]] bool only_blanks_between() const { return &statement_before() == plan_.last; }

  [[nodiscard]] std::size_t end_of(const Node& statement) const {
    if (source_.text()[statement.end - 1] == '}' || source_.text()[statement.end - 1] == ';')
      return statement.end;
    const Token* next = source_.code_from(statement.end);
    return next != nullptr && source_.text(*next) == ";" ? next->end : statement.end;
  }

  void wait_behind(const std::vector<std::string>& lines) {
    const Node& statement = statement_before();
    const std::size_t end = end_of(statement);
    std::size_t at = end;
    // Behind a comment in the same line, if nothing else follows there.
    for (std::size_t i = source_.token_from(end); i < source_.tokens().size(); ++i) {
      const Token& token = source_.tokens()[i];
      if (token.kind != TokenKind::kComment || source_.line_of(token.begin) != source_.line_of(end - 1))
        break;
      at = token.end;
    }
    const int line = source_.line_of(at - 1);
    const bool line_ends = source_.text(at, source_.begin_of_line(line + 1)).find_first_not_of(" \t\r\n") ==
                           std::string_view::npos;
    if (!line_ends && source_.line_of(end - 1) == line) at = end;
    std::string text;
    for (const std::string& one : lines) text += next_line(statement.begin) + one;
    if (!line_ends) text += next_line(statement.begin);
    edits_.push_back({at, at, text});
  }

  const Source& source_;
  const Plan& plan_;
  const std::vector<LocatedCall>& calls_;
  Style style_;
  int total_ = 0;
  int next_ = 0;
  bool any_status_ = false;
  std::string requests_;
  std::string statuses_;
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> rewritten(const Source& source, const Plan& plan, const std::vector<LocatedCall>& calls,
                            Style style) {
  return Rewriter{source, plan, calls, style}.run();
}

}  // namespace nplus1::overlap::patch
