// Measures one cell of the plan: an original, its mock-ups and their like at one size, interleaved. All ranks
// call together; rank 0 prints (runner.cpp has the lines).
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "guidelines/mpi/stopwatch.hpp"
#include "guidelines/mpi/verify.hpp"

namespace nplus1::guidelines {

/// A test with the buffers it works on.
struct Subject {
  const TimedTest* test;
  const Operation* operation;
  AnyRun run;
  bool is_mock_up;
  std::shared_ptr<Buffers> buffers;
  std::shared_ptr<Scratch> scratch;

  /// Seconds of local copies.
  double operator()() const;
};

class CellRun {
 public:
  /// Nothing is repeated any more after `limit` seconds of repeating; rank 0's counts.
  CellRun(const Plan& plan, const Cell& cell, double limit, MPI_Comm comm);

  /// Compares mock-ups with their original and leaves out those that differ.
  void verify();

  /// Predicts the repetitions that each test needs.
  void predict(Stopwatch& stopwatch) const;

  /// Repeats blocks of all tests, each block in an order of its own.
  void measure(Stopwatch& stopwatch);

 private:
  [[nodiscard]] bool time_is_up() const;
  void predict(const Subject& subject, int prediction, Stopwatch& stopwatch) const;
  [[nodiscard]] std::vector<std::vector<Lap>> blocks(Stopwatch& stopwatch, int blocks);
  void print(const Subject& subject, const std::vector<Times>& times, int first_index) const;

  const Plan& plan_;
  const Cell& cell_;
  double limit_;
  MPI_Comm comm_;
  int rank_ = 0;
  double begin_;
  std::vector<Subject> subjects_;
  std::mt19937 order_;  // the same on all ranks
};

}  // namespace nplus1::guidelines
