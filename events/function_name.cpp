#include "events/function_name.hpp"

namespace nplus1::events {
namespace {

/// Where the parenthesis that `text`'s last character closes is opened; npos if nowhere.
std::size_t opening_of_last(std::string_view text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return text.npos;
}

}  // namespace

std::string_view without_parameters(std::string_view function) {
  // What may follow the parameters has no parenthesis: const, &, noexcept.
  const std::string_view up_to_parameters = function.substr(0, function.rfind(')') + 1);
  const std::size_t opening = opening_of_last(up_to_parameters);
  return opening == function.npos || opening == 0 ? function : function.substr(0, opening);
}

}  // namespace nplus1::events
