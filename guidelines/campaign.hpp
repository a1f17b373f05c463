// From a catalogue to what each mpirun measures, and how often. Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "guidelines/catalogue.hpp"
#include "guidelines/plan.hpp"
#include "guidelines/runner_lines.hpp"

namespace nplus1::guidelines {

/// A cell for each original and size of the catalogue, with all its mock-ups that ask for the size and, if
/// `again`, the original a second time: the A/A comparison that says how far the machine itself is from
/// level.
[[nodiscard]] std::vector<Cell> cells_of(const Catalogue& catalogue, bool again);

/// A test of `calls` calls of `size` bytes; see split_name().
[[nodiscard]] TimedTest split_test(const std::string& original, int calls, std::uint64_t size);

/// Tells which cell of which mpirun, in a journal.
[[nodiscard]] std::string piece_name(int mpirun, const Cell& cell);

/// What was predicted for a test: the most repetitions of all its predictions, and its mean time.
struct Need {
  int repetitions = 0;
  double seconds = 0;  // of one repetition
};
using Needs = std::map<std::pair<std::string, std::uint64_t>, Need>;

/// Adds the looks of a cell.
void add_looks(Needs& needs, const std::vector<Look>& looks);

/// What became of a budget.
struct Allotment {
  double wanted = 0;  // seconds for all cells of all mpiruns, as predicted
  double factor = 1;  // below 1: repetitions were cut by it
  double spent = 0;   // seconds that predicting took
  double least = 0;   // seconds that `least` repetitions of all cells in all mpiruns take, as predicted
};

/// Seconds that the repetitions of `looks` took; a prediction's time beyond that (starting, comparing results) is
/// an mpirun's whatever is measured.
[[nodiscard]] double measured_seconds(const std::vector<Look>& looks);

/// Each cell gets the most that one of its tests needs, because they are measured in turns; all are cut by
/// one factor, though not below `least`, if `mpiruns` of them would take more than `budget` seconds. Cells
/// without a prediction get `least`.
Allotment allot(std::vector<Cell>& cells, const Needs& needs, int mpiruns, double budget, int least);

/// nrep.csv: a line for each look.
[[nodiscard]] std::string looks_head();
[[nodiscard]] std::string looks_rows(const std::vector<Look>& looks);

/// Reads the lines of looks_rows(); others are ignored.
[[nodiscard]] std::vector<Look> read_looks(const std::string& text);

}  // namespace nplus1::guidelines
