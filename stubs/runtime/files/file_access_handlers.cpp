// Every form of MPI_File_read and MPI_File_write (MPI 4.0, section 14.4), as a description of one access.
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/files/file_accesses.hpp"

namespace nplus1::stubs::handlers {

using events::FileOperation;
using Pointer = FileAccess::Pointer;

// NAME and what it is called without "File_"; BUFFER: how its buffer is passed; AT, GIVEN and OFFSET: its offset as
// parameter, as argument, and as it is told, if it has one.
#define NPLUS1_BLOCKING(Name, C, WHAT, BUFFER, POINTER, AT, GIVEN, OFFSET, WAY)                      \
  int Name(MPI_File file, AT BUFFER buffer, C count, MPI_Datatype type, MPI_Status* status) {        \
    return WAY({file, FileOperation::WHAT, Pointer::POINTER, OFFSET, {buffer, count, type}}, status, \
               [&](MPI_Status* told) { return pmpi::Name(file, GIVEN buffer, count, type, told); }); \
  }
#define NPLUS1_STARTING(Name, C, WHAT, BUFFER, POINTER, AT, GIVEN, OFFSET, WAY)                       \
  int Name(MPI_File file, AT BUFFER buffer, C count, MPI_Datatype type, MPI_Request* request) {       \
    return WAY({file, FileOperation::WHAT, Pointer::POINTER, OFFSET, {buffer, count, type}}, request, \
               [&](MPI_Request* made) { return pmpi::Name(file, GIVEN buffer, count, type, made); }); \
  }
#define NPLUS1_BEGINNING(Name, C, WHAT, BUFFER, POINTER, AT, GIVEN, OFFSET)                             \
  int Name(MPI_File file, AT BUFFER buffer, C count, MPI_Datatype type) {                               \
    return begin_together({file, FileOperation::WHAT, Pointer::POINTER, OFFSET, {buffer, count, type}}, \
                          [&] { return pmpi::Name(file, GIVEN buffer, count, type); });                 \
  }
#define NPLUS1_ENDING(Name, BUFFER)                                                                      \
  int Name(MPI_File file, BUFFER buffer, MPI_Status* status) {                                           \
    return end_together(file, status, [&](MPI_Status* told) { return pmpi::Name(file, buffer, told); }); \
  }
#define NPLUS1_AT MPI_Offset offset,
#define NPLUS1_GIVEN offset,
#define NPLUS1_NONE
#define NPLUS1_FORMS(x, C, WHAT, BUFFER)                                                                    \
  NPLUS1_BLOCKING(File_##x, C, WHAT, BUFFER, kIndividual, NPLUS1_NONE, NPLUS1_NONE, 0, access_alone)        \
  NPLUS1_BLOCKING(File_##x##_at, C, WHAT, BUFFER, kExplicit, NPLUS1_AT, NPLUS1_GIVEN, offset, access_alone) \
  NPLUS1_BLOCKING(File_##x##_shared, C, WHAT, BUFFER, kShared, NPLUS1_NONE, NPLUS1_NONE, 0, access_alone)   \
  NPLUS1_BLOCKING(File_##x##_all, C, WHAT, BUFFER, kIndividual, NPLUS1_NONE, NPLUS1_NONE, 0,                \
                  access_together)                                                                          \
  NPLUS1_BLOCKING(File_##x##_at_all, C, WHAT, BUFFER, kExplicit, NPLUS1_AT, NPLUS1_GIVEN, offset,           \
                  access_together)                                                                          \
  NPLUS1_BLOCKING(File_##x##_ordered, C, WHAT, BUFFER, kOrdered, NPLUS1_NONE, NPLUS1_NONE, 0,               \
                  access_together)                                                                          \
  NPLUS1_STARTING(File_i##x, C, WHAT, BUFFER, kIndividual, NPLUS1_NONE, NPLUS1_NONE, 0, start_alone)        \
  NPLUS1_STARTING(File_i##x##_at, C, WHAT, BUFFER, kExplicit, NPLUS1_AT, NPLUS1_GIVEN, offset, start_alone) \
  NPLUS1_STARTING(File_i##x##_shared, C, WHAT, BUFFER, kShared, NPLUS1_NONE, NPLUS1_NONE, 0, start_alone)   \
  NPLUS1_STARTING(File_i##x##_all, C, WHAT, BUFFER, kIndividual, NPLUS1_NONE, NPLUS1_NONE, 0,               \
                  start_together)                                                                           \
  NPLUS1_STARTING(File_i##x##_at_all, C, WHAT, BUFFER, kExplicit, NPLUS1_AT, NPLUS1_GIVEN, offset,          \
                  start_together)                                                                           \
  NPLUS1_BEGINNING(File_##x##_all_begin, C, WHAT, BUFFER, kIndividual, NPLUS1_NONE, NPLUS1_NONE, 0)         \
  NPLUS1_BEGINNING(File_##x##_at_all_begin, C, WHAT, BUFFER, kExplicit, NPLUS1_AT, NPLUS1_GIVEN, offset)    \
  NPLUS1_BEGINNING(File_##x##_ordered_begin, C, WHAT, BUFFER, kOrdered, NPLUS1_NONE, NPLUS1_NONE, 0)

NPLUS1_FORMS(read, int, kRead, void*)
NPLUS1_FORMS(read, MPI_Count, kRead, void*)
NPLUS1_FORMS(write, int, kWrite, const void*)
NPLUS1_FORMS(write, MPI_Count, kWrite, const void*)
NPLUS1_ENDING(File_read_all_end, void*)
NPLUS1_ENDING(File_read_at_all_end, void*)
NPLUS1_ENDING(File_read_ordered_end, void*)
NPLUS1_ENDING(File_write_all_end, const void*)
NPLUS1_ENDING(File_write_at_all_end, const void*)
NPLUS1_ENDING(File_write_ordered_end, const void*)

#undef NPLUS1_FORMS
#undef NPLUS1_NONE
#undef NPLUS1_GIVEN
#undef NPLUS1_AT
#undef NPLUS1_ENDING
#undef NPLUS1_BEGINNING
#undef NPLUS1_STARTING
#undef NPLUS1_BLOCKING

}  // namespace nplus1::stubs::handlers
