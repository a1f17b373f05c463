// Counts in sentences: "1 message", "2 messages".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace nplus1 {

/// `n` and the word for it; `many` is said of all counts but 1, and is `one` with an s if it is not given.
template <std::integral Count>
[[nodiscard]] std::string number_of(Count n, std::string_view one, std::string_view many = {}) {
  std::string text = std::to_string(n) + ' ';
  if (n == 1 || many.empty()) text += one;
  if (n != 1) text += many.empty() ? "s" : many;
  return text;
}

}  // namespace nplus1
