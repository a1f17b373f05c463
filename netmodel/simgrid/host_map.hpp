// Which rank runs on which host of a platform.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/result.hpp"

namespace nplus1::netmodel {

struct MapHost {
  std::string name;
  std::size_t cores = 1;
};

/// For each rank the index of its host in `hosts`. `map`:
/// - `block`: fills a host's cores before it goes on to the next;
/// - `round-robin`: a rank on each host in turn, as long as the host has a core free;
/// - a file: host names separated by white space, one for each rank in order; `#` starts a comment, and
///   `NAME*K` stands for K ranks in a row.
/// Errors: fewer cores than ranks (a file may place several on one), a file that can't be read, is too short,
/// or names an unknown host (with its line).
[[nodiscard]] Result<std::vector<std::size_t>> map_ranks(const std::string& map, std::size_t ranks,
                                                         const std::vector<MapHost>& hosts);

}  // namespace nplus1::netmodel
