// Random message-passing programs whose meaning is known: without a collective operation, or with one planted by hand in
// one of many ways. The same number gives the same program everywhere. For the detector's rates of false and missed
// findings (score.hpp). Tests only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "detector/testing/world.hpp"

namespace nplus1::tests {

using detector::World;

/// What a program does by hand.
struct Truth {
  std::string kind;                      // what is to be found
  std::string op;                        // of reductions
  std::vector<std::string> also;         // says the same of the same messages
  std::vector<std::string> parts;        // true of some of them: neither what was looked for, nor false
  std::vector<std::vector<int>> groups;  // the ranks of each, which do the same apart from one another
  std::uint64_t count = 0;               // on each group
  bool provable = false;  // its messages hold a proof: they could not look the same without the meaning
};

struct RandomProgram {
  std::string family;
  int ranks = 0;
  World::Type type{};
  std::function<void(World&)> play;
  std::vector<Truth> truth;  // empty: without a collective operation
};

/// Halos on grids, sparse exchanges, transposes, wavefronts, task farms, shifts and mixtures of them.
[[nodiscard]] RandomProgram program_without_collective(std::uint64_t seed);

/// Of planted_kinds().
[[nodiscard]] RandomProgram program_with(const std::string& kind, std::uint64_t seed);
[[nodiscard]] const std::vector<std::string>& planted_kinds();

}  // namespace nplus1::tests
