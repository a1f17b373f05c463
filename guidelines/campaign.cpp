#include "guidelines/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace nplus1::guidelines {
namespace {

constexpr double kSynchronising =
    2;  // a repetition takes about twice its own time, with the start of all ranks

Cell cell_of(const std::string& original, std::uint64_t size, const Catalogue& catalogue, bool again) {
  Cell cell{original, size, 0, {{original, original, 1, size}}};
  for (const Guideline& g : catalogue.guidelines) {
    const bool here = g.original == original && std::count(g.sizes.begin(), g.sizes.end(), size) > 0;
    if (here && g.is_pattern()) cell.tests.push_back({g.mock_up, g.mock_up, 1, size});
  }
  if (again) cell.tests.push_back({again_name(original), original, 1, size});
  return cell;
}

std::string metric_text(const std::optional<double>& metric) {
  return metric ? fmt::format("{:.6g}", *metric) : "";
}

template <class Number>
bool parse(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

std::optional<double> metric_of(const std::string& text) {
  double metric = 0;
  return parse(text, metric) ? std::optional<double>{metric} : std::nullopt;
}

}  // namespace

std::vector<Cell> cells_of(const Catalogue& catalogue, bool again) {
  std::vector<std::string> originals;
  std::map<std::string, std::set<std::uint64_t>> sizes;
  for (const Guideline& g : catalogue.guidelines) {
    if (sizes.count(g.original) == 0) originals.push_back(g.original);
    sizes[g.original].insert(g.sizes.begin(), g.sizes.end());
  }
  std::vector<Cell> cells;
  for (const std::string& original : originals) {
    for (const std::uint64_t size : sizes[original])
      cells.push_back(cell_of(original, size, catalogue, again));
  }
  return cells;
}

TimedTest split_test(const std::string& original, int calls, std::uint64_t size) {
  return {split_name(original, static_cast<std::uint64_t>(calls), size), original, calls, size};
}

std::string piece_name(int mpirun, const Cell& cell) {
  return fmt::format("{} {} {}", mpirun, cell.original, cell.size);
}

void add_looks(Needs& needs, const std::vector<Look>& looks) {
  for (const Look& look : looks) {
    Need& need = needs[{look.test, look.size}];
    need.repetitions = std::max(need.repetitions, look.repetitions);
    need.seconds = look.mean;
  }
}

Allotment allot(std::vector<Cell>& cells, const Needs& needs, int mpiruns, double budget, int least) {
  Allotment allotment;
  for (Cell& cell : cells) {
    double block = 0;
    cell.repetitions = least;
    for (const TimedTest& test : cell.tests) {
      const auto need = needs.find({test.name, test.size});
      if (need == needs.end()) continue;
      cell.repetitions = std::max(cell.repetitions, need->second.repetitions);
      block += kSynchronising * need->second.seconds;
    }
    allotment.wanted += mpiruns * cell.repetitions * block;
    allotment.least += mpiruns * least * block;
  }
  if (allotment.wanted <= budget) return allotment;
  allotment.factor = budget / allotment.wanted;
  for (Cell& cell : cells)
    cell.repetitions = std::max(least, static_cast<int>(cell.repetitions * allotment.factor));
  return allotment;
}

double measured_seconds(const std::vector<Look>& looks) {
  std::map<std::tuple<std::string, std::uint64_t, int>, double> of_series;  // each look is of a longer one
  for (const Look& look : looks)
    of_series[{look.test, look.size, look.prediction}] = kSynchronising * look.repetitions * look.mean;
  double seconds = 0;
  for (const auto& [series, time] : of_series) seconds += time;
  return seconds;
}

std::string looks_head() {
  return "test,msize,prediction,repetitions,rse,cov_mean,cov_median,mean_sec,enough\n";
}

std::string looks_rows(const std::vector<Look>& looks) {
  std::string text;
  for (const Look& look : looks) {
    text += fmt::format("{},{},{},{},{},{},{},{:.9g},{}\n", look.test, look.size, look.prediction,
                        look.repetitions, metric_text(look.metrics.rse), metric_text(look.metrics.cov_mean),
                        metric_text(look.metrics.cov_median), look.mean, look.enough ? 1 : 0);
  }
  return text;
}

std::vector<Look> read_looks(const std::string& text) {
  std::vector<Look> looks;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> fields;
    std::istringstream words{line};
    for (std::string field; std::getline(words, field, ',');) fields.push_back(field);
    if (line.empty() || line.front() == '#' || fields.size() != 9 || fields[0] == "test") continue;
    Look look;
    look.test = fields[0];
    look.metrics = {metric_of(fields[4]), metric_of(fields[5]), metric_of(fields[6])};
    look.enough = fields[8] == "1";
    if (parse(fields[1], look.size) && parse(fields[2], look.prediction) &&
        parse(fields[3], look.repetitions) && parse(fields[7], look.mean))
      looks.push_back(std::move(look));
  }
  return looks;
}

}  // namespace nplus1::guidelines
