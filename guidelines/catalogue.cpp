#include "guidelines/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

namespace nplus1::guidelines {
namespace {

constexpr const char* kForm =
    R"(entries look like {"orig": "Gather", "mock": "Gather_with_Allgather", "msizes": [1, 1024]})";
constexpr std::string_view kWith = "_with_";

/// The line on which each element of the outermost list begins. `text` is valid JSON.
std::vector<std::size_t> entry_lines(const std::string& text) {
  std::vector<std::size_t> lines;
  std::size_t line = 1;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (depth++ == 1) lines.push_back(line);
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return lines;
}

/// What is wrong with the members of an entry, or nothing.
std::optional<std::string> member_fault(const nlohmann::json& entry) {
  if (!entry.is_object()) return "is no object";
  for (const auto& [key, value] : entry.items()) {
    const bool text = key == "orig" || key == "mock" || key == "bound" || key == "set";
    if (!text && key != "msizes") return "has a member '" + key + "', which means nothing";
    if (text && (!value.is_string() || value.get_ref<const std::string&>().empty()))
      return "'" + key + "' is no text";
  }
  if (!entry.contains("orig")) return "has no 'orig'";
  return std::nullopt;
}

std::optional<std::string> size_fault(const nlohmann::json& entry) {
  if (!entry.contains("msizes")) return std::nullopt;
  const nlohmann::json& sizes = entry["msizes"];
  const auto is_size = [](const nlohmann::json& size) { return size.is_number_unsigned(); };
  if (!sizes.is_array() || sizes.empty() || !std::all_of(sizes.begin(), sizes.end(), is_size))
    return "'msizes' is no list of whole numbers";
  return std::nullopt;
}

std::optional<std::string> name_fault(const Guideline& g) {
  if (!g.is_pattern()) return std::nullopt;
  if (g.mock_up.rfind(g.original + std::string{kWith}, 0) != 0 || parts_of(g.mock_up).empty())
    return fmt::format("'{}' is not named after its original: {}_with_...", g.mock_up, g.original);
  return std::nullopt;
}

Guideline guideline_of(const nlohmann::json& entry) {
  Guideline g;
  g.original = canonical_name(entry["orig"].get<std::string>());
  g.mock_up = canonical_name(entry.value("mock", ""));
  g.bound = entry.value("bound", fmt::format("{}", fmt::join(parts_of(g.mock_up), " + ")));
  g.set = entry.value("set", "own");
  g.sizes = entry.value("msizes", default_sizes());
  std::sort(g.sizes.begin(), g.sizes.end());
  g.sizes.erase(std::unique(g.sizes.begin(), g.sizes.end()), g.sizes.end());
  return g;
}

/// "line 3, column 5: unexpected ..." of the parser's message.
std::string parser_words(const nlohmann::json::exception& error) {
  constexpr std::string_view kAt = "parse error at ";
  const std::string what = error.what();
  const std::size_t at = what.find(kAt);
  return at == what.npos ? what : what.substr(at + kAt.size());
}

void add_sizes(std::vector<SizedTest>& tests, const std::string& name,
               const std::vector<std::uint64_t>& sizes) {
  auto test = std::find_if(tests.begin(), tests.end(), [&](const SizedTest& t) { return t.name == name; });
  if (test == tests.end()) test = tests.insert(tests.end(), {name, {}});
  std::vector<std::uint64_t> both;
  std::set_union(test->sizes.begin(), test->sizes.end(), sizes.begin(), sizes.end(),
                 std::back_inserter(both));
  test->sizes = std::move(both);
}

bool is_capital(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}

bool admits(const std::vector<std::string>& list, const std::string& item) {
  return list.empty() || std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

const std::vector<std::uint64_t>& default_sizes() {
  static const std::vector<std::uint64_t> sizes{1,    8,     64,    512,   1024,  2000,
                                                4096, 10000, 16384, 32768, 65536, 102400};
  return sizes;
}

Result<Catalogue> parse_catalogue(const std::string& text, const std::string& name) {
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {  // numbers that are too large have a kind of their own
    return Error{fmt::format("{} is no JSON: {}", name, parser_words(error)), kForm};
  }
  if (!document.is_array()) return Error{name + ", line 1: the catalogue is no list", kForm};
  const std::vector<std::size_t> lines = entry_lines(text);
  Catalogue catalogue;
  for (std::size_t i = 0; i < document.size(); ++i) {
    const nlohmann::json& entry = document[i];
    std::optional<std::string> fault = member_fault(entry);
    if (!fault) fault = size_fault(entry);
    if (!fault) fault = name_fault(catalogue.guidelines.emplace_back(guideline_of(entry)));
    const std::size_t line = lines.size() == document.size() ? lines[i] : 1;
    if (fault) return Error{fmt::format("{}, line {}: entry {}: {}", name, line, i + 1, *fault), kForm};
  }
  return catalogue;
}

Result<Catalogue> read_catalogue(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  if (!in) return Error{"the catalogue " + file.string() + " cannot be read", "name a readable file"};
  return parse_catalogue(text, file.string());
}

std::string catalogue_text(const Catalogue& catalogue) {
  std::vector<std::string> entries;
  for (const Guideline& g : catalogue.guidelines) {
    nlohmann::ordered_json entry{{"set", g.set}, {"orig", g.original}};
    if (g.is_pattern()) entry["mock"] = g.mock_up;
    if (!g.bound.empty()) entry["bound"] = g.bound;
    entry["msizes"] = g.sizes;
    entries.push_back("  " + entry.dump());
  }
  return fmt::format("[\n{}\n]\n", fmt::join(entries, ",\n"));
}

Catalogue merged(Catalogue base, const Catalogue& more) {
  for (const Guideline& g : more.guidelines) {
    const auto same = std::find_if(base.guidelines.begin(), base.guidelines.end(), [&](const Guideline& old) {
      return old.original == g.original && old.mock_up == g.mock_up;
    });
    if (same != base.guidelines.end()) {
      *same = g;
    } else {
      base.guidelines.push_back(g);
    }
  }
  return base;
}

Catalogue selected(const Catalogue& catalogue, const std::vector<std::string>& sets,
                   const std::vector<std::string>& originals) {
  Catalogue some;
  std::copy_if(catalogue.guidelines.begin(), catalogue.guidelines.end(), std::back_inserter(some.guidelines),
               [&](const Guideline& g) { return admits(sets, g.set) && admits(originals, g.original); });
  return some;
}

std::vector<SizedTest> tests_of(const Catalogue& catalogue) {
  std::vector<SizedTest> tests;
  for (const Guideline& g : catalogue.guidelines) {
    add_sizes(tests, g.original, g.sizes);
    if (g.is_pattern()) add_sizes(tests, g.mock_up, g.sizes);
  }
  return tests;
}

std::string canonical_name(std::string_view name) {
  constexpr std::string_view kPrefix = "MPI_";
  std::string text;
  while (!name.empty()) {
    const std::size_t at = name.find(kPrefix);
    text += name.substr(0, at);
    name.remove_prefix(at == name.npos ? name.size() : at + kPrefix.size());
  }
  return text;
}

std::string spelling_key(std::string_view name) {
  std::string text = canonical_name(name);
  if (text.rfind("GL_", 0) == 0) text.erase(0, 3);
  if (const std::size_t as = text.find("_as_"); as != text.npos) text.replace(as, 4, kWith);
  const std::size_t parts = std::min(text.find(kWith), text.size());
  const bool capitals = std::any_of(text.begin(), text.end(), is_capital);
  std::string key;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == parts) i += kWith.size();
    const bool begins = capitals ? is_capital(text[i]) : text[i - (i > 0)] == '_';
    if (i > parts && begins) key += '+';
    if (text[i] != '_') key += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  }
  return key;
}

std::string original_of(std::string_view test) {
  return std::string{test.substr(0, test.find(kWith))};
}

std::vector<std::string> parts_of(std::string_view test) {
  const std::size_t with = test.find(kWith);
  std::vector<std::string> parts;
  if (with == test.npos) return parts;
  // A capital after an underscore begins a part; "_scatter_block" goes on with one.
  const std::string_view names = test.substr(with + kWith.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == 0 || (is_capital(names[i]) && names[i - 1] == '_')) {
      if (!parts.empty()) parts.back().pop_back();
      parts.emplace_back();
    }
    parts.back() += names[i];
  }
  return parts;
}

