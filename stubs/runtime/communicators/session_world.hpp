// All processes of the job as one communicator, whether it begins with MPI_Init or with MPI_Session_init alone: then there is no
// MPI_COMM_WORLD, and one of ours is made from `mpi://WORLD` (session_world.cpp; Open MPI 4 has no sessions). Ranks may meet
// there only if all come, without waiting for anybody. In MPICH 4.0 they do: its first MPI_Session_init returns when all
// processes have called it. In other libraries it is local. A program that may call MPI_Init, too, is observed from there on:
// its ranks might begin in different ways. A job of one process is not: MPICH 4.0 crashes there where it is asked for progress
// (MPI_Test of a receive, bare as well), as nplus1 asks.
#pragma once

#include <mpi.h>

namespace nplus1::stubs {

namespace detail {
inline MPI_Comm session_world{}, session_self{};  // null: MPI_COMM_WORLD, MPI_COMM_SELF
}

[[nodiscard]] inline MPI_Comm world() noexcept {
  return detail::session_world == MPI_Comm{} ? MPI_COMM_WORLD : detail::session_world;
}
[[nodiscard]] inline MPI_Comm world_of_one() noexcept {
  return detail::session_self == MPI_Comm{} ? MPI_COMM_SELF : detail::session_self;
}
[[nodiscard]] inline bool world_is_of_sessions() noexcept {
  return detail::session_world != MPI_Comm{};
}

/// Rank and number of processes in `mpi://WORLD`, in a process whose first session has begun; local. False where ranks may not
/// meet.
[[nodiscard]] bool find_place_by_session(int& rank, int& ranks);
/// Makes world() and world_of_one(); by all ranks.
[[nodiscard]] bool make_world_of_sessions();
/// Frees them, and what keeps MPI alive for them.
void free_world_of_sessions();

}  // namespace nplus1::stubs
