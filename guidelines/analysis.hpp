// Judges a library by the catalogue: which guidelines it violates at which sizes, how strongly, how surely,
// and what the measurements cannot decide (Hunold, Carpen-Amarie and Träff 2016, section 4.3). Pure; one
// thread.
//
//   const Analysis analysis = analyse(catalogue, data, Judging{});
//   for (const Comparison& c : analysis.comparisons) if (c.verdict == Verdict::kViolated) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "guidelines/samples.hpp"

namespace nplus1::guidelines {

enum class Rule { kPattern, kMonotony, kSplit };
enum class Verdict {
  kHolds,      // slower by no more than the least effect, with confidence
  kViolated,   // significant after correction, and greater than the least effect
  kOpen,       // no violation found, but the interval reaches beyond the least effect
  kUndecided,  // so few mpiruns that no measurement could have shown a violation
};
enum class Method { kRankSum, kRankSumNormal, kKolmogorovSmirnov, kSignedRank };

/// 1.05, and what PGMPI 1.0.0 computes instead: it adds the tolerance to a second copy of the time.
inline constexpr double kSplitFactor = 1.05;
inline constexpr double kLegacySplitFactor = 2.05;

struct Judging {
  double alpha = 0.05;
  double least_ratio = 1.05;  // slowdowns up to this are no violations, however sure
  double split_factor = kSplitFactor;
  double confidence = 0.95;  // of intervals
  Method method = Method::kRankSum;
  Correction correction = Correction::kBenjaminiHochberg;
  bool without_copies = false;  // a mock-up's local copies count nothing
};

/// One side of a comparison: `calls` calls of a test at a size.
struct Side {
  std::string test;
  std::uint64_t size = 0;
  std::uint64_t calls = 1;
  double seconds = 0;                    // median of the mpiruns' medians, all calls together
  std::optional<double> without_copies;  // likewise
  Values medians;                        // for plots
};

/// `left` must not be slower than `right`.
struct Comparison {
  Rule rule{};
  std::string original;
  std::string bound;  // for people: "Allgather(n)", "Bcast(64)", "2 Bcast(1024)"
  int processes = 0;
  Side left, right;
  Interval ratio{};                // how many times slower left is
  std::optional<double> delta{};   // Cliff's
  std::optional<double> p{}, q{};  // none: compared without statistics (split rule, simulated times)
  Verdict verdict{};
  std::string reason{};             // of kOpen and kUndecided
  std::optional<bool> confirmed{};  // by fresh measurements; of violations only
  std::optional<double> simulated_ratio{};
  std::optional<Verdict> simulated{};
};

struct Analysis {
  std::vector<Comparison> comparisons;
  Judging judging;
  bool simulated_only = false;
  std::size_t family = 0;       // p-values that were corrected together
  std::size_t fewest_runs = 0;  // mpiruns of the comparison that has the fewest
  std::size_t runs_needed = 0;  // for a lone violation in this family
  Rate null_hits;               // A/A: an original against itself, p <= alpha
  Rate null_violations;         // ... and slower than the least effect
  std::size_t agreeing = 0;     // guidelines with one answer, measured and simulated
  std::size_t compared = 0;     // guidelines that have both
  std::vector<std::string> only_measured, only_simulated;  // violated at some size; of those with both
  std::size_t unmeasured = 0;                              // entries of the catalogue without data
  std::vector<std::string> strangers;                      // tests in the files that no guideline is about
  Settings settings;
  std::vector<std::string> notes;
};

[[nodiscard]] Analysis analyse(const Catalogue& catalogue, const Data& data, const Judging& judging);

[[nodiscard]] const char* name(Rule rule);        // "pattern", "monotony", "split"
[[nodiscard]] const char* name(Verdict verdict);  // "holds", "violated", "open", "undecided"
/// What q (or, without statistics, a violation) is marked with: "***", ...; "" where nothing was found.
[[nodiscard]] std::string mark(const Comparison& comparison);
/// The guideline as people write it: "Gather(n) <= Allgather(n)", "Bcast is monotone", "Bcast is
/// split-robust".
[[nodiscard]] std::string title(const Comparison& comparison);

}  // namespace nplus1::guidelines
