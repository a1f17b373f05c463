// Words as a POSIX shell reads them back: for every command that is printed to be pasted. Pure; any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace nplus1 {

/// The word quoted for a shell; unchanged where nothing needs quoting.
[[nodiscard]] inline std::string quote(std::string_view word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"_@%+=:,./-"}.find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string{word};
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted += '\'';
}

/// All words, quoted, with one space between.
[[nodiscard]] inline std::string join_quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += quote(word);
  }
  return line;
}

}  // namespace nplus1
