// Programs with known answers for the detector's tests: hand-written collectives, and what only looks like one.
#pragma once

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "detector/testing/world.hpp"

namespace nplus1::detector {

/// Ranks 0 to n - 1.
inline std::vector<int> world(int n) {
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// One finding that must be reported. A negative scenario has none, and nothing above `possible` may be found.
struct Expectation {
  std::string kind;
  std::vector<int> ranks;
  std::vector<int> roots;  // empty: the kind has none
  std::uint64_t count;
  std::uint64_t messages;
  std::string certainty;  // at least
  std::string op{};
};

struct Scenario {
  std::string name;
  int ranks;
  std::function<void(World&)> play;
  std::vector<Expectation> expected;
};

/// Written before the detector existed: its first score is published.
[[nodiscard]] std::vector<Scenario> flat_forms();
/// Written while it grew.
[[nodiscard]] std::vector<Scenario> tree_forms();
/// Written for a detector that had not seen them: its score on them is published too.
[[nodiscard]] std::vector<Scenario> composite_forms();

/// Mistakes on real programs.
[[nodiscard]] std::vector<Scenario> real_programs();
/// Where it was more certain than it could be.
[[nodiscard]] std::vector<Scenario> overconfident_answers();

}  // namespace nplus1::detector
