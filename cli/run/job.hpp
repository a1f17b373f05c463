// An MPI job as the user describes it: one program, or several (MPMD) with a number of ranks each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace nplus1::cli {

/// One program of a job.
struct Section {
  std::int32_t ranks = 1;
  std::vector<std::string> options;  // mpirun's own, for this section: -host, -env, -wdir, ...
  std::vector<std::string> command;  // program and arguments
};

/// Most ranks that a job may have: rank numbers and the extra rank fit easily, and typing errors don't.
inline constexpr std::int32_t kMaxRanks = 100000;

/// A number of ranks, 1..kMaxRanks.
[[nodiscard]] Result<std::int32_t> parse_ranks(const std::string& text);

/// Splits `words` at ":"; the first section has `first_ranks`, later ones begin with their own `-n K`, as in
/// `./a x : -n 2 ./b y`. A later section without -n has one rank, as under mpirun.
[[nodiscard]] Result<std::vector<Section>> parse_sections(std::int32_t first_ranks,
                                                          const std::vector<std::string>& words);

[[nodiscard]] std::int32_t total_ranks(const std::vector<Section>& sections);

}  // namespace nplus1::cli
