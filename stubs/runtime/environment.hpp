// The beginning and the end of observation (environment_handlers.cpp, session_handlers.cpp).
#pragma once

namespace nplus1::stubs {

enum class Beginning : unsigned char { kWorld, kSession };

/// Of this process, now.
[[nodiscard]] int count_threads();
/// MPI has been initialised, when the process had so many threads: the rank joins the simulation, if it is one and
/// has not.
void join(int threads_before, Beginning beginning);
/// Sessions that the program has open: so many now, after `change`.
int count_sessions(int change) noexcept;
/// The rank's last event, in a call that ends its use of MPI.
void end_observation();

}  // namespace nplus1::stubs
