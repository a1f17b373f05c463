// What a collective's event (docs/formats/events.md, "Collectives") asks of its schedule
// (netmodel/collectives/schedule.hpp): the one translation, for engine, statistics and conversion. Any
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "events/event.hpp"
#include "netmodel/collectives/schedule.hpp"

namespace nplus1::semantics {

/// The communicator as one of its members sees it.
struct Membership {
  std::int32_t members = 0;
  std::int32_t me = 0;           // index among them
  std::int32_t first_group = 0;  // members of an intercommunicator's first group; 0: an intracommunicator
};

/// The call of member `who.me`. Its lists point into `extension` and `edge_sizes`, which must outlive it.
/// Throws std::invalid_argument when a neighbourhood collective has no list of neighbours.
[[nodiscard]] netmodel::CollectiveCall collective_call(const events::Event& event,
                                                       const events::Extension& extension, Membership who,
                                                       std::vector<std::int64_t>& edge_sizes);

}  // namespace nplus1::semantics
