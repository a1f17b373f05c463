#include "guidelines/follow_up.hpp"

#include <algorithm>

namespace nplus1::guidelines {
namespace {

Cell& cell_at(std::vector<Cell>& cells, const std::string& original, std::uint64_t size) {
  for (Cell& cell : cells) {
    if (cell.original == original && cell.size == size) return cell;
  }
  return cells.emplace_back(Cell{original, size, 0, {{original, original, 1, size}}});
}

void add(Cell& cell, const TimedTest& test) {
  const bool there = std::any_of(cell.tests.begin(), cell.tests.end(),
                                 [&](const TimedTest& other) { return other.name == test.name; });
  if (!there) cell.tests.push_back(test);
}

void add(std::vector<Cell>& cells, const Comparison& c) {
  Cell& cell = cell_at(cells, c.original, c.left.size);
  if (c.rule == Rule::kPattern) add(cell, {c.right.test, c.right.test, 1, c.right.size});
  if (c.rule == Rule::kSplit)
    add(cell, split_test(c.original, static_cast<int>(c.right.calls), c.right.size));
  if (c.rule == Rule::kMonotony) (void)cell_at(cells, c.original, c.right.size);
}

int repetitions_of(const Cell& cell, int processes, const Data& data) {
  int most = 0;
  for (const TimedTest& test : cell.tests) {
    const auto sample = data.native.find({processes, test.name, cell.size});
    if (sample == data.native.end() || sample->second.mpiruns.empty()) continue;
    most = std::max(most, static_cast<int>(sample->second.repetitions / sample->second.mpiruns.size()));
  }
  return most;
}

}  // namespace

std::vector<Cell> confirmation_cells(const Analysis& analysis, const Data& data, int least) {
  std::vector<Cell> cells;
  int processes = 0;
  for (const Comparison& c : analysis.comparisons) {
    if (c.verdict != Verdict::kViolated) continue;
    processes = c.processes;
    add(cells, c);
  }
  for (Cell& cell : cells) cell.repetitions = std::max(least, repetitions_of(cell, processes, data));
  return cells;
}

}  // namespace nplus1::guidelines
