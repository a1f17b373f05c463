#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <queue>
#include <unordered_map>

#include "events/checked_sink.hpp"
#include "events/exchange/new_file.hpp"
#include "events/exchange/untimed_events.hpp"
#include "events/goal/goal.hpp"

namespace nplus1::events::goal {
namespace {

namespace fs = std::filesystem;
using exchange::Imported;
using exchange::UntimedEvents;

constexpr const char* kRemedy = "docs/formats/exchange.md has the grammar; make the file again if it was cut";
constexpr std::int64_t kPicosecondsPerUnit = 1000;

struct Wrong {
  std::string what;
};

enum class What : unsigned char { kCalc, kSend, kReceive };

struct Operation {
  What what{};
  std::int64_t amount = 0;  // bytes, or units of time
  std::int32_t peer = 0;
  std::int32_t tag = 0;
  std::vector<std::uint32_t> requires_end;    // of these operations
  std::vector<std::uint32_t> requires_start;  // irequires
};

/// One rank's graph.
struct Graph {
  std::vector<Operation> operations;
  std::unordered_map<std::string, std::uint32_t> labels;
};

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

Operation parse_operation(const std::vector<std::string>& words) {
  const auto at = [&](std::size_t i) -> const std::string& {
    if (i >= words.size()) throw Wrong{"the line is too short"};
    return words[i];
  };
  Operation operation;
  const std::string& verb = at(2);
  if (verb == "calc") {
    operation.amount = number(at(3), std::int64_t{1'000'000'000'000'000});
    return operation;
  }
  if (verb != "send" && verb != "recv") throw Wrong{"there is no operation \"" + verb.substr(0, 40) + "\""};
  operation.what = verb == "send" ? What::kSend : What::kReceive;
  if (at(4) != (verb == "send" ? "to" : "from")) throw Wrong{"a send goes to a rank, a recv comes from one"};
  operation.amount = size_in(at(3));
  operation.peer = static_cast<std::int32_t>(number(at(5), exchange::kMaxRanks));
  for (std::size_t i = 6; i + 1 < words.size(); i += 2) {  // also: cpu N, nic N
    if (words[i] == "tag") operation.tag = static_cast<std::int32_t>(number(words[i + 1], 0x7fffffff));
  }
  return operation;
}

void parse_dependency(const std::vector<std::string>& words, Graph& graph) {
  const auto label = [&](const std::string& name) {
    const auto found = graph.labels.find(name);
    if (found == graph.labels.end())
      throw Wrong{"there is no operation \"" + name.substr(0, 40) + "\" before this line"};
    return found->second;
  };
  if (words.size() != 3 || (words[1] != "requires" && words[1] != "irequires"))
    throw Wrong{"a line is an operation, or says what an operation requires"};
  Operation& operation = graph.operations[label(words[0])];
  auto& list = words[1] == "requires" ? operation.requires_end : operation.requires_start;
  list.push_back(label(words[2]));
}

/// The operations, each after what it requires; else in the order of the file.
std::vector<std::uint32_t> sorted(const Graph& graph) {
  const std::size_t count = graph.operations.size();
  std::vector<std::uint32_t> open(count);
  std::vector<std::vector<std::uint32_t>> followers(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const auto* list : {&graph.operations[i].requires_end, &graph.operations[i].requires_start}) {
      for (const std::uint32_t before : *list) followers[before].push_back(i), ++open[i];
    }
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (open[i] == 0) ready.push(i);
  }
  std::vector<std::uint32_t> order;
  for (; !ready.empty();) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::uint32_t follower : followers[order.back()]) {
      if (--open[follower] == 0) ready.push(follower);
    }
  }
  if (order.size() != count) throw Wrong{"operations that require each other in a circle"};
  return order;
}

void play(RankId rank, const Graph& graph, UntimedEvents& events) {
  std::vector<std::uint32_t> requests(graph.operations.size());  // 0: nothing to wait for
  const auto wait_for = [&](const std::vector<std::uint32_t>& list) {
    std::vector<std::uint32_t> awaited;
    for (const std::uint32_t before : list) {
      if (requests[before] != 0) awaited.push_back(std::exchange(requests[before], 0));
    }
    if (!awaited.empty()) events.wait(rank, awaited);
  };
  std::vector<std::uint32_t> all;
  for (const std::uint32_t i : sorted(graph)) {
    const Operation& operation = graph.operations[i];
    wait_for(operation.requires_end);
    all.push_back(i);
    if (operation.what == What::kCalc) events.compute(rank, Duration{operation.amount * kPicosecondsPerUnit});
    if (operation.what == What::kSend)
      requests[i] = events.start_send(rank, operation.peer, operation.tag, operation.amount);
    if (operation.what == What::kReceive)
      requests[i] = events.start_receive(rank, operation.peer, operation.tag, operation.amount);
  }
  wait_for(all);
  events.finalize(rank);
}

class GoalReader final : public exchange::Importer {
 public:
  explicit GoalReader(fs::path file) : file_{std::move(file)}, stream_{file_} {}

