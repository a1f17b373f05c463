#include "guidelines/runner_lines.hpp"

#include <sstream>
#include <utility>

namespace nplus1::guidelines {
namespace {

std::optional<double> evaluable(double metric) {
  return metric < 0 ? std::nullopt : std::optional<double>{metric};
}

std::optional<Look> read_look(std::istream& in) {
  Look look;
  double rse = 0, mean = 0, median = 0;
  if (!(in >> look.test >> look.size >> look.prediction >> look.repetitions >> rse >> mean >> median >>
        look.mean >> look.enough))
    return std::nullopt;
  look.metrics = {evaluable(rse), evaluable(mean), evaluable(median)};
  return look;
}

std::optional<Measurement> read_time(std::istream& in, int mpirun, int processes) {
  Measurement m;
  m.mpirun = mpirun;
  m.processes = processes;
  if (!(in >> m.test >> m.size >> m.repetition >> m.seconds)) return std::nullopt;
  double without = 0;
  if (in >> without) m.without_copies = without;
  return m;
}

std::string rest_of(std::istream& in) {
  std::string text;
  std::getline(in >> std::ws, text);
  return text;
}

std::string note(std::istream& in, const char* what) {
  std::string test, size;
  in >> test >> size;
  return test + " of " + size + " B " + what + rest_of(in);
}

}  // namespace

bool RunnerLines::take(std::string_view line) {
  if (line.empty() || line.front() != '@') return false;
  std::istringstream in{std::string{line.substr(1)}};
  std::string key;
  in >> key;
  if (key == "library") {
    library_ = rest_of(in);
  } else if (key == "network") {
    double small = 0, small_time = 0, large = 0, large_time = 0;
    if (in >> small >> small_time >> large >> large_time)
      network_ = hockney_from(small, small_time, large, large_time);
  } else if (key == "verify") {
    in >> verifying_;
  } else if (key == "differs") {
    std::string test;
    std::istringstream{std::string{line.substr(1)}} >> key >> test;
    cell_.wrong.push_back(test);
    cell_.notes.push_back(note(in, "gave a wrong result and was not measured: "));
  } else if (key == "skipped") {
    cell_.notes.push_back(note(in, "was not measured: "));
  } else if (key == "late") {
    ++cell_.late;
  } else if (key == "nrep") {
    if (auto look = read_look(in)) cell_.looks.push_back(std::move(*look));
    verifying_.clear();
  } else if (key == "time") {
    if (auto m = read_time(in, mpirun_, processes_)) cell_.times.push_back(std::move(*m));
    verifying_.clear();
  } else if (key == "done") {
    in >> cell_.original >> cell_.size;
    finished_ = std::exchange(cell_, {});
    verifying_.clear();
  } else if (key == "end") {
    ended_ = true;
  } else {
    return false;
  }
  return true;
}

std::optional<FinishedCell> RunnerLines::take_finished() {
  return std::exchange(finished_, std::nullopt);
}

}  // namespace nplus1::guidelines
