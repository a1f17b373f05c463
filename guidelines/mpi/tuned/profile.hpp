// Which mock-up runs instead of which function: lines "Reduce 8 32768 102400 Reduce_with_Allreduce"
// (original, number of processes, smallest and largest size in bytes as the catalogue counts it, mock-up).
// They stand at the end of the preloaded library's own file, behind everything that the loader looks at, so
// that one file is all that a user needs; `nplus1 guidelines tune` appends them to a copy of the library.
// Read once, when the library is loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guidelines/mpi/mock_ups/mock_ups.hpp"

namespace nplus1::guidelines::tuned {

struct Rule {
  std::string original;
  int processes = 0;
  std::uint64_t from = 0, to = 0;
  Run run = nullptr;
};

/// The rules in the file's last bytes; none if there are none. Lines that name no mock-up of ours are left
/// out.
[[nodiscard]] std::vector<Rule> read_profile(const std::string& file);

/// The rules of this library.
[[nodiscard]] const std::vector<Rule>& rules();

}  // namespace nplus1::guidelines::tuned
