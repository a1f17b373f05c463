#include "stubs/runtime/system_clocks.hpp"

#include <mpi.h>

#include "stubs/clock/thread_clock.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/communicators/session_world.hpp"

namespace nplus1::stubs {

/// Virtual time of day is what the system's clocks show at virtual time zero, plus virtual time.
void SystemClocks::begin() {
  origin_ns_ = clock_ns(CLOCK_REALTIME);
  for (std::size_t id = 0; id < lead_ns_.size(); ++id)
    lead_ns_[id] = clock_ns(static_cast<clockid_t>(id)) - clock_ns(CLOCK_REALTIME);
  pmpi::Bcast(&origin_ns_, 1, MPI_INT64_T, 0, world());
}

std::int64_t SystemClocks::origin_ns(clockid_t id) const {
  const auto index = static_cast<std::size_t>(id);
  return origin_ns_ + (index < lead_ns_.size() ? lead_ns_[index] : 0);
}

}  // namespace nplus1::stubs
