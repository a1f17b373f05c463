#include "overlap/patch/source.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace nplus1::overlap::patch {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || (c & '\x80') != 0;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_{text} {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void add(TokenKind kind, std::size_t begin) { tokens_.push_back({kind, begin, at_}); }

  void step() {
    const char c = peek();
    if (c == '\n') {
      fresh_line_ = true;
      ++at_;
    } else if (skip_continuation()) {
      return;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else {
      token(c);
    }
  }

  void token(char c) {
    const std::size_t begin = at_;
    if (c == '/' && (peek(1) == '/' || peek(1) == '*')) {
      skip_comment();
      return add(TokenKind::kComment, begin);  // a directive may follow a comment
    }
    if (c == '#' && std::exchange(fresh_line_, false)) {
      skip_directive();
      return add(TokenKind::kDirective, begin);
    }
    fresh_line_ = false;
    if (is_letter(c)) {
      word(begin);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      skip_number();
      add(TokenKind::kNumber, begin);
    } else if (c == '"' || c == '\'') {
      skip_quoted(c);
      add(TokenKind::kString, begin);
    } else {
      ++at_;
      add(TokenKind::kPunctuation, begin);
    }
  }

  void word(std::size_t begin) {
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const bool raw = name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
    if (!raw || peek() != '"') return add(TokenKind::kIdentifier, begin);
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return add(TokenKind::kIdentifier, begin);
    const std::string close = ")" + std::string{text_.substr(at_ + 1, open - at_ - 1)} + "\"";
    const std::size_t end = text_.find(close, open);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
    add(TokenKind::kString, begin);
  }

  bool skip_continuation() {
    std::size_t length = 1;
    if (peek() != '\\') return false;
    if (peek(length) == '\r') ++length;
    if (peek(length) != '\n') return false;
    at_ += length + 1;
    return true;
  }

  void skip_comment() {
    if (peek(1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
      return;
    }
    while (at_ < text_.size() && peek() != '\n')
      if (!skip_continuation()) ++at_;
    while (text_[at_ - 1] == '\r') --at_;
  }

  void skip_directive() {
    while (at_ < text_.size() && peek() != '\n') {
      if (skip_continuation()) continue;
      if (peek() == '/' && (peek(1) == '*' || peek(1) == '/'))
        skip_comment();
      else if (peek() == '"')
        skip_quoted('"');
      else
        ++at_;
    }
  }

  void skip_number() {
    while (is_letter(peek()) || is_digit(peek()) || peek() == '.' ||
           (peek() == '\'' && (is_letter(peek(1)) || is_digit(peek(1))))) {
      const char c = peek();
      ++at_;
      if ((c == 'e' || c == 'E' || c == 'p' || c == 'P') && (peek() == '+' || peek() == '-')) ++at_;
    }
  }

  /// Up to the closing quote, or to the end of the line where there is none (an apostrophe in inactive text).
  void skip_quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && peek() != quote && peek() != '\n') {
      if (skip_continuation()) continue;
      at_ += peek() == '\\' ? 2U : 1U;
    }
    at_ = std::min(at_, text_.size());
    if (peek() == quote) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool fresh_line_ = true;
  std::vector<Token> tokens_;
};

bool is_code(const Token& token) {
  return token.kind != TokenKind::kComment && token.kind != TokenKind::kDirective;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  return Lexer{text}.run();
}

Source::Source(std::string content) : text_{std::move(content)}, tokens_{tokens_of(text_)}, line_begins_{0} {
  for (std::size_t i = 0; i + 1 < text_.size(); ++i)
    if (text_[i] == '\n') line_begins_.push_back(i + 1);
}

int Source::line_of(std::size_t offset) const {
  return static_cast<int>(std::upper_bound(line_begins_.begin(), line_begins_.end(), offset) -
                          line_begins_.begin());
}

std::size_t Source::begin_of_line(int line) const {
  if (line > lines()) return text_.size();
  return line_begins_[static_cast<std::size_t>(std::max(line, 1) - 1)];
}

std::string Source::indentation_at(std::size_t offset) const {
  const std::size_t begin = begin_of_line(line_of(offset));
  const std::size_t end = std::min(text_.find_first_not_of(" \t", begin), text_.size());
  return text_.substr(begin, end - begin);
}

std::string Source::newline() const {
  const std::size_t at = text_.find('\n');
  return at != std::string::npos && at > 0 && text_[at - 1] == '\r' ? "\r\n" : "\n";
}

std::size_t Source::token_from(std::size_t offset) const {
  const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), offset,
                                      [](const Token& token, std::size_t at) { return token.begin < at; });
  return static_cast<std::size_t>(found - tokens_.begin());
}

const Token* Source::code_before(std::size_t offset) const {
  for (std::size_t i = token_from(offset); i-- > 0;)
    if (is_code(tokens_[i])) return &tokens_[i];
  return nullptr;
}

const Token* Source::code_from(std::size_t offset) const {
  for (std::size_t i = token_from(offset); i < tokens_.size(); ++i)
    if (is_code(tokens_[i])) return &tokens_[i];
  return nullptr;
}

bool Source::names(std::string_view identifier) const {
  return std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& token) {
    return token.kind == TokenKind::kIdentifier ? text(token) == identifier
                                                : token.kind == TokenKind::kDirective &&
                                                      text(token).find(identifier) != std::string_view::npos;
  });
}

}  // namespace nplus1::overlap::patch
