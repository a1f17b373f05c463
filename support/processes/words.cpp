#include "support/processes/words.hpp"

#include <algorithm>
#include <cctype>

namespace nplus1::processes {
namespace {

/// Reads one word from `text`, which starts with its first character; false when a quote stays open.
bool take_word(std::string_view& text, std::string& word) {
  char open = 0;
  while (!text.empty() && (open != 0 || std::isspace(static_cast<unsigned char>(text.front())) == 0)) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == open) {
      open = 0;
    } else if (open == 0 && (c == '\'' || c == '"')) {
      open = c;
    } else if (c == '\\' && open != '\'' && !text.empty()) {
      word += text.front();
      text.remove_prefix(1);
    } else {
      word += c;
    }
  }
  return open == 0;
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const auto start = std::find_if(text.begin(), text.end(),
                                    [](char c) { return std::isspace(static_cast<unsigned char>(c)) == 0; });
    text.remove_prefix(static_cast<std::size_t>(start - text.begin()));
    if (text.empty()) return words;
    const std::string from{text};
    if (!take_word(text, words.emplace_back())) {
      return Error{"a quote is not closed: " + from, "close the quote, or escape it with a backslash"};
    }
  }
}

}  // namespace nplus1::processes
