#include "netmodel/simgrid/platform_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

namespace nplus1::netmodel {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kSpace = " \t\r\n\f";
constexpr std::string_view kDigits = "0123456789";

/// The place of the first of `characters` from `at` on; the end without.
std::size_t next(std::string_view text, std::string_view characters, std::size_t at) {
  return std::min(text.find_first_of(characters, at), text.size());
}

std::size_t past(std::string_view text, std::string_view characters, std::size_t at) {
  return std::min(text.find_first_not_of(characters, at), text.size());
}

/// A reference between & and ; as the letter that it stands for; nothing if it is none of a single byte.
std::optional<char> letter(std::string_view reference) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNamed{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [name, character] : kNamed)
    if (reference == name) return character;
  if (reference.empty() || reference[0] != '#') return std::nullopt;
  const bool hexadecimal = reference.size() > 1 && reference[1] == 'x';
  const char* const begin = reference.data() + (hexadecimal ? 2 : 1);
  const char* const end = reference.data() + reference.size();
  unsigned code = 0;
  const auto [stop, error] = std::from_chars(begin, end, code, hexadecimal ? 16 : 10);
  if (error != std::errc{} || stop != end || code == 0 || code > 127) return std::nullopt;
  return static_cast<char>(code);
}

/// With its references resolved, as the parser does: numbers may be written with them.
std::string unescaped(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    const std::size_t end = value[0] == '&' ? value.find(';') : std::string_view::npos;
    const auto stands_for = end == std::string_view::npos ? std::nullopt : letter(value.substr(1, end - 1));
    text += stands_for.value_or(value[0]);
    value.remove_prefix(stands_for ? end + 1 : 1);
  }
  return text;
}

/// NAME = "VALUE" and so on from `at`; moves it to the end of the element's beginning. What is written otherwise is left out.
Attributes attributes(std::string_view text, std::size_t& at) {
  Attributes found;
  while (at < text.size() && text[at] != '>') {
    at = past(text, kSpace, at);
    const std::size_t name_end = next(text, " \t\r\n\f=>\"'", at);
    const std::string_view name = text.substr(at, name_end - at);
    const std::size_t equals = past(text, kSpace, name_end);
    const bool assigns = equals < text.size() && text[equals] == '=';
    at = assigns ? past(text, kSpace, equals + 1) : equals;
    if (at == text.size() || (text[at] != '"' && text[at] != '\'')) continue;
    const std::size_t end = next(text, text.substr(at, 1), at + 1);
    if (assigns) found.emplace_back(name, unescaped(text.substr(at + 1, end - at - 1)));
    at = std::min(end + 1, text.size());
  }
  return found;
}

/// Behind what begins at `at` and has no elements in it: a comment, a declaration, text to be taken literally. `at`, if nothing
/// such does.
std::size_t behind_what_is_no_element(std::string_view text, std::size_t at) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kKinds{
      {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"}}};
  for (const auto& [begin, end] : kKinds)
    if (text.substr(at, begin.size()) == begin) {
      const std::size_t found = text.find(end, at + begin.size());
      return found == std::string_view::npos ? text.size() : found + end.size();
    }
  return at;
}

/// Calls `element(place, name, attributes)` for each beginning of one, and `comment(begin, end)`.
template <class Element, class Comment>
void walk(std::string_view text, Element element, Comment comment) {
  for (std::size_t at = 0; (at = next(text, "<", at)) < text.size();) {
    const std::size_t begin = at;
    at = behind_what_is_no_element(text, begin);
    if (at != begin) {
      if (text.substr(begin, 4) == "<!--") comment(begin, at);
      continue;
    }
    at = next(text, " \t\r\n\f/>", begin);
    const std::string_view name = text.substr(begin + 1, at - begin - 1);
    element(begin, name, attributes(text, at));
  }
}

std::string contents_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The number that stands at `at`, which moves behind it.
double number(std::string_view text, std::size_t& at) {
  const std::size_t end = past(text, kDigits, at);
  const std::string digits{text.substr(at, end - at)};
  at = end;
  return std::strtod(digits.c_str(), nullptr);
}

bool is_digit(std::string_view text, std::size_t at) {
  return at < text.size() && kDigits.find(text[at]) != std::string_view::npos;
}

}  // namespace

std::string PlatformElement::attribute(std::string_view name) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == name; });
  return found == attributes.end() ? std::string{} : found->second;
}

PlatformText::PlatformText(const std::string& path) : PlatformText{path, contents_of(path)} {}

/// What is commented out is nowhere.
PlatformText::PlatformText(std::string path, std::string text)
    : path_{std::move(path)}, text_{std::move(text)} {
  const std::string whole = text_;
  walk(
      whole, [](std::size_t, std::string_view, auto&&) {},
      [&](std::size_t begin, std::size_t end) {
        for (; begin < end; ++begin)
          if (text_[begin] != '\n') text_[begin] = ' ';
      });
}

int PlatformText::line_of(std::string_view word) const {
  const std::size_t at = text_.find(word);
  if (at == std::string::npos) return kNoLine;
  return 1 +
         static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

int PlatformText::line_of_link(std::string name) const {
  for (;;) {
    for (const char quote : {'"', '\''})
      if (const int line = line_of(quote + name + quote); line != kNoLine) return line;
    const std::size_t end = name.rfind('_');
    if (end == std::string::npos) return kNoLine;
    name.resize(end);
  }
}

std::vector<PlatformElement> PlatformText::elements(std::string_view name) const {
  std::vector<PlatformElement> found;
  int line = 1;
  std::size_t counted = 0;  // line breaks, up to here
  const auto keep = [&](std::size_t at, std::string_view element, Attributes&& values) {
    if (element != name) return;
    line += static_cast<int>(std::count(text_.data() + counted, text_.data() + at, '\n'));
    counted = at;
    found.push_back({line, std::move(values)});
  };
  walk(text_, keep, [](std::size_t, std::size_t) {});
  return found;
}

Error PlatformText::error(int line, const std::string& what) const {
  return {path_ + (line == kNoLine ? "" : ":" + std::to_string(line)) + ": " + what, {}};
}

std::vector<std::pair<double, double>> ranges_of(std::string_view radical) {
  std::vector<std::pair<double, double>> ranges;
  for (std::size_t at = 0; (at = next(radical, kDigits, at)) < radical.size();) {
    const double first = number(radical, at);
    double last = first;
    if (at < radical.size() && radical[at] == '-' && is_digit(radical, at + 1)) last = number(radical, ++at);
    ranges.emplace_back(first, last);
  }
  return ranges;
}

double largest_product(std::string_view parameters, bool each_part) {
  double largest = 1;
  double product = 1;
  for (std::size_t at = 0; (at = next(parameters, "0123456789;", at)) < parameters.size();) {
    if (is_digit(parameters, at))
      product *= std::max(1.0, number(parameters, at));
    else if (++at; each_part)
      product = 1;
    largest = std::max(largest, product);
  }
  return largest;
}

}  // namespace nplus1::netmodel
