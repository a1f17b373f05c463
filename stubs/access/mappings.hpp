// Which memory may be closed: what the program may write to, by /proc/self/maps. The list is read again when an address
// is not in it, and after the program has changed its own mappings.
#pragma once

#include "stubs/access/cells.hpp"

namespace nplus1::stubs::access {

struct Mapping {
  std::uint64_t begin = 0, end = 0;
  bool writable = false;  // and readable
  bool constant = false;  // readable alone: nobody will write there

  [[nodiscard]] bool holds(std::uint64_t address) const { return address >= begin && address < end; }
};

/// What all of `range` lies in: one mapping, or several of the same kind side by side. Not from handlers; with the lock
/// of stubs/access held, and with everything open.
[[nodiscard]] Mapping mapping_of(Range range) noexcept;
/// The program has changed its mappings; from anywhere.
void forget_mappings() noexcept;

}  // namespace nplus1::stubs::access
