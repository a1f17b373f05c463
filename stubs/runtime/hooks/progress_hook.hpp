// How ranks wait inside the MPI library: MPICH over UCX spins in ucp_worker_progress, Open MPI in opal_progress, which we
// interpose.
// Idle polls yield, then sleep, so that more ranks than cores run well; with a core for each, they sleep much
// later. Makes no MPI call.
#pragma once

#include <cstdint>

namespace nplus1::stubs {

/// Called from any thread in place of one more idle poll. Returns soon: the message may come without anybody ringing. The
/// default, a weak symbol, sleeps 50 us; the runtime waits on the rank's doorbell, for 100 us, or where those who send ring it,
/// for as long as it has waited, 12.8 ms at most.
void idle_wait() noexcept;

/// How often the MPI library's progress has found something, in this process: it moves while anything does.
[[nodiscard]] std::uint32_t native_moves() noexcept;

/// From now on waits inside MPI are MPI's own: native recordings with a core for each rank.
void wait_as_mpi_does() noexcept;

}  // namespace nplus1::stubs
