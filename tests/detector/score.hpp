// What the detector says of random programs, against what they do. Tests only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "detector/findings.hpp"
#include "tests/detector/random_programs.hpp"

namespace nplus1::tests {

[[nodiscard]] std::vector<detector::Finding> findings_of(const RandomProgram& program);

struct Judgement {
  std::vector<detector::Finding> wrong;  // above `possible`, and not what the program does
  bool found = false;                    // all that it does, as often as it does
};
[[nodiscard]] Judgement judgement(const RandomProgram& program);

/// The largest (smallest) rate at which so many of `n`, or fewer (more), still come up in one of 20 trials: exact
/// one-sided 95 % bounds of a binomial proportion (Clopper and Pearson 1934).
[[nodiscard]] double upper_bound(std::uint64_t of, std::uint64_t n);
[[nodiscard]] double lower_bound(std::uint64_t of, std::uint64_t n);

}  // namespace nplus1::tests
