// Open MPI 4: handles are pointers, those of MPI's own objects addresses of the library's variables (headers/mpi.h).
#pragma once

#include <mpi.h>

#include <cstdint>

#include "stubs/pmpi.hpp"

namespace nplus1::stubs::library {

/// Whatever transport Open MPI uses, it finishes a send of so many bytes without its receiver: shared memory has the
/// smallest limit, 4 KiB with the header.
inline constexpr MPI_Count kNativeEager = 2048;
/// mpirun says there how many processes of the job it started on this host.
inline constexpr const char* kRanksHere = "OMPI_COMM_WORLD_LOCAL_SIZE";

/// Counts and displacements of a native collective that carries another.
using Count = int;
using Displacement = int;

/// A pointer does not show what it leads to: types and operations are always checked as those of the program's own are.
inline bool is_builtin(const void*) {
  return false;
}
inline std::uint64_t number_of_pair(MPI_Datatype, MPI_Op) {
  return 0;
}
inline bool is_group(MPI_Group group) {
  return group != MPI_GROUP_NULL && group != nullptr;
}
/// `ompi_request_empty` stands for any operation that was complete when it was started.
inline bool is_shared(MPI_Request handle) {
  static void* const empty = pmpi::variable("ompi_request_empty");
  return handle == empty || handle == MPI_REQUEST_NULL;
}
/// Null is MPI_STATUSES_IGNORE.
inline bool lacks_statuses(const MPI_Status*) {
  return false;
}
/// A handle that nothing else has: Fortran's numbers stand for handles that exist, so it is an inactive receive.
inline MPI_Request handle_of_ours(std::uint32_t, MPI_Comm quiet) {
  MPI_Request made = MPI_REQUEST_NULL;
  pmpi::Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, quiet, &made);
  return made;
}
/// None that Open MPI does not know.
inline bool is_handle_of_ours(MPI_Request) {
  return false;
}
/// What MPI_Comm_split_type takes, besides MPI_UNDEFINED.
inline bool is_split_type(int type) {
  return type >= MPI_COMM_TYPE_SHARED && type <= OMPI_COMM_TYPE_CLUSTER;
}
/// Whether an error of a single message is reported at its communicator by MPI_Wait.
inline constexpr bool kMessagesKnowTheirCommunicator = true;
/// libnbc goes on with a collective on memory that MPI_Comm_free has given back.
inline constexpr bool kFreedCommunicatorsOutliveCollectives = false;
/// Whoever was rung for a message may not find it yet: over TCP sockets are looked at now and then only.
inline constexpr bool kMessagesMayFollowTheirBell = true;
/// libnbc adds in another order than the blocking forms do.
inline constexpr bool kNonBlockingFormsReduceOtherwise = true;
/// MPI_BOTTOM with displacements that are addresses is taken by every form that has displacements.
inline constexpr bool kExchangesRefuseBottom = false;
/// Whether MPI_Scatterv returns an error where the root's own block does not fit where it receives it.
inline constexpr bool kScattervChecksOwnBlock = false;
/// libnbc's MPI_Ialltoallv and MPI_Ialltoallw look at counts, not at bytes, unlike the blocking forms.
inline constexpr bool kSendsElementsWithoutData = true;
/// Of two blocks for one process, which is the neighbour at both sides, libnbc sends first which the other expects last;
/// the blocking forms know which is which.
inline constexpr bool kSwapsBlocksOfOneNeighbor = true;

inline MPI_Datatype type_of_fortran(MPI_Fint handle) {
  static auto* const convert =
      reinterpret_cast<MPI_Datatype (*)(MPI_Fint)>(pmpi::next_symbol("PMPI_Type_f2c"));
  return convert(handle);
}

/// Whether `type` is valid and committed, by a check of MPI's own on `quiet`, which returns errors. (MPI_Pack_size takes
/// types that are not committed.)
inline bool is_committed(MPI_Datatype type, MPI_Comm quiet) {
  return pmpi::Send(nullptr, 0, type, MPI_PROC_NULL, 0, quiet) == MPI_SUCCESS;
}

}  // namespace nplus1::stubs::library
