#include "events/function_name.hpp"

#include <algorithm>

namespace nplus1::events {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

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

std::string spoken_name(std::string_view function) {
  constexpr std::string_view kOperator = "operator";
  const std::string_view name = without_parameters(function);
  std::string spoken;
  int depth = 0;  // of template arguments
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool of_operator = spoken.ends_with(kOperator) || spoken.ends_with("operator<") ||
                             spoken.ends_with("operator>") || spoken.ends_with("operator-");
    if (name[i] == '<' && !of_operator) ++depth;
    if (depth == 0) spoken += name[i];
    if (name[i] == '>' && depth > 0) --depth;
  }
  for (std::size_t at = spoken.find(kAnonymous); at != spoken.npos; at = spoken.find(kAnonymous))
    spoken.erase(at, kAnonymous.size());
  while (spoken.ends_with(' ')) spoken.pop_back();
  // Spaces behind these belong to the name: "operator new", a lambda's parameters.
  const std::size_t end_of_type = spoken.rfind(' ', std::min(spoken.find(kOperator), spoken.find('{')));
  if (end_of_type != spoken.npos) spoken.erase(0, end_of_type + 1);
  return spoken.empty() ? std::string{name} : spoken;
}

}  // namespace nplus1::events
