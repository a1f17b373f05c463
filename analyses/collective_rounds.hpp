// Collectives as messages, for formats that have only messages: the engine's own schedules (MPICH's choice).
#pragma once

#include "events/exchange/flattener.hpp"

namespace nplus1::analyses {

[[nodiscard]] std::vector<events::exchange::Round> collective_rounds(const events::TimedEvent& collective,
                                                                     std::int32_t member,
                                                                     std::int32_t members);

}  // namespace nplus1::analyses
