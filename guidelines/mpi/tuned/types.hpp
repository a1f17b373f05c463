// Which buffers are the bytes that they count, in their order, so that they can be moved as bytes. Any thread; valid types only.
#pragma once

#include <mpi.h>

namespace nplus1::guidelines::tuned {

/// True where elements do not follow each other at once: a lower bound, or an extent that is not the size.
[[nodiscard]] bool has_gaps(MPI_Datatype type);

[[nodiscard]] bool is_predefined(MPI_Datatype type);

/// Elements of a predefined type without gaps, any number of them. Other types may have their elements in another order, or
/// interleaved, although extent and size are the same.
[[nodiscard]] bool in_a_row(MPI_Datatype type);

/// MPI_Pack and MPI_Unpack of all `size` bytes, also at MPI_BOTTOM, which MPICH's refuse.
void pack(const void* buffer, int count, MPI_Datatype type, char* bytes, int size, MPI_Comm comm);
void unpack(const char* bytes, int size, void* buffer, int count, MPI_Datatype type, MPI_Comm comm);

}  // namespace nplus1::guidelines::tuned
