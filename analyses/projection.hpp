// What several recorded runs let one expect of overlap at other sizes and numbers of ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analyses/overlap.hpp"
#include "overlap/projection.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

struct ProjectionOptions {
  std::vector<std::string> sources;  // recordings with accesses, at least two
  std::vector<double> sizes;         // of the problem, one for each source; empty: all alike
  double size = 0, ranks = 0;        // to project to; 0: the largest
  OverlapOptions each;               // but for its source
};

/// Told before a run is replayed: which, of how many.
using ProjectionBegins = std::function<void(std::size_t run, std::size_t all, const std::string& source)>;

/// Face. One thread; replays are child processes.
[[nodiscard]] Result<overlap::Projection> project_overlap(const ProjectionOptions& options,
                                                          const ProjectionBegins& begins = {});

}  // namespace nplus1::analyses