  Result<exchange::Done> read_heading() {
    try {
      const auto words = next_line();
      if (words.size() != 2 || words[0] != "num_ranks") throw Wrong{"the file does not begin with num_ranks"};
      preamble_.ranks = static_cast<std::int32_t>(number(words[1], exchange::kMaxRanks));
      if (preamble_.ranks == 0) throw Wrong{"there are no ranks"};
      if (preamble_.ranks > most_ranks(bytes())) throw Wrong{"more ranks than the file has room for"};
      return exchange::Done{};
    } catch (const Wrong& wrong) {
      return error(wrong);
    }
  }

  const exchange::Preamble& preamble() const override { return preamble_; }

  Result<Imported> read(EventSink& sink) override {
    CheckedSink checked{preamble_.ranks, bytes(), sink};
    UntimedEvents events{preamble_.ranks, checked};
    try {
      std::vector<bool> seen(static_cast<std::size_t>(preamble_.ranks));
      for (auto words = next_line(); !words.empty(); words = next_line()) {
        const RankId rank = rank_in(words);
        if (seen[rank.index()]) throw Wrong{"the rank comes twice"};
        seen[rank.index()] = true;
        play(rank, read_graph(), events);
        if (checked.trouble()) throw Wrong{*checked.trouble()};
      }
      if (std::find(seen.begin(), seen.end(), false) != seen.end()) throw Wrong{"ranks are missing"};
    } catch (const Wrong& wrong) {
      return error(wrong);
    }
    return Imported{checked.events(),
                    checked.matches(),
                    {"times other than those of computing: calls take none",
                     "collectives: GOAL has them as messages", "communicators other than MPI_COMM_WORLD",
                     "send modes, wildcards, probes, datatypes, hashes, buffers, call paths",
                     "that operations of a rank may overlap otherwise than in sequence"}};
  }

 private:
  std::uint64_t bytes() const {
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(file_, failed);
    return failed ? 0 : size;
  }
  Error error(const Wrong& wrong) const {
    return {fmt::format("{}:{}: {}", file_.string(), line_, wrong.what), kRemedy};
  }

  /// The next line with something on it; empty at the end.
  std::vector<std::string> next_line() {
    for (std::string text; std::getline(stream_, text);) {
      ++line_;
      if (stream_.eof()) throw Wrong{"the file ends within a line"};
      auto words = split(text.substr(0, text.find("//")));
      if (!words.empty()) return words;
    }
    return {};
  }

  RankId rank_in(const std::vector<std::string>& words) const {
    if (words.size() != 3 || words[0] != "rank" || words[2] != "{")
      throw Wrong{"here a rank should begin: rank N {"};
    return RankId{static_cast<std::int32_t>(number(words[1], preamble_.ranks - 1))};
  }

  Graph read_graph() {
    Graph graph;
    for (auto words = next_line(); words.empty() || words[0] != "}"; words = next_line()) {
      if (words.empty()) throw Wrong{"the file ends within a rank"};
      if (words.size() < 2 || words[1] != ":") {
        parse_dependency(words, graph);
        continue;
      }
      const auto next = static_cast<std::uint32_t>(graph.operations.size());
      graph.operations.push_back(parse_operation(words));
      if (!graph.labels.emplace(words[0], next).second) throw Wrong{"the label comes twice"};
    }
    return graph;
  }

  fs::path file_;
  std::ifstream stream_;
  std::uint64_t line_ = 0;
  exchange::Preamble preamble_;
};

}  // namespace

Result<std::unique_ptr<exchange::Importer>> open(const fs::path& file) {
  if (!fs::is_regular_file(file)) return Error{file.string() + ": is not a file", "name a GOAL text file"};
  auto reader = std::make_unique<GoalReader>(file);
  if (const auto begun = reader->read_heading(); !begun) return begun.error();
  return std::unique_ptr<exchange::Importer>{std::move(reader)};
}

}  // namespace nplus1::events::goal
