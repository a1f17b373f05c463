#include "guidelines/plan.hpp"

#include <sstream>

namespace nplus1::guidelines {
namespace {

bool read_sync(std::istream& in, Sync& sync) {
  std::string name;
  in >> name;
  const auto named = sync_of(name);
  if (named) sync = *named;
  return named.has_value();
}

bool read_threshold(std::istream& in, std::optional<double>& threshold) {
  std::string word;
  if (!(in >> word)) return false;
  threshold.reset();
  if (word == "-") return true;
  std::istringstream number{word};
  double value = 0;
  if (!(number >> value)) return false;
  threshold = value;
  return true;
}

bool read_criteria(std::istream& in, Criteria& c) {
  return read_threshold(in, c.rse) && read_threshold(in, c.cov_mean) && read_threshold(in, c.cov_median) &&
         in >> c.cov_mean_window >> c.cov_median_window >> c.least >> c.most;
}

bool read_cell(std::istream& in, std::vector<Cell>& cells) {
  Cell cell;
  if (!(in >> cell.original >> cell.size >> cell.repetitions)) return false;
  cells.push_back(std::move(cell));
  return true;
}

bool read_test(std::istream& in, std::vector<Cell>& cells) {
  TimedTest test;
  if (cells.empty() || !(in >> test.name >> test.function >> test.calls >> test.size)) return false;
  cells.back().tests.push_back(std::move(test));
  return true;
}

bool read_clock(std::istream& in, bool& is_virtual) {
  std::string name;
  in >> name;
  is_virtual = name == "virtual";
  return is_virtual || name == "real";
}

bool read_line(std::istream& in, Plan& plan) {
  std::string key;
  if (!(in >> key) || key.front() == '#') return true;
  if (key == "mpirun") return static_cast<bool>(in >> plan.mpirun);
  if (key == "clock") return read_clock(in, plan.virtual_clock);
  if (key == "sync") return read_sync(in, plan.sync);
  if (key == "window") return static_cast<bool>(in >> plan.window);
  if (key == "predictions") return static_cast<bool>(in >> plan.predictions);
  if (key == "criteria") return read_criteria(in, plan.criteria);
  if (key == "limit") return static_cast<bool>(in >> plan.limit);
  if (key == "cell") return read_cell(in, plan.cells);
  return key == "test" && read_test(in, plan.cells);
}

void write_threshold(std::ostream& out, const std::optional<double>& threshold) {
  if (threshold) {
    out << ' ' << *threshold;
  } else {
    out << " -";
  }
}

}  // namespace

const char* name_of(Sync sync) {
  return sync == Sync::kBarrier ? "barrier" : sync == Sync::kWindow ? "window" : "round-time";
}

std::optional<Sync> sync_of(const std::string& name) {
  for (const Sync candidate : {Sync::kBarrier, Sync::kWindow, Sync::kRoundTime})
    if (name == name_of(candidate)) return candidate;
  return std::nullopt;
}

std::string plan_text(const Plan& plan) {
  std::ostringstream out;
  out.precision(17);
  out << "mpirun " << plan.mpirun << "\nclock " << (plan.virtual_clock ? "virtual" : "real") << "\nsync "
      << name_of(plan.sync) << "\nwindow " << plan.window << "\npredictions " << plan.predictions
      << "\ncriteria";
  write_threshold(out, plan.criteria.rse);
  write_threshold(out, plan.criteria.cov_mean);
  write_threshold(out, plan.criteria.cov_median);
  out << ' ' << plan.criteria.cov_mean_window << ' ' << plan.criteria.cov_median_window << ' '
      << plan.criteria.least << ' ' << plan.criteria.most << "\nlimit " << plan.limit << '\n';
  for (const Cell& cell : plan.cells) {
    out << "cell " << cell.original << ' ' << cell.size << ' ' << cell.repetitions << '\n';
    for (const TimedTest& test : cell.tests)
      out << "test " << test.name << ' ' << test.function << ' ' << test.calls << ' ' << test.size << '\n';
  }
  return out.str();
}

ParsedPlan parse_plan(const std::string& text) {
  ParsedPlan parsed;
  std::istringstream in{text};
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words{line};
    if (read_line(words, parsed.plan)) continue;
    parsed.fault = "line " + std::to_string(number) + " means nothing: " + line;
    break;
  }
  return parsed;
}

}  // namespace nplus1::guidelines
