// Understands what nplus1-guidelines-runner prints (guidelines/mpi/runner.cpp lists the lines), and keeps it
// until a cell is complete. One thread. Lines that are not the runner's are left to the caller.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guidelines/algorithms.hpp"
#include "guidelines/raw_data.hpp"
#include "guidelines/repetitions.hpp"

namespace nplus1::guidelines {

/// A look at a growing series, while the number of repetitions is predicted.
struct Look {
  std::string test;
  std::uint64_t size = 0;
  int prediction = 0;
  int repetitions = 0;
  Metrics metrics;
  double mean = 0;      // seconds
  bool enough = false;  // false at the last look: time was up
};

struct FinishedCell {
  std::string original;
  std::uint64_t size = 0;
  std::vector<Measurement> times;
  std::vector<Look> looks;
  std::vector<std::string> notes;  // what was left out, and why
  std::vector<std::string> wrong;  // tests that gave a wrong result
  std::uint64_t late = 0;          // repetitions in which a rank missed its window
};

class RunnerLines {
 public:
  RunnerLines(int mpirun, int processes) : mpirun_{mpirun}, processes_{processes} {}

  /// False: not a line of the runner's.
  bool take(std::string_view line);

  /// The cell that the last line completed, once.
  [[nodiscard]] std::optional<FinishedCell> take_finished();

  /// The test that is being compared with what it must give; empty once times come in.
  [[nodiscard]] const std::string& verifying() const { return verifying_; }
  [[nodiscard]] const std::string& library() const { return library_; }
  [[nodiscard]] const std::optional<Hockney>& network() const { return network_; }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  int mpirun_, processes_;
  std::string library_, verifying_;
  std::optional<Hockney> network_;
  FinishedCell cell_;
  std::optional<FinishedCell> finished_;
  bool ended_ = false;
};

}  // namespace nplus1::guidelines
