#include "hypothesis/transform/step.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/toml.hpp"

namespace nplus1::hypothesis::transform {
namespace {

std::string list_of(const std::vector<std::string_view>& keys) {
  std::string text;
  for (const std::string_view key : keys) text.append(text.empty() ? "" : ", ").append(key);
  return text;
}

const Verb* verb_named(std::string_view name) {
  const auto found =
      std::find_if(verbs().begin(), verbs().end(), [&](const Verb& verb) { return verb.name == name; });
  return found == verbs().end() ? nullptr : &*found;
}

std::optional<Error> add_setting(const Verb& verb, Step& step, std::string_view key, std::string_view value) {
  const std::string of = step.where + ": " + step.verb + ": ";
  if (std::find(verb.keys.begin(), verb.keys.end(), key) == verb.keys.end())
    return Error{of + "there is no key '" + std::string{key} + "'", "the keys are: " + list_of(verb.keys)};
  if (step.find(key) != nullptr) return Error{of + std::string{key} + " is given twice", "keep one of them"};
  step.settings.emplace_back(key, value);
  return std::nullopt;
}

// --- the file ---

/// A value as it would be written on the command line; lists as 1:2:3.
std::optional<std::string> value_text(const toml::node& node) {
  if (const auto* list = node.as_array()) {
    std::string text;
    for (const toml::node& item : *list) {
      const auto one = value_text(item);
      if (!one || item.is_array()) return std::nullopt;
      text += (text.empty() ? "" : ":") + *one;
    }
    return text;
  }
  if (const auto text = node.value<std::string>(); node.is_string()) return text;
  if (!node.is_number()) return std::nullopt;
  std::ostringstream out;
  if (node.is_integer())
    out << *node.value<std::int64_t>();
  else
    out << *node.value<double>();
  return out.str();
}

struct FileReader {
  const std::string& name;
  Hypothesis hypothesis;
  std::vector<std::pair<toml::source_index, Step>> steps;  // by line

