// What an execution decided by being first (which message a wildcard got, which request Waitany completed,
// whether a test succeeded), written into its calls, so that a replay on another network repeats it.
//
// Why: the calls that follow were made because of those decisions. A replay that decided otherwise would, for
// example, wait again for what is complete already and never for what is not. What a replay cannot know is
// what the program would have done had it been told otherwise; that is the limit of replaying, and stated
// with its results. Polls that found nothing become the computation around them: the poll that found
// something becomes a wait.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "events/sink.hpp"

namespace nplus1::hypothesis {

/// Rewrites `event` and `lists`, a copy of the recorded call's, as a call whose outcome does not depend on
/// who is first. `words` is the memory of new lists. What the recording does not say (the source of an
/// MPI_Irecv stands in its match, calls that never returned) stays as it was.
void repeat_decision(const events::TimedEvent& recorded, events::Event& event, events::Extension& lists,
                     std::vector<std::uint32_t>& words);

/// Whether the call is a receive from any source whose match will say which.
[[nodiscard]] bool awaits_match(const events::Event& event);

}  // namespace nplus1::hypothesis