bool counts_a_block(std::string_view original) {
  constexpr std::array kOfBlocks{"Gather",           "Scatter",
                                 "Allgather",        "Alltoall",
                                 "Reduce_scatter",   "Reduce_scatter_block",
                                 "Allgather_vector", "Neighbor_allgather",
                                 "Neighbor_alltoall"};
  return std::find(kOfBlocks.begin(), kOfBlocks.end(), original) != kOfBlocks.end();
}

std::uint64_t bytes_of_all(std::string_view original, std::uint64_t size, int processes) {
  return counts_a_block(original) ? size * static_cast<std::uint64_t>(processes) : size;
}

std::string size_text(std::uint64_t size) {
  constexpr std::uint64_t kKibi = 1024, kMebi = kKibi * kKibi;
  if (size >= kMebi && size % kMebi == 0) return fmt::format("{}M", size / kMebi);
  if (size >= kKibi && size % kKibi == 0) return fmt::format("{}K", size / kKibi);
  return std::to_string(size);
}

std::string again_name(std::string_view original) {
  return std::string{original} + "_again";
}

std::string split_name(std::string_view original, std::uint64_t calls, std::uint64_t size) {
  return fmt::format("{}_split_{}x{}", original, calls, size);
}

}  // namespace nplus1::guidelines
