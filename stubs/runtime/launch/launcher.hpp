// What a rank asks of who started it, once MPI_Init is over; implemented once for each MPI library (hydra.cpp,
// openmpi/launcher.cpp). By the rank's main thread; MPI's own connection to it is at rest.
#pragma once

#include <cstdint>
#include <optional>

#include "stubs/transport/meeting.hpp"

namespace nplus1::stubs {

/// Where the job's simulator is; nothing where none came up for a job of `ranks` ranks. By all ranks; `by_session`: MPI has
/// begun by MPI_Session_init alone.
[[nodiscard]] std::optional<transport::Meeting> published_meeting(std::int32_t ranks, bool by_session);

/// By rank 0, when MPI_Init is over.
void note_beginning();

/// Whether a rank that ends without MPI_Finalize is to wait for the others, and take its leave if all end.
[[nodiscard]] bool takes_leave() noexcept;
void take_leave();

}  // namespace nplus1::stubs
