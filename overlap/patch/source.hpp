// A source file's text cut into raw tokens: what the compiler sees before it expands macros, with comments and
// preprocessor lines as tokens of their own, so that a rewriting can keep every byte it doesn't mean. Knows C and C++.
// Any thread; never fails: what is no token becomes punctuation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nplus1::overlap::patch {

enum class TokenKind : std::uint8_t { kIdentifier, kNumber, kString, kPunctuation, kComment, kDirective };

/// Bytes [begin, end) of the text. Punctuation is one character; a directive is a whole line with its continuations.
struct Token {
  TokenKind kind;
  std::size_t begin;
  std::size_t end;
};

[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);

/// A text with its tokens and lines.
class Source {
 public:
  explicit Source(std::string content);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<Token>& tokens() const { return tokens_; }
  [[nodiscard]] std::string_view text(const Token& token) const { return text(token.begin, token.end); }
  [[nodiscard]] std::string_view text(std::size_t begin, std::size_t end) const {
    return std::string_view{text_}.substr(begin, end - begin);
  }

  /// The line that holds the byte `offset`, from 1.
  [[nodiscard]] int line_of(std::size_t offset) const;
  /// The first byte of a line; the text's size for lines behind the last.
  [[nodiscard]] std::size_t begin_of_line(int line) const;
  [[nodiscard]] int lines() const { return static_cast<int>(line_begins_.size()); }
  /// The blanks that the line of `offset` begins with.
  [[nodiscard]] std::string indentation_at(std::size_t offset) const;
  /// What ends the lines of this file.
  [[nodiscard]] std::string newline() const;

  /// The index of the first token that begins at `offset` or behind it.
  [[nodiscard]] std::size_t token_from(std::size_t offset) const;
  /// The last token before `offset` that is neither comment nor directive; nullptr if there is none.
  [[nodiscard]] const Token* code_before(std::size_t offset) const;
  /// The first token from `offset` on that is neither comment nor directive; nullptr if there is none.
  [[nodiscard]] const Token* code_from(std::size_t offset) const;
  /// Whether an identifier of that name stands anywhere in the code.
  [[nodiscard]] bool names(std::string_view identifier) const;

 private:
  std::string text_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> line_begins_;
};

}  // namespace nplus1::overlap::patch
