#include "guidelines/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "guidelines/comparisons.hpp"

namespace nplus1::guidelines {
namespace {

/// The values of one member of those comparisons that have p-values.
Values p_values(const std::vector<Comparison>& comparisons) {
  Values p;
  for (const Comparison& c : comparisons)
    if (c.p) p.push_back(*c.p);
  return p;
}

std::size_t runs_of(const Comparison& c) {
  return std::min(c.left.medians.size(), c.right.medians.size());
}

/// The least p that so many mpiruns can give, by the method in use.
double least_p_of(const Comparison& c, Method method) {
  if (method == Method::kSignedRank) return std::exp2(-static_cast<double>(runs_of(c)));
  return least_p(c.left.medians.size(), c.right.medians.size());
}

/// Whether a comparison with that p would be found if all others stay as they are.
class PowerGuard {
 public:
  PowerGuard(Values p, const Judging& judging) : p_{std::move(p)}, judging_{judging} {}

  bool could_be_found(double least) {
    const auto [known, fresh] = answers_.try_emplace(least, false);
    if (fresh) {
      Values changed = p_;
      const auto greatest = std::max_element(changed.begin(), changed.end());
      *greatest = least;
      const Values q = adjusted(changed, judging_.correction);
      known->second = q[static_cast<std::size_t>(greatest - changed.begin())] <= judging_.alpha;
    }
    return known->second;
  }

