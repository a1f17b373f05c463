// Wait states of what the user names: a recording is searched, a result is read.
#pragma once

#include <optional>
#include <string>

#include "events/recording/reader.hpp"
#include "hypothesis/waitstates/results.hpp"
#include "hypothesis/whatif/analysis.hpp"
#include "hypothesis/whatif/side.hpp"
#include "support/result.hpp"

namespace nplus1::analyses {

/// The search, with the efficiencies; `ideal`: replays on an ideal network too. Throws Stopped.
[[nodiscard]] hypothesis::WaitStateResults search_wait_states(events::recording::Reader& reader, bool ideal);

struct WaitStateSearch {
  hypothesis::WaitStateResults results;
  hypothesis::RunTrust run;
  std::string json;  // docs/formats/waitstates.md
};

/// Face. The recording at `source`, with the clock that its twins measured if there were any.
[[nodiscard]] Result<WaitStateSearch> find_wait_states(const std::string& source, bool ideal);

/// Face. `path`: whatif.json or its folder (the side after; with ":before" behind it, before), waitstates.json.
/// Nothing if it is none of these. An error if it is one, and damaged.
[[nodiscard]] Result<std::optional<hypothesis::Side>> read_side(const std::string& path);

/// Face. The same, or a recording, which is searched.
[[nodiscard]] Result<hypothesis::Side> load_side(const std::string& path);

}  // namespace nplus1::analyses
