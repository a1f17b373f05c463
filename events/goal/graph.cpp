#include "events/goal/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "events/checked_sink.hpp"
#include "events/exchange/exchange.hpp"

namespace nplus1::events::goal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy = "docs/formats/exchange.md has the grammar; make the file again if it was cut";

using Labels = std::unordered_map<std::string, std::uint32_t>;

/// Words of a line; a colon, and the braces, are words.
std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : line) {
    const bool space = c == ' ' || c == '\t' || c == '\r';
    const bool single = c == ':' || c == '{' || c == '}';
    if (single)
      words.emplace_back(1, c);
    else if (!space && !inside)
      words.emplace_back(1, c);
    else if (!space)
      words.back() += c;
    inside = !space && !single;
  }
  return words;
}

std::int64_t number(std::string_view word, std::int64_t most) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || stop != word.data() + word.size() || value < 0 || value > most)
    throw Wrong{fmt::format("\"{}\" is no number from 0 to {}", word.substr(0, 40), most)};
  return value;
}

std::int64_t size_in(const std::string& word) {
  if (word.empty() || word.back() != 'b') throw Wrong{"\"" + word.substr(0, 40) + "\" is no size such as 8b"};
  return number(std::string_view{word}.substr(0, word.size() - 1), std::int64_t{1} << 59);
}

/// A number, or -1 for anybody's.
std::int32_t number_or_any(const std::string& word, std::int64_t most) {
  return word == "-1" ? kAnybody : static_cast<std::int32_t>(number(word, most));
}

/// tag N, cpu N, nic N
void parse_attribute(const std::string& name, const std::string& word, Operation& operation) {
  constexpr std::int64_t kMostTag = 0x7fffffff;
  if (name == "tag")
    operation.tag = operation.what == What::kReceive ? number_or_any(word, kMostTag)
                                                     : static_cast<std::int32_t>(number(word, kMostTag));
  if (name == "cpu") operation.cpu = static_cast<std::uint8_t>(number(word, 255));
  if (name == "nic") operation.nic = static_cast<std::uint8_t>(number(word, 255));
}

Operation parse_operation(const std::vector<std::string>& words) {
  const auto at = [&](std::size_t i) -> const std::string& {
    if (i >= words.size()) throw Wrong{"the line is too short"};
    return words[i];
  };
  Operation operation;
  const std::string& verb = at(2);
  std::size_t attributes = 4;
  if (verb == "calc") {
    operation.amount = number(at(3), std::int64_t{1'000'000'000'000'000});
  } else {
    if (verb != "send" && verb != "recv") throw Wrong{"there is no operation \"" + verb.substr(0, 40) + "\""};
    operation.what = verb == "send" ? What::kSend : What::kReceive;
    if (at(4) != (verb == "send" ? "to" : "from"))
      throw Wrong{"a send goes to a rank, a recv comes from one"};
    operation.amount = size_in(at(3));
    operation.peer = operation.what == What::kReceive
                         ? number_or_any(at(5), exchange::kMaxRanks)
                         : static_cast<std::int32_t>(number(at(5), exchange::kMaxRanks));
    attributes = 6;
  }
  for (std::size_t i = attributes; i + 1 < words.size(); i += 2)
    parse_attribute(words[i], words[i + 1], operation);
  return operation;
}

Dependence parse_dependence(const std::vector<std::string>& words, const Labels& labels) {
  const auto label = [&](const std::string& name) {
    const auto found = labels.find(name);
    if (found == labels.end())
      throw Wrong{"there is no operation \"" + name.substr(0, 40) + "\" before this line"};
    return found->second;
  };
  if (words.size() != 3 || (words[1] != "requires" && words[1] != "irequires"))
    throw Wrong{"a line is an operation, or says what an operation requires"};
  return {label(words[0]), label(words[2]), words[1] == "irequires"};
}

}  // namespace

Result<GraphFile> GraphFile::open(const fs::path& file) {
  if (!fs::is_regular_file(file)) return Error{file.string() + ": is not a file", "name a GOAL text file"};
  GraphFile graphs{file};
  try {
    graphs.read_heading();
  } catch (const Wrong& wrong) {
    return graphs.error(wrong.what);
  }
  return graphs;
}

std::uint64_t GraphFile::bytes() const {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(file_, failed);
  return failed ? 0 : size;
}

Error GraphFile::error(const std::string& what) const {
  return {fmt::format("{}:{}: {}", file_.string(), line_, what), kRemedy};
}

void GraphFile::read_heading() {
  const auto words = next_line();
  if (words.size() != 2 || words[0] != "num_ranks") throw Wrong{"the file does not begin with num_ranks"};
  ranks_ = static_cast<std::int32_t>(number(words[1], exchange::kMaxRanks));
  if (ranks_ == 0) throw Wrong{"there are no ranks"};
  if (ranks_ > most_ranks(bytes())) throw Wrong{"more ranks than the file has room for"};
  seen_.resize(static_cast<std::size_t>(ranks_));
}

Result<std::optional<std::pair<RankId, Graph>>> GraphFile::next() {
  try {
    const auto words = next_line();
    if (words.empty()) {
      if (std::find(seen_.begin(), seen_.end(), false) != seen_.end()) throw Wrong{"ranks are missing"};
      return std::optional<std::pair<RankId, Graph>>{};
    }
    const RankId rank = rank_in(words);
    if (seen_[rank.index()]) throw Wrong{"the rank comes twice"};
    seen_[rank.index()] = true;
    return std::optional{std::pair{rank, read_graph()}};
  } catch (const Wrong& wrong) {
    return error(wrong.what);
  }
}

/// The next line with something on it; empty at the end.
std::vector<std::string> GraphFile::next_line() {
  for (std::string text; std::getline(stream_, text);) {
    ++line_;
    if (stream_.eof()) throw Wrong{"the file ends within a line"};
    auto words = split(text.substr(0, text.find("//")));
    if (!words.empty()) return words;
  }
  return {};
}

RankId GraphFile::rank_in(const std::vector<std::string>& words) const {
  if (words.size() != 3 || words[0] != "rank" || words[2] != "{")
    throw Wrong{"here a rank should begin: rank N {"};
  return RankId{static_cast<std::int32_t>(number(words[1], ranks_ - 1))};
}

Graph GraphFile::read_graph() {
  Graph graph;
  Labels labels;
  for (auto words = next_line(); words.empty() || words[0] != "}"; words = next_line()) {
    if (words.empty()) throw Wrong{"the file ends within a rank"};
    if (words.size() < 2 || words[1] != ":") {
      graph.dependences.push_back(parse_dependence(words, labels));
      continue;
    }
    const auto next = static_cast<std::uint32_t>(graph.operations.size());
    graph.operations.push_back(parse_operation(words));
    if (graph.operations.back().peer >= ranks_)
      throw Wrong{fmt::format("there is no rank {}", graph.operations.back().peer)};
    if (!labels.emplace(words[0], next).second) throw Wrong{"the label comes twice"};
  }
  return graph;
}

}  // namespace nplus1::events::goal