  [[nodiscard]] std::string at(const toml::node& node) const {
    return name + ":" + std::to_string(node.source().begin.line);
  }
  std::optional<Error> add(std::string_view key, const toml::node& node);
  std::optional<Error> add_table(const Verb& verb, const toml::table& table);
  std::optional<Error> add_text(std::string_view key, const toml::node& node);
};

std::optional<Error> FileReader::add_table(const Verb& verb, const toml::table& table) {
  Step step{std::string{verb.name}, {}, at(table)};
  for (const auto& [key, value] : table) {
    const auto text = value_text(value);
    if (!text)
      return Error{at(value) + ": " + std::string{key.str()} + " is neither a text nor a number",
                   "write a text, a number, or a list of numbers"};
    step.where = at(value);
    if (auto wrong = add_setting(verb, step, key.str(), *text)) return wrong;
  }
  step.where = at(table);
  steps.emplace_back(table.source().begin.line, std::move(step));
  return std::nullopt;
}

std::optional<Error> FileReader::add_text(std::string_view key, const toml::node& node) {
  struct Field {
    std::string_view key;
    std::optional<std::string>* value;
  };
  const Field fields[] = {{"network", &hypothesis.network},         {"storage", &hypothesis.storage},
                          {"collectives", &hypothesis.collectives}, {"eager", &hypothesis.eager},
                          {"platform", &hypothesis.platform},       {"map", &hypothesis.map}};
  for (const Field& field : fields) {
    if (field.key != key) continue;
    *field.value = value_text(node);
    if (*field.value) return std::nullopt;
    return Error{at(node) + ": " + std::string{key} + " is no text", "write it as on the command line"};
  }
  std::string known = "network, storage, collectives, eager, platform, map";
  for (const Verb& verb : verbs()) known.append(", [[").append(verb.name).append("]]");
  return Error{at(node) + ": there is no '" + std::string{key} + "'", "a hypothesis has: " + known};
}

std::optional<Error> FileReader::add(std::string_view key, const toml::node& node) {
  const Verb* verb = verb_named(key);
  if (verb == nullptr) return add_text(key, node);
  if (const toml::table* table = node.as_table()) return add_table(*verb, *table);
  const toml::array* tables = node.as_array();
  if (tables == nullptr || !tables->is_homogeneous(toml::node_type::table))
    return Error{at(node) + ": " + std::string{key} + " is no table", "write [[" + std::string{key} + "]]"};
  for (const toml::node& table : *tables)
    if (auto wrong = add_table(*verb, *table.as_table())) return wrong;
  return std::nullopt;
}

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all{
      {"scale", "Computing takes FACTOR times as long", {"region", "before", "after", "ranks", "factor"}},
      {"balance",
       "Computing is shared evenly, or by weights, among the ranks that do it",
       {"region", "before", "after", "ranks", "weights", "per"}},
      {"noise",
       "Computing takes a random time around what it took",
       {"region", "before", "after", "ranks", "amount", "seed", "distribution"}},
      {"steady",
       "Computing takes what its rank and its step have every time; what comes and goes is gone",
       {"region", "before", "after", "ranks"}},
      {"resize",
       "Messages are FACTOR times as long, or BYTES long",
       {"from", "to", "tag", "comm", "size", "site", "sends", "receives", "factor", "bytes"}},
      {"delete", "Messages are not sent", {"from", "to", "tag", "comm", "size", "site", "sends", "receives"}},
      {"insert", "A message more at each call AT a place", {"from", "to", "at", "tag", "bytes"}},
      {"replace",
       "Messages are replaced by a collective operation",
       {"from", "to", "tag", "comm", "size", "site", "sends", "receives", "with", "root", "instances",
        "bytes", "fewest", "contents", "prompt"}},
      {"nonblocking",
       "Blocking sends and receives are posted earlier and waited for later",
       {"from", "to", "tag", "comm", "size", "site", "sends", "receives", "post", "wait", "dependent"}}};
  return all;
}

const std::string* Step::find(std::string_view key) const {
  for (const auto& [name, value] : settings)
    if (name == key) return &value;
  return nullptr;
}

std::string Step::text() const {
  std::string text = verb;
  const char* separator = " ";
  for (const auto& [key, value] : settings) {
    text.append(separator).append(key).append("=").append(value);
    separator = ",";
  }
  return settings.empty() ? text + " all" : text;
}

Result<Step> parse_step(std::string_view verb_name, std::string_view text, std::string where) {
  const Verb* verb = verb_named(verb_name);
  if (verb == nullptr)
    return Error{where + ": there is no transformation '" + std::string{verb_name} + "'", ""};
  Step step{std::string{verb_name}, {}, std::move(where)};
  if (text == "all") return step;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, comma - at);
    const std::size_t equals = item.find('=');
    at = comma + 1;
    if (item == "all") continue;
    if (equals == item.npos || equals == 0)
      return Error{step.where + ": '" + std::string{item} + "' is not KEY=VALUE",
                   "write 'KEY=VALUE,KEY=VALUE' or 'all'; the keys are: " + list_of(verb->keys)};
    if (const auto wrong = add_setting(*verb, step, item.substr(0, equals), item.substr(equals + 1)))
      return *wrong;
  }
  return step;
}

Result<Hypothesis> parse_hypothesis(std::string_view text, const std::string& name) {
  FileReader reader{name, {}, {}};
  try {
    const toml::table document = toml::parse(text, name);
    for (const auto& [key, node] : document)
      if (const auto wrong = reader.add(key.str(), node)) return *wrong;
  } catch (const toml::parse_error& error) {
    return Error{
        name + ":" + std::to_string(error.source().begin.line) + ": " + std::string{error.description()},
        "the file is TOML: KEY = VALUE, and [[scale]] tables; docs/formats/hypothesis.md"};
  }
  // TOML keeps tables by name; they are applied in the order in which they were written.
  std::stable_sort(reader.steps.begin(), reader.steps.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [line, step] : reader.steps) reader.hypothesis.steps.push_back(std::move(step));
  return std::move(reader.hypothesis);
}

Result<Hypothesis> read_hypothesis(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::ostringstream text;
  const bool readable = in && !std::filesystem::is_directory(file);
  if (readable && in.peek() == std::ifstream::traits_type::eof())
    return Error{file.string() + ": is empty", "write what should be different; docs/formats/hypothesis.md"};
  if (!readable || !(text << in.rdbuf()))
    return Error{file.string() + ": cannot be read", "name a file in TOML; docs/formats/hypothesis.md"};
  return parse_hypothesis(text.str(), file.string());
}

}  // namespace nplus1::hypothesis::transform
