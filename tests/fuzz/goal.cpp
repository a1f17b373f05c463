// Any text as GOAL: as events, and as the program that it is, simulated.
#include "events/goal/goal.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "events/definitions_collector.hpp"
#include "hypothesis/replay/goal_simulation.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {
namespace {

using Random = std::mt19937_64;

bool simulated(const MemoryFile& file) {
  auto graphs = events::goal::GraphFile::open(file.path());
  if (!graphs) return false;
  std::vector<events::goal::Graph> programs(static_cast<std::size_t>(graphs.value().ranks()));
  for (;;) {
    auto part = graphs.value().next();
    if (!part) return false;
    if (!part.value()) break;
    programs[part.value()->first.index()] = std::move(part.value()->second);
  }
  for (const double eager : {1e12, 100.0}) {
    netmodel::LogGops::Parameters parameters;
    parameters.gap_per_byte = 1e-9;
    parameters.eager_limit = eager;
    static_cast<void>(hypothesis::simulate(programs, parameters));
  }
  return true;
}

std::string amount(Random& random) {
  constexpr std::array<const char*, 8> kAmounts{
      "0", "1", "1000000000000000", "576460752303423488", "140737488355328", "4294967296", "99", "1000000"};
  return random() % 3 == 0 ? kAmounts[random() % kAmounts.size()] : std::to_string(random() % 3000);
}

/// An operation, with a label that no other has.
std::string operation(std::uint64_t ranks, Random& random) {
  std::string line = "n" + std::to_string(random() % 1'000'000) + ": ";
  const std::string peer = random() % 8 == 0 ? "-1" : std::to_string(random() % ranks);
  const std::uint64_t what = random() % 3;
  if (what == 0)
    line += "calc " + std::to_string(random() % 8 == 0 ? 1'000'000'000'000'000 : random() % 9999);
  if (what == 1) line += "send " + amount(random) + "b to " + std::to_string(random() % ranks);
  if (what == 2) line += "recv " + amount(random) + "b from " + peer;
  if (what > 0 && random() % 2 == 0) line += " tag " + std::to_string(random() % 3);
  if (what == 2 && random() % 8 == 0) line += " tag -1";
  if (random() % 3 == 0) line += " cpu " + std::to_string(random() % 4 == 0 ? 255 : random() % 3);
  if (what > 0 && random() % 3 == 0) line += " nic " + std::to_string(random() % 2);
  return line + '\n';
}

/// The labels of the rank whose lines `at` is among, before it.
std::vector<std::string> labels_before(const std::vector<std::string>& lines, std::size_t at) {
  std::vector<std::string> labels;
  while (at > 0 && lines[--at].find('{') == std::string::npos)
    if (const std::size_t colon = lines[at].find(':'); colon != std::string::npos)
      labels.push_back(lines[at].substr(0, colon));
  return labels;
}

std::string dependence(const std::vector<std::string>& labels, Random& random) {
  if (labels.empty()) return {};
  const auto one = [&] { return labels[random() % labels.size()]; };
  return one() + (random() % 2 == 0 ? " requires " : " irequires ") + one() + '\n';
}

}  // namespace

bool run(Input input) {
  const MemoryFile file{as_text(input)};
  const bool whole = simulated(file);
  auto importer = events::goal::open(file.path());
  if (!importer) return false;
  events::DefinitionsCollector sink;
  return importer.value()->read(sink).ok() && whole;
}

std::optional<std::string> mutated_by_structure(Input input, std::uint64_t seed) {
  Random random{seed};
  std::vector<std::string> lines;
  for (std::string_view text = as_text(input); !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  if (lines.size() < 3) return std::nullopt;
  const auto ranks = static_cast<std::uint64_t>(std::count_if(
      lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("rank"); }));
  for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
    const std::size_t at = 2 + random() % (lines.size() - 2);
    const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
    const std::uint64_t what = random() % 6;
    if (what < 3)
      lines.insert(place, operation(std::max<std::uint64_t>(ranks, 1), random));
    else if (what < 5)
      lines.insert(place, dependence(labels_before(lines, at), random));
    else if (lines.size() > 3 && lines[at].find_first_of("{}") == std::string::npos)
      lines.erase(place);
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::vector<std::string> seeds() {
  return {
      "num_ranks 2\n\nrank 0 {\nl1: calc 100\nl2: send 10b to 1 tag 3 cpu 0\nl2 requires l1\n}\n\nrank 1 {\n"
      "l1: recv 10b from 0 tag 3 cpu 0\nl2: calc 5\nl2 irequires l1\n}\n",
      "num_ranks 3\nrank 0 {\nl1: send 8b to 1\nl2: send 8b to 2\n}\nrank 1 {\nl1: recv 8b from 0\n}\nrank 2 "
      "{\n"
      "l1: recv 8b from 0 tag 0\n}\n"};
}

bool is_text() {
  return true;
}

}  // namespace nplus1::fuzz
