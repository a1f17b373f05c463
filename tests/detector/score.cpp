#include "tests/detector/score.hpp"

#include <algorithm>
#include <cmath>

#include "tests/detector/live_world.hpp"

namespace nplus1::tests {
namespace {

using detector::Certainty;
using detector::Finding;

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::ranges::find(list, item) != list.end();
}

bool is_group(const Truth& t, const Finding& f) {
  return std::ranges::all_of(f.groups, [&](const auto& g) {
    return std::ranges::any_of(t.groups, [&](const auto& truth) { return std::ranges::equal(truth, g); });
  });
}

bool says_it(const Truth& t, const Finding& f) {
  const std::string kind = detector::name(f.kind);
  const std::string op = f.operation ? detector::name(*f.operation) : "";
  return is_group(t, f) && op == t.op && (kind == t.kind || has(t.also, kind));
}

bool is_true(const Truth& t, const Finding& f) {
  const std::string op = f.operation ? detector::name(*f.operation) : "";
  return says_it(t, f) ||
         (is_group(t, f) && has(t.parts, detector::name(f.kind)) && (op.empty() || op == t.op));
}

/// P(at most `of` of `n`) at a rate.
double at_most(std::uint64_t of, std::uint64_t n, double rate) {
  double sum = 0;
  const auto all = static_cast<double>(n);
  for (std::uint64_t k = 0; k <= of; ++k) {
    const auto x = static_cast<double>(k);
    sum += std::exp(std::lgamma(all + 1) - std::lgamma(x + 1) - std::lgamma(all - x + 1) +
                    x * std::log(rate) + (all - x) * std::log1p(-rate));
  }
  return sum;
}

}  // namespace

std::vector<Finding> findings_of(const RandomProgram& program) {
  detector::TransferCollector collector{program.ranks};
  LiveWorld world{collector, program.ranks, program.type};
  program.play(world);
  const detector::Transfers transfers = collector.take();
  return detector::find_collectives(transfers, collector);
}

Judgement judgement(const RandomProgram& program) {
  Judgement j;
  std::vector<std::uint64_t> counts(program.truth.size());
  for (Finding& f : findings_of(program)) {
    if (f.certainty == Certainty::kPossible) continue;
    bool known = false;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Truth& t = program.truth[i];
      known = known || is_true(t, f);
      if (says_it(t, f)) counts[i] += f.count;
    }
    if (!known) j.wrong.push_back(std::move(f));
  }
  j.found = true;
  for (std::size_t i = 0; i < counts.size(); ++i)
    j.found = j.found && counts[i] == program.truth[i].count * program.truth[i].groups.size();
  return j;
}

double upper_bound(std::uint64_t of, std::uint64_t n) {
  if (of >= n) return 1;
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double rate = (low + high) / 2;
    (at_most(of, n, rate) > 0.05 ? low : high) = rate;
  }
  return high;
}

double lower_bound(std::uint64_t of, std::uint64_t n) {
  return 1 - upper_bound(n - of, n);
}

}  // namespace nplus1::tests
