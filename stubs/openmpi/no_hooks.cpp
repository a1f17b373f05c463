// What is done for MPICH by way of UCX and Open MPI offers no way for: sends inside collectives stay MPI's own, nobody
// is woken by them (a sleeper wakes by its timer), and lengths of collectives are checked as MPI's non-blocking forms do. Nor does Open MPI 4 have sessions.
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/detached_sends.hpp"
#include "stubs/runtime/hooks/collective_lengths.hpp"
#include "stubs/runtime/hooks/receive_hook.hpp"
#include "stubs/runtime/send_hook.hpp"  // wake_target() and its like: targets.cpp

namespace nplus1::stubs {

CollectiveLengths::~CollectiveLengths() = default;
CollectiveLengths::Begins::Begins(CollectiveLengths*) noexcept {}
CollectiveLengths::Begins::~Begins() = default;

DetachedSends::DetachedSends() noexcept = default;
DetachedSends::~DetachedSends() = default;
std::size_t detached_sends() noexcept {
  return 0;
}

ReceivesFromOne::ReceivesFromOne() noexcept = default;
ReceivesFromOne::~ReceivesFromOne() = default;

void introduce_ranks(std::int32_t, std::int32_t) {}
bool native_sends_wake() noexcept {
  return false;
}
SendingTo::SendingTo(std::int32_t, bool) noexcept {}
SendingTo::~SendingTo() = default;

bool find_place_by_session(int&, int&) {
  return false;
}
bool make_world_of_sessions() {
  return false;
}
void free_world_of_sessions() {}

}  // namespace nplus1::stubs
