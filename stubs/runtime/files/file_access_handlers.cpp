// Every form of MPI_File_read and MPI_File_write (MPI 4.0, section 14.4), as a description of one access.
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/files/file_accesses.hpp"

namespace nplus1::stubs::handlers {

using events::FileOperation;
using Pointer = FileAccess::Pointer;

#define NPLUS1_BLOCKING(Name, C, WHAT, BUFFER, POINTER, AT, GIVEN, OFFSET, WHO)               \
  int Name(MPI_File file, AT BUFFER buffer, C count, MPI_Datatype type, MPI_Status* status) { \
    return access_##WHO(                                                                      \
        {file, FileOperation::WHAT, Pointer::POINTER, OFFSET, {buffer, count, type}}, status, \
        [&](MPI_Status* told) { return pmpi::Name(file, GIVEN buffer, count, type, told); }); \
  }
#define NPLUS1_STARTING(Name, C, WHAT, BUFFER, POINTER, AT, GIVEN, OFFSET, WHO)                 \
  int Name(MPI_File file, AT BUFFER buffer, C count, MPI_Datatype type, MPI_Request* request) { \
    return start_##WHO(                                                                         \
        {file, FileOperation::WHAT, Pointer::POINTER, OFFSET, {buffer, count, type}}, request,  \
        [&](MPI_Request* made) { return pmpi::Name(file, GIVEN buffer, count, type, made); });  \
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
#include "stubs/table/file_forms.inc"

}  // namespace nplus1::stubs::handlers
