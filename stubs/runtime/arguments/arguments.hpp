// Whether MPI would refuse a call's arguments. A call that MPI refuses is no event: nobody else takes part, and the
// program may make it again properly. So what MPI checks before it does anything is checked before the simulator is
// told, with MPI's own checks where it has some that do nothing else. Whatever is found, refuse() (guard.hpp) lets MPI
// report it. Any thread, with or without the runtime's lock; no error handler of the program's is ever called.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "stubs/guard/guard.hpp"
#include "stubs/runtime/arguments/address.hpp"
#include "stubs/runtime/arguments/own_block.hpp"

namespace nplus1::stubs {

/// Makes the communicator on whose own error handler the checks are made: once, in MPI_Init.
void begin_checks();
/// Before MPI_Finalize.
void end_checks();
/// A communicator of this process alone that nobody else knows, and that returns errors.
[[nodiscard]] MPI_Comm quiet_self();

/// Whether a type that MPI_Type_get_envelope says to be made by `combiner` is one of MPI's own (MPI 4.0, section 5.1.13).
[[nodiscard]] bool makes_named(int combiner);
/// One of MPI's own types, which nobody frees.
[[nodiscard]] bool is_named(MPI_Datatype type);
/// A datatype that may be communicated: valid and committed.
[[nodiscard]] bool usable(MPI_Datatype type);

/// `count` elements of `type` at `buffer`, where MPI_IN_PLACE has no meaning.
/// Where accesses are recorded, the call is known to touch it from here on (note_memory).
void check_data(const void* buffer, MPI_Count count, MPI_Datatype type, bool notes = true);
/// The call that is about to be made reads or writes this memory: told to who records accesses (accesses.hpp).
void note_memory(const void* buffer, MPI_Count count, MPI_Datatype type);
/// The same, `displacement` extents of the type behind `buffer`.
void note_block(const void* buffer, MPI_Count displacement, MPI_Count count, MPI_Datatype type);
/// The operation of a reduction of elements of `type`.
void check_operation(MPI_Datatype type, MPI_Op op);
/// A group's handle, by what the library's handles look like.
[[nodiscard]] bool is_group(MPI_Group group);

/// The blocks of a v-form: `n` of them at `buffer`, which may be MPI_BOTTOM, with displacements that are addresses, unless
/// MPI refuses that.
template <class C, class D>
void check_blocks(const void* buffer, const C counts[], const D displacements[], MPI_Datatype type,
                  std::size_t n, bool refuses_bottom = false) {
  refuse_if(n > 0 && (counts == nullptr || displacements == nullptr));
  MPI_Count most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    refuse_if(counts[i] < 0);
    if (counts[i] > most) most = counts[i];
  }
  const bool is_bottom = buffer == nullptr && !refuses_bottom;
  check_data(buffer, is_bottom ? 0 : most, type, false);
  for (std::size_t i = 0; i < n; ++i) {
    if (is_bottom) check_data(block_at(buffer, displacements[i], type), counts[i], type, false);
    note_block(buffer, displacements[i], counts[i], type);
  }
}

template <class C, class D>
void check_blocks(const void* buffer, const C counts[], const D displacements[], const MPI_Datatype types[],
                  std::size_t n, bool refuses_bottom = false) {
  refuse_if(n > 0 && (counts == nullptr || displacements == nullptr || types == nullptr));
  for (std::size_t i = 0; i < n; ++i) {
    refuse_if(counts[i] < 0);
    if (counts[i] == 0) continue;
    const std::byte* block = behind(buffer, displacements[i]);
    check_data(buffer == nullptr && !refuses_bottom ? block : buffer, counts[i], types[i], false);
    note_memory(block, counts[i], types[i]);
  }
}

}  // namespace nplus1::stubs
