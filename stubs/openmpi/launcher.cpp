#include "stubs/runtime/launch/launcher.hpp"

#include "stubs/pmpi.hpp"
#include "stubs/runtime/launch/beside.hpp"

namespace nplus1::stubs {

/// Spawned processes inherit the word, and are no ranks of the job that it is for.
std::optional<transport::Meeting> published_meeting(std::int32_t, bool) {
  MPI_Comm parent = MPI_COMM_NULL;
  pmpi::Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) return std::nullopt;
  return transport::Meeting::parse(meeting_word());
}

void note_beginning() {}

/// mpirun takes a rank that ends without MPI_Finalize for one that has failed, whatever it says before.
bool takes_leave() noexcept {
  return false;
}
void take_leave() {}

}  // namespace nplus1::stubs
