// Edits of a text, and the unified diff that they make. Pure functions; edits that overlap throw.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "overlap/patch/source.hpp"

namespace nplus1::overlap::patch {

/// Bytes [begin, end) are replaced by `text`. Edits at one place keep their order in the list.
struct Edit {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

/// Whether two edits of the list replace the same bytes, or one inserts inside of what the other replaces.
[[nodiscard]] bool overlap(std::vector<Edit> edits);

[[nodiscard]] std::string applied(const Source& source, std::vector<Edit> edits);

/// The diff with three lines of context, from a/PATH to b/PATH; empty if nothing changes. Both git apply and patch -p1
/// take it.
[[nodiscard]] std::string unified_diff(const Source& source, std::vector<Edit> edits,
                                       const std::string& path);

}  // namespace nplus1::overlap::patch
