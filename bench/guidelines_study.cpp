// How often `nplus1 guidelines check` is wrong: on made-up measurements of the whole catalogue, or on data
// without a violation that is drawn from real measurements (guidelines/testing/null_data.hpp). Prints the tables of
// docs/guidelines.md. Usage: guidelines_study CATALOGUE [RUNS [FOLDER...]], RUNS for each folder.
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "guidelines/analysis.hpp"
#include "guidelines/testing/null_data.hpp"
#include "guidelines/testing/synthetic.hpp"

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

struct NullKind {
  const char* name;
  NullScheme scheme;
  bool by_chance;  // differs from seed to seed by more than which side is which
};
constexpr NullKind kNullKinds[] = {
    {"itself, measured again; as measured", NullScheme::kAsMeasured, false},
    {"itself, measured again; which is which by chance", NullScheme::kRelabelled, true},
    {"its own repetitions in two halves by chance", NullScheme::kSplit, true},
    {"its first against its last repetitions", NullScheme::kFirstHalf, false},
};

using Measured = std::vector<std::vector<Measurement>>;  // by folder

Measured read_all(int folders, char** names) {
  Measured all;
  for (int i = 0; i < folders; ++i) {
    std::vector<Measurement>& rows = all.emplace_back();
    const auto read = read_raw({std::filesystem::path{names[i]} / "measurements.csv"},
                               [&](const Measurement& m, const auto&) { rows.push_back(m); });
    if (!read) fmt::print(stderr, "guidelines_study: {}\n", read.error().what);
  }
  return all;
}

Counts count(const NullData& null, const Judging& judging) {
  SampleCollector collector{null.catalogue};
  for (const Measurement& m : null.measurements) collector.add(m, {});
  Counts counts;
  for (const Comparison& c : analyse(null.catalogue, collector.take(), judging).comparisons) {
    ++counts.tests;
    counts.hits += c.verdict == Verdict::kViolated ? 1 : 0;
  }
  counts.runs_with_hits = counts.hits > 0 ? 1 : 0;
  return counts;
}

/// A folder's fixed schemes are judged both ways round at random, a few times; the others `runs` times.
void measured_table(const Catalogue& catalogue, const Measured& folders, int runs) {
  constexpr int kWaysRound = 4;
  fmt::print(
      "| an original against | judged | checks | false, of all tests | checks with any "
      "|\n|---|---|---|---|---|\n");
  for (const NullKind& kind : kNullKinds) {
    std::map<std::string, Counts> counts;
    std::size_t checks = 0;
    for (const auto& rows : folders) {
      for (int i = 0; i < (kind.by_chance ? runs : kWaysRound); ++i, ++checks) {
        const NullData null = null_data(rows, catalogue, kind.scheme, checks);
        for (const Settings& settings : kSettings) {
          const Counts one = count(null, judging_of(settings));
          Counts& all = counts[settings.name];
          all.tests += one.tests, all.hits += one.hits, all.runs_with_hits += one.runs_with_hits;
        }
      }
    }
    for (const Settings& settings : kSettings) {
      const Counts& c = counts[settings.name];
      fmt::print("| {} | {} | {} | {:.3g} % of {} | {:.3g} % |\n", kind.name, settings.name, checks,
                 percent(c.hits, c.tests), c.tests, percent(c.runs_with_hits, checks));
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
  const bool is_measured = argc > 3;
  const std::vector<std::string> sets =
      is_measured ? std::vector<std::string>{} : std::vector<std::string>{"pgmpi", "tunelib"};
  Catalogue catalogue;
  for (const Guideline& g : selected(read.value(), sets, {}).guidelines)
    if (g.is_pattern()) catalogue.guidelines.push_back(g);
  if (is_measured) {
    measured_table(catalogue, read_all(argc - 3, argv + 3), runs);
    return 0;
  }
  null_table(catalogue, runs);
  power_table(catalogue, std::max(1, runs / 10));
  return 0;
}
