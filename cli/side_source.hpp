// Wait states of what the user names: a recording is searched, a result is read.
#pragma once

#include <optional>
#include <string>

#include "events/recording/reader.hpp"
#include "hypothesis/side.hpp"
#include "hypothesis/wait_states_results.hpp"

namespace nplus1::cli {

/// The search, with the efficiencies; `ideal`: replays on an ideal network too. Throws Failure.
[[nodiscard]] hypothesis::WaitStateResults search_wait_states(events::recording::Reader& reader, bool ideal);

/// `path`: whatif.json or its folder (the side after; with ":before" behind it, before), waitstates.json.
/// Nothing if it is none of these. Throws Failure if it is one, and damaged.
[[nodiscard]] std::optional<hypothesis::Side> read_side(const std::string& path);

/// The same, or a recording, which is searched. Throws Failure.
[[nodiscard]] hypothesis::Side load_side(const std::string& path);

}  // namespace nplus1::cli