 private:
  Values p_;
  const Judging& judging_;
  std::map<double, bool> answers_;
};

double least_effect(const Comparison& c, const Judging& judging) {
  return c.rule == Rule::kSplit ? judging.split_factor : judging.least_ratio;
}

Verdict without_statistics(double ratio, double least) {
  return ratio > least ? Verdict::kViolated : Verdict::kHolds;
}

void judge(Comparison& c, const Judging& judging, PowerGuard& guard) {
  const double least = least_effect(c, judging);
  if (!c.q) {
    c.verdict = without_statistics(c.ratio.estimate, least);
  } else if (*c.q <= judging.alpha && c.ratio.estimate > least) {
    c.verdict = Verdict::kViolated;
  } else if (c.ratio.high <= least) {
    c.verdict = Verdict::kHolds;
  } else if (!guard.could_be_found(least_p_of(c, judging.method))) {
    c.verdict = Verdict::kUndecided;
    c.reason = fmt::format("{} mpiruns are too few to show any violation", runs_of(c));
  } else {
    c.verdict = Verdict::kOpen;
    c.reason =
        fmt::format("the interval {:.3g} to {:.3g} reaches beyond {:.3g}", c.ratio.low, c.ratio.high, least);
  }
}

/// Corrects the p-values of all comparisons together, and judges each.
void judge_family(std::vector<Comparison>& comparisons, const Judging& judging) {
  const Values p = p_values(comparisons);
  const Values q = adjusted(p, judging.correction);
  PowerGuard guard{p, judging};
  std::size_t next = 0;
  for (Comparison& c : comparisons) {
    if (c.p) c.q = q[next++];
    judge(c, judging, guard);
  }
}

/// The fresh measurements of what a violation is about: a split rule's k calls are really made.
std::optional<Comparison> measured_again(const Comparison& c, const Samples& fresh, const Judging& judging) {
  const bool split = c.rule == Rule::kSplit;
  const std::string right = split ? split_name(c.original, c.right.calls, c.right.size) : c.right.test;
  const auto left_sample = fresh.find({c.processes, c.left.test, c.left.size});
  const auto right_sample = fresh.find({c.processes, right, split ? c.left.size : c.right.size});
  if (left_sample == fresh.end() || right_sample == fresh.end()) return std::nullopt;
  Comparison again = c;
  again.rule = Rule::kPattern;  // judged by p and least ratio, split or not
  again.left.medians = left_sample->second.medians;
  again.right.medians = right_sample->second.medians;
  compare(left_sample->second, right_sample->second, judging, true, again);
  return again;
}

void confirm(std::vector<Comparison>& comparisons, const Samples& fresh, const Judging& judging) {
  std::vector<Comparison> again;
  std::vector<Comparison*> originals;
  for (Comparison& c : comparisons) {
    if (c.verdict != Verdict::kViolated) continue;
    if (auto measured = measured_again(c, fresh, judging)) {
      again.push_back(std::move(*measured));
      originals.push_back(&c);
    }
  }
  judge_family(again, judging);
  for (std::size_t i = 0; i < again.size(); ++i)  // too few mpiruns yet refute nothing
    if (again[i].verdict != Verdict::kUndecided)
      originals[i]->confirmed = again[i].verdict == Verdict::kViolated;
}

using GuidelineKey = std::tuple<int, Rule, std::string, std::string>;
GuidelineKey key_of(const Comparison& c) {
  return {c.processes, c.rule, c.original, c.rule == Rule::kPattern ? c.right.test : std::string{}};
}

/// Puts the simulated answer beside each measured one, and counts guidelines on which both agree.
void put_beside(Analysis& analysis, const std::vector<Comparison>& simulated) {
  std::map<std::pair<GuidelineKey, std::pair<std::uint64_t, std::uint64_t>>, const Comparison*> found;
  for (const Comparison& c : simulated) {
    // The split rule may have stopped at another small size: then the large one says which comparison it is.
    found[{key_of(c), {c.left.size, c.rule == Rule::kSplit ? 0 : c.right.size}}] = &c;
  }
  struct Answers {
    bool measured = false, simulated = false;
    std::string title;
  };
  std::map<GuidelineKey, Answers> violated;
  for (Comparison& c : analysis.comparisons) {
    const auto other = found.find({key_of(c), {c.left.size, c.rule == Rule::kSplit ? 0 : c.right.size}});
    if (other == found.end()) continue;
    c.simulated = other->second->verdict;
    c.simulated_ratio = other->second->ratio.estimate;
    Answers& answers = violated[key_of(c)];
    answers.measured |= c.verdict == Verdict::kViolated;
    answers.simulated |= *c.simulated == Verdict::kViolated;
    answers.title = title(c);
  }
  analysis.compared = violated.size();
  for (const auto& [key, answers] : violated) {
    analysis.agreeing += answers.measured == answers.simulated ? 1 : 0;
    if (answers.measured && !answers.simulated) analysis.only_measured.push_back(answers.title);
    if (!answers.measured && answers.simulated) analysis.only_simulated.push_back(answers.title);
  }
}

/// How often an original is found slower than itself, or itself slower than it.
void count_null_hits(Analysis& analysis, const Samples& samples, double confidence) {
  std::size_t hits = 0, violations = 0, all = 0;
  for (const auto& [place, original] : samples) {
    const auto again = samples.find({place.processes, again_name(place.test), place.size});
    if (again == samples.end()) continue;
    for (const bool swapped : {false, true}) {
      Comparison c;
      compare(swapped ? again->second : original, swapped ? original : again->second, analysis.judging, true,
              c);
      const bool hit = *c.p <= analysis.judging.alpha;
      ++all;
      hits += hit ? 1 : 0;
      violations += hit && c.ratio.estimate > analysis.judging.least_ratio ? 1 : 0;
    }
  }
  analysis.null_hits = rate(hits, all, confidence);
  analysis.null_violations = rate(violations, all, confidence);
}

std::size_t unmeasured(const Catalogue& catalogue, const Samples& samples) {
  std::set<std::string> tests;
  for (const auto& [place, sample] : samples) tests.insert(place.test);
  return static_cast<std::size_t>(
      std::count_if(catalogue.guidelines.begin(), catalogue.guidelines.end(), [&](const Guideline& g) {
        return tests.count(g.original) == 0 || (g.is_pattern() && tests.count(g.mock_up) == 0);
      }));
}

std::vector<std::string> strangers(const Catalogue& catalogue, const Samples& samples) {
  std::set<std::string> known, unknown;
  for (const SizedTest& test : tests_of(catalogue)) known.insert({test.name, again_name(test.name)});
  for (const auto& [place, sample] : samples)
    if (known.count(place.test) == 0) unknown.insert(place.test);
  return {unknown.begin(), unknown.end()};
}

void count_runs(Analysis& analysis) {
  for (const Comparison& c : analysis.comparisons) {
    if (!c.p) continue;
    ++analysis.family;
    const std::size_t runs = runs_of(c);
    analysis.fewest_runs = analysis.fewest_runs == 0 ? runs : std::min(analysis.fewest_runs, runs);
  }
  analysis.runs_needed = runs_for_lone_hit(analysis.family, analysis.judging.alpha);
}

}  // namespace

Analysis analyse(const Catalogue& catalogue, const Data& data, const Judging& judging) {
  Analysis analysis;
  analysis.judging = judging;
  analysis.settings = data.settings;
  analysis.notes = data.notes;
  analysis.simulated_only = data.native.empty();
  std::vector<Comparison> simulated = comparisons_of(catalogue, data.simulated, judging, false);
  judge_family(simulated, judging);
  const Samples& samples = analysis.simulated_only ? data.simulated : data.native;
  analysis.unmeasured = unmeasured(catalogue, samples);
  analysis.strangers = strangers(catalogue, samples);
  if (analysis.simulated_only) {
    analysis.comparisons = std::move(simulated);
    return analysis;
  }
  analysis.comparisons = comparisons_of(catalogue, samples, judging, true);
  judge_family(analysis.comparisons, judging);
  count_runs(analysis);
  confirm(analysis.comparisons, data.confirmation, judging);
  put_beside(analysis, simulated);
  count_null_hits(analysis, samples, judging.confidence);
  return analysis;
}

const char* name(Rule rule) {
  constexpr const char* kNames[] = {"pattern", "monotony", "split"};
  return kNames[static_cast<int>(rule)];
}

const char* name(Verdict verdict) {
  constexpr const char* kNames[] = {"holds", "violated", "open", "undecided"};
  return kNames[static_cast<int>(verdict)];
}

std::string mark(const Comparison& c) {
  if (c.verdict != Verdict::kViolated) return "";
  return c.q ? stars(*c.q) : "*";
}

std::string title(const Comparison& c) {
  switch (c.rule) {
    case Rule::kPattern:
      return fmt::format("{}(n) <= {}", c.original, c.bound);
    case Rule::kMonotony:
      return c.original + " is monotone";
    case Rule::kSplit:
      break;
  }
  return c.original + " is split-robust";
}

}  // namespace nplus1::guidelines
