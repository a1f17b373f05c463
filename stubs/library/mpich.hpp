// MPICH 4: handles are numbers whose upper bits say what they are made of, and of what kind the object is.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "stubs/pmpi.hpp"

namespace nplus1::stubs::library {

/// MPICH finishes a send of so many bytes without its receiver.
inline constexpr MPI_Count kNativeEager = 8192;
/// Hydra says there how many processes of the job it started on this host.
inline constexpr const char* kRanksHere = "MPI_LOCALNRANKS";

/// Counts and displacements of a native collective that carries another.
using Count = MPI_Count;
using Displacement = MPI_Aint;

constexpr unsigned kBuiltin = 1;
constexpr unsigned kGroup = 2;
inline unsigned storage_of(int handle) {
  return static_cast<unsigned>(handle) >> 30U;
}
inline unsigned kind_of(int handle) {
  return static_cast<unsigned>(handle) >> 26U & 0xfU;
}

/// One of MPI's own types or operations: such a handle is never given to another.
inline bool is_builtin(int type_or_operation) {
  return storage_of(type_or_operation) == kBuiltin;
}
/// A number for a pair of builtin handles.
inline std::uint64_t number_of_pair(MPI_Datatype type, MPI_Op op) {
  return std::uint64_t{static_cast<unsigned>(type)} << 32U | static_cast<unsigned>(op);
}
inline bool is_group(MPI_Group group) {
  return group != MPI_GROUP_NULL && storage_of(group) != 0 && kind_of(group) == kGroup;
}
/// MPICH's builtin requests stand for any operation that was complete when it was started.
inline bool is_shared(MPI_Request handle) {
  return storage_of(handle) == kBuiltin;
}
/// An error: MPI_STATUSES_IGNORE is another address.
inline bool lacks_statuses(const MPI_Status* statuses) {
  return statuses == nullptr;
}
/// A handle that the program may hold and MPICH neither knows nor ever gives out, not even while hundreds of thousands
/// of its own are in use: what is stored as MPI_REQUEST_NULL is ("nowhere"), with a number. `n` from 1, below 2^26.
inline MPI_Request handle_of_ours(std::uint32_t n, MPI_Comm) {
  return MPI_REQUEST_NULL + static_cast<MPI_Request>(n);
}
inline bool is_handle_of_ours(MPI_Request handle) {
  return storage_of(handle) == storage_of(MPI_REQUEST_NULL) && handle > MPI_REQUEST_NULL;
}
/// What MPI_Comm_split_type takes, besides MPI_UNDEFINED.
inline bool is_split_type(int type) {
  return type == MPI_COMM_TYPE_SHARED || type == MPI_COMM_TYPE_HW_GUIDED ||
         type == MPI_COMM_TYPE_HW_UNGUIDED || type == MPIX_COMM_TYPE_NEIGHBORHOOD;
}
/// Whether an error of a single message is reported at its communicator by MPI_Wait: MPICH's requests do not know it.
inline constexpr bool kMessagesKnowTheirCommunicator = false;
/// A communicator that is freed lives until the collectives on it that were begun have ended (MPI 4.0, section 7.4.3).
inline constexpr bool kFreedCommunicatorsOutliveCollectives = true;
/// Whoever was rung for a message finds it: between ranks of one host UCX has put it into memory of both.
inline constexpr bool kMessagesMayFollowTheirBell = false;
/// Whether MPI's own exchanges send elements that have no data.
inline constexpr bool kSendsElementsWithoutData = false;
/// Whether non-blocking reductions combine in another order than blocking ones, which can be seen where sums are rounded.
inline constexpr bool kNonBlockingFormsReduceOtherwise = false;
/// Whether MPI_Alltoallv and MPI_Alltoallw, and these alone of the forms with displacements, refuse MPI_BOTTOM with types that
/// don't hold the addresses.
inline constexpr bool kExchangesRefuseBottom = true;
/// Whether MPI_Scatterv returns an error where the root's own block does not fit where it receives it.
inline constexpr bool kScattervChecksOwnBlock = true;
/// Whether MPI's own neighbourhood exchanges take one neighbour's blocks for the other's where both are one process.
inline constexpr bool kSwapsBlocksOfOneNeighbor = false;

inline MPI_Datatype type_of_fortran(MPI_Fint handle) {
  return MPI_Type_f2c(handle);
}

/// Whether `type` is valid and committed, by a check of MPI's own on `quiet`, which returns errors.
inline bool is_committed(MPI_Datatype type, MPI_Comm quiet) {
  int size = 0;
  return pmpi::Pack_size(1, type, quiet, &size) == MPI_SUCCESS;
}

}  // namespace nplus1::stubs::library
