// What the measuring MPI program is to do in one mpirun: written by `nplus1 guidelines run`, read by
// nplus1-guidelines-runner from the file that its argument names. Standard library only. One keyword a line:
//
//   mpirun 3                            which of the R mpiruns this is: it seeds the order
//   clock real                          or virtual: under the simulator, nothing is repeated or synchronised
//   sync barrier                        barrier, window or round-time
//   window 0.001                        seconds, of sync window
//   predictions 3                       series for each prediction of repetitions
//   criteria 0.02 0.01 - 30 30 10 200   RSE, COVmean, COVmedian (- for none), their windows, least, most
//   limit 20                            seconds for all cells together
//   cell Allreduce 1024 0               original, size, repetitions (0: predict them, measure nothing)
//   test Allreduce Allreduce 1 1024     of the cell above: name, function, calls in a row, size of each
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "guidelines/repetitions.hpp"

namespace nplus1::guidelines {

enum class Sync { kBarrier, kWindow, kRoundTime };

struct TimedTest {
  std::string name;        // in the results
  std::string function;    // an original or a mock-up
  int calls = 1;           // timed together
  std::uint64_t size = 0;  // of each call
};

/// What is interleaved: an original, its mock-ups, and whatever is to be compared with them, at one size.
struct Cell {
  std::string original;
  std::uint64_t size = 0;
  int repetitions = 0;
  std::vector<TimedTest> tests;
};

/// Exit code of the measuring program where virtual time was asked for and no simulator runs.
inline constexpr int kNotSimulated = 3;

struct Plan {
  int mpirun = 0;
  bool virtual_clock = false;
  Sync sync = Sync::kBarrier;
  double window = 1e-3;
  int predictions = 3;
  Criteria criteria;
  double limit = 20;  // each cell may take a few times its share of what is left
  std::vector<Cell> cells;
};

[[nodiscard]] std::string plan_text(const Plan& plan);

/// An empty `fault`, or what is wrong with which line.
struct ParsedPlan {
  Plan plan;
  std::string fault;
};
[[nodiscard]] ParsedPlan parse_plan(const std::string& text);

/// "barrier", "window", "round-time".
[[nodiscard]] const char* name_of(Sync sync);
/// The inverse; nothing for other words.
[[nodiscard]] std::optional<Sync> sync_of(const std::string& name);

}  // namespace nplus1::guidelines
