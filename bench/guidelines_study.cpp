// How often `nplus1 guidelines check` is wrong, on made-up measurements of the whole catalogue: prints the
// tables of docs/guidelines.md. Usage: guidelines_study CATALOGUE [RUNS].
#include <fmt/core.h>

#include <cstdlib>
#include <string>

#include "guidelines/analysis.hpp"
#include "guidelines/synthetic.hpp"

namespace {

using namespace nplus1::guidelines;

struct Settings {
  const char* name;
  Method method;
  Correction correction;
  double least_ratio;
};
constexpr Settings kSettings[] = {
    {"rank-sum, uncorrected", Method::kRankSum, Correction::kNone, 1},
    {"rank-sum normal, uncorrected (PGMPI)", Method::kRankSumNormal, Correction::kNone, 1},
    {"Kolmogorov-Smirnov, uncorrected", Method::kKolmogorovSmirnov, Correction::kNone, 1},
    {"signed-rank, uncorrected", Method::kSignedRank, Correction::kNone, 1},
    {"rank-sum, Benjamini-Hochberg", Method::kRankSum, Correction::kBenjaminiHochberg, 1},
    {"rank-sum, Benjamini-Hochberg, 1.05", Method::kRankSum, Correction::kBenjaminiHochberg, 1.05},
    {"rank-sum, Holm", Method::kRankSum, Correction::kHolm, 1},
    {"signed-rank, Benjamini-Hochberg", Method::kSignedRank, Correction::kBenjaminiHochberg, 1},
};

Judging judging_of(const Settings& settings) {
  Judging judging;
  judging.method = settings.method;
  judging.correction = settings.correction;
  judging.least_ratio = settings.least_ratio;
  return judging;
}

struct Counts {
  std::size_t tests = 0, hits = 0, runs_with_hits = 0, planted = 0, found = 0;
};

Counts count(const Catalogue& catalogue, const Experiment& experiment, const Judging& judging, int runs) {
  Counts counts;
  for (int seed = 0; seed < runs; ++seed) {
    std::size_t hits = 0;
    for (const Comparison& c :
         analyse(catalogue, measured(catalogue, experiment, static_cast<std::uint64_t>(seed)), judging)
             .comparisons) {
      if (c.rule != Rule::kPattern) continue;
      const bool planted = c.original == experiment.planted_in && c.left.size >= experiment.planted_above;
      const bool violated = c.verdict == Verdict::kViolated;
      counts.planted += planted ? 1 : 0;
      counts.found += planted && violated ? 1 : 0;
      counts.tests += planted ? 0 : 1;
      hits += !planted && violated ? 1 : 0;
    }
    counts.hits += hits;
    counts.runs_with_hits += hits > 0 ? 1 : 0;
  }
  return counts;
}

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void null_table(const Catalogue& catalogue, int runs) {
  fmt::print("| no violation planted | false, of all tests | runs with any |\n|---|---|---|\n");
  for (const Settings& settings : kSettings) {
    const Counts c = count(catalogue, {}, judging_of(settings), runs);
    fmt::print("| {} | {:.3g} % | {:.3g} % |\n", settings.name, percent(c.hits, c.tests),
               percent(c.runs_with_hits, static_cast<std::size_t>(runs)));
  }
}

void power_table(const Catalogue& catalogue, int runs) {
  fmt::print(
      "\n| Reduce slower from 16 KiB on by | mpiruns | found | false among the found |\n|---|---|---|---|\n");
  for (const double effect : {1.1, 1.2, 1.33, 1.5, 2.0}) {
    for (const int mpiruns : {5, 10, 20}) {
      Experiment experiment;
      experiment.runs = mpiruns;
      experiment.planted = effect;
      experiment.planted_in = "Reduce";
      experiment.planted_above = 16384;
      const Counts c = count(catalogue, experiment, Judging{}, runs);
      fmt::print("| {} | {} | {:.3g} % | {:.3g} % |\n", effect, mpiruns, percent(c.found, c.planted),
                 percent(c.hits, c.hits + c.found));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 2 ? std::atoi(argv[2]) : 200;
  const auto read = read_catalogue(argc > 1 ? argv[1] : "guidelines/catalogue.json");
  if (!read || runs < 1) {
    fmt::print(stderr, "guidelines_study: {}\n", read ? "RUNS is no number" : read.error().what);
    return 64;
  }
  // Pattern guidelines alone: monotony holds by far in data whose times grow with the size.
  Catalogue catalogue;
  for (const Guideline& g : selected(read.value(), {"pgmpi", "tunelib"}, {}).guidelines)
    if (g.is_pattern()) catalogue.guidelines.push_back(g);
  null_table(catalogue, runs);
  power_table(catalogue, std::max(1, runs / 10));
  return 0;
}
