// The findings of overlap as changes of the program's source: nplus1-patch is asked for them. One thread.
#pragma once

#include <cstddef>
#include <string>

#include "analyses/overlap.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

/// How the source is compiled; empty: as nplus1-patch finds it.
struct PatchOptions {
  std::string compile_commands;  // a compile_commands.json, or its folder
  std::string compile;           // flags for all files
};

struct Patch {
  std::size_t chains = 0;  // that were asked for
  std::string diff;        // empty: every chain was refused
  std::string root;        // where it applies; empty: here
};

/// Face. Notes with each finding its patch, or why there is none.
[[nodiscard]] Result<Patch> patch_chains(const PatchOptions& options, const OverlapSource& source,
                                         overlap::Results& results);

}  // namespace nplus1::analyses
