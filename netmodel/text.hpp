// Pieces of messages. Private to netmodel.
#pragma once

#include <string>
#include <string_view>

namespace nplus1::netmodel {

[[nodiscard]] inline std::string in_quotes(std::string_view text) {
  return std::string{"'"}.append(text).append("'");
}

/// The names of all items, separated by commas.
template <class Range, class Name>
[[nodiscard]] std::string join(const Range& range, Name name) {
  std::string text;
  for (const auto& item : range) {
    if (!text.empty()) text += ", ";
    text += name(item);
  }
  return text;
}

}  // namespace nplus1::netmodel
