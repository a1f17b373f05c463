// MPI-IO: made unchanged, and counted where MPI has accepted it, by call site, as mpiP does (and by size): blocking accesses
// with what they moved, the others with what they ask for when they start, since what completes them names no file.
#include "events/statistics/page.hpp"
#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/statistics/scope.hpp"

namespace nplus1::stubs {
namespace {

using statistics::bytes_of;
using statistics::Scope;

/// Functions that move nothing. `counts`: as one more file opened.
template <class Native>
int plain(bool counts, Native&& native) {
  Scope scope;
  scope.publish();
  const int code = native();
  if (counts && code == MPI_SUCCESS) guarded([&] { scope.opened(); });
  return code;
}

/// Bytes that the status tells of; those asked for where it tells nothing.
std::int64_t moved(const MPI_Status& status, MPI_Count asked, MPI_Datatype type) {
  MPI_Count bytes = 0;
  if (pmpi::Get_elements_x(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes >= 0) return bytes;
  return bytes_of(asked, type);
}

template <class Native>
int access(std::uint64_t layer, MPI_Count count, MPI_Datatype type, MPI_Status* status, Native&& native) {
  Scope scope;
  scope.publish();
  MPI_Status own;
  MPI_Status* const told = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = native(told);
  if (code == MPI_SUCCESS) guarded([&] { scope.accessed(layer, moved(*told, count, type)); });
  return code;
}

template <class Native>
int start(std::uint64_t layer, MPI_Count count, MPI_Datatype type, Native&& native) {
  Scope scope;
  scope.publish();
  const int code = native();
  if (code == MPI_SUCCESS) guarded([&] { scope.accessed(layer, bytes_of(count, type)); });
  return code;
}

constexpr std::uint64_t kRead = events::statistics::kReadLayer, kWrite = events::statistics::kWriteLayer;

}  // namespace

namespace handlers {

#define NPLUS1_BLOCKING(Name, C, LAYER, BUFFER, POINTER, AT, GIVEN, OFFSET, WHO)                        \
  int Name(MPI_File file, AT BUFFER buffer, C count, MPI_Datatype type, MPI_Status* status) {           \
    return access(LAYER, count, type, status,                                                           \
                  [=](MPI_Status* told) { return pmpi::Name(file, GIVEN buffer, count, type, told); }); \
  }
#define NPLUS1_STARTING(Name, C, LAYER, BUFFER, POINTER, AT, GIVEN, OFFSET, WHO)                            \
  int Name(MPI_File file, AT BUFFER buffer, C count, MPI_Datatype type, MPI_Request* request) {             \
    return start(LAYER, count, type, [=] { return pmpi::Name(file, GIVEN buffer, count, type, request); }); \
  }
#define NPLUS1_BEGINNING(Name, C, LAYER, BUFFER, POINTER, AT, GIVEN, OFFSET)                       \
  int Name(MPI_File file, AT BUFFER buffer, C count, MPI_Datatype type) {                          \
    return start(LAYER, count, type, [=] { return pmpi::Name(file, GIVEN buffer, count, type); }); \
  }
#define NPLUS1_ENDING(Name, BUFFER)                                        \
  int Name(MPI_File file, BUFFER buffer, MPI_Status* status) {             \
    return plain(false, [=] { return pmpi::Name(file, buffer, status); }); \
  }
#include "stubs/table/file_forms.inc"

int File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  return plain(true, [=] { return pmpi::File_open(comm, name, mode, info, file); });
}
int File_close(MPI_File* file) {
  return plain(false, [=] { return pmpi::File_close(file); });
}
int File_delete(const char* name, MPI_Info info) {
  return plain(false, [=] { return pmpi::File_delete(name, info); });
}
int File_set_size(MPI_File file, MPI_Offset size) {
  return plain(false, [=] { return pmpi::File_set_size(file, size); });
}
int File_preallocate(MPI_File file, MPI_Offset size) {
  return plain(false, [=] { return pmpi::File_preallocate(file, size); });
}
int File_get_size(MPI_File file, MPI_Offset* size) {
  return plain(false, [=] { return pmpi::File_get_size(file, size); });
}
int File_set_info(MPI_File file, MPI_Info info) {
  return plain(false, [=] { return pmpi::File_set_info(file, info); });
}
int File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype element, MPI_Datatype pattern,
                  const char* representation, MPI_Info info) {
  return plain(false, [=] { return pmpi::File_set_view(file, at, element, pattern, representation, info); });
}
int File_seek_shared(MPI_File file, MPI_Offset offset, int whence) {
  return plain(false, [=] { return pmpi::File_seek_shared(file, offset, whence); });
}
int File_get_position_shared(MPI_File file, MPI_Offset* offset) {
  return plain(false, [=] { return pmpi::File_get_position_shared(file, offset); });
}
int File_set_atomicity(MPI_File file, int flag) {
  return plain(false, [=] { return pmpi::File_set_atomicity(file, flag); });
}
int File_sync(MPI_File file) {
  return plain(false, [=] { return pmpi::File_sync(file); });
}

}  // namespace handlers
}  // namespace nplus1::stubs
