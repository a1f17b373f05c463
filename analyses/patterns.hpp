// Where the analysing verbs get a run's patterns from: its result folder (patterns.json), that file, or a
// recording. A face.
#pragma once

#include <string>

#include "patterns/patterns.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

struct PatternsSource {
  patterns::Patterns patterns;
  std::string note;  // what the recording lacks; empty if it is whole
};

/// `details`: what only a recording has is wanted (sizes in elements), so it is preferred to patterns.json
/// where that lacks it. `collectives`: the algorithms whose messages the layer `wire` has, if they are not to
/// be those of the run; only a recording can tell.
[[nodiscard]] Result<PatternsSource> load_patterns(const std::string& path, bool details = false,
                                                   const std::string& collectives = {});

}  // namespace nplus1::analyses
