// Opening and closing of files, and what is done to a file as a whole (MPI 4.0, sections 14.2, 14.3, 14.4.4, 14.6). What
// MPI says is collective, all members of the file wait for in virtual time, as in the making of a communicator; what asks
// the file system is then a request without bytes.
#include <cstring>
#include <string>

#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/collectives/collective.hpp"
#include "stubs/runtime/communicators/session_world.hpp"
#include "stubs/runtime/files/file_accesses.hpp"
#include "stubs/runtime/point_to_point.hpp"

namespace nplus1::stubs {
namespace {

using events::FileOperation;

constexpr std::uint64_t kFile = 0x66696c65;  // tells files from other things made of a communicator

/// As MPI says, before anybody else is asked.
bool is_mode(int mode) {
  const int ways = ((mode & MPI_MODE_RDONLY) != 0 ? 1 : 0) + ((mode & MPI_MODE_WRONLY) != 0 ? 1 : 0) +
                   ((mode & MPI_MODE_RDWR) != 0 ? 1 : 0);
  if (ways != 1) return false;
  if ((mode & MPI_MODE_RDONLY) != 0 && (mode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0) return false;
  return (mode & MPI_MODE_RDWR) == 0 || (mode & MPI_MODE_SEQUENTIAL) == 0;
}

void open_file(Call& call, Communicator& parent, MPI_File handle, const char* name, int mode) {
  std::shared_ptr<Communicator> comm = call.rt.communicators.make(parent.all, parent, kFile);
  comm->my_index = parent.my_index;
  comm->local = parent.local;
  call.rt.line.define(*comm);
  call.rt.files.add(handle, std::move(comm), mode);
  ask_storage(call, *call.rt.files.find(handle), FileOperation::kOpen, events::kCollectiveAccess,
              call.rt.line.region_id(name));
}

/// A view's types, as MPI checks them.
bool is_view(const File& file, MPI_Offset at, MPI_Datatype element, MPI_Datatype pattern,
             const char* representation) {
  if (at < 0 && !(at == MPI_DISPLACEMENT_CURRENT && file.has(MPI_MODE_SEQUENTIAL))) return false;
  if (!usable(element) || !usable(pattern) || representation == nullptr) return false;
  MPI_Count unit = 0;
  MPI_Count size = 0;
  pmpi::Type_size_x(element, &unit);
  pmpi::Type_size_x(pattern, &size);
  return unit > 0 && size % unit == 0 && file.split == kNoRequest &&
         std::strcmp(representation, "native") == 0;
}

void take_view(File& file, MPI_Datatype element, MPI_Datatype pattern) {
  MPI_Count size = 0;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  pmpi::Type_size_x(element, &file.unit);
  pmpi::Type_size_x(pattern, &size);
  pmpi::Type_get_extent_x(pattern, &lower, &extent);
  if (file.unit <= 0) file.unit = 1;
  file.scattered = size != extent || lower != 0;
  file.ordered = 0;
}

/// A collective call on the file as a whole; `asks`: the file system, too.
int together(MPI_File handle, bool asks, const std::function<bool(const File&)>& is_legal,
             const std::function<int()>& native, const std::function<void(File&)>& done = {}) {
  File* file = find_file(handle);
  if (file == nullptr) return pass_file_call(native);
  Call call;
  const int code = meet(call, *file, is_legal(*file), native);
  if (code != MPI_SUCCESS) return code;
  if (done) done(*file);
  if (asks) ask_storage(call, *file, FileOperation::kMetadata, events::kCollectiveAccess);
  return code;
}

/// By one rank, of what the file system knows.
int alone(MPI_File handle, const std::function<int()>& native) {
  const File* file = find_file(handle);
  if (file == nullptr) return pass_file_call(native);
  Call call;
  const int code = natively(call, native);
  if (code != MPI_SUCCESS) return code;
  call_has_begun();
  ask_storage(call, *file, FileOperation::kMetadata, 0);
  return code;
}

bool is_writable(const File& file) {
  return !file.has(MPI_MODE_RDONLY);
}

}  // namespace

namespace handlers {

int File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  Communicator* known = communicator(comm);
  const auto create = [&] { return pmpi::File_open(comm, name, mode, info, file); };
  if (known == nullptr || known->inter) return pass_file_call(create);
  refuse_if(name == nullptr || file == nullptr || !is_mode(mode));
  Call call;
  // What fails although all have come is made again without them.
  const bool owed = known->owed_creations > 0;
  if (owed) --known->owed_creations;
  bool told = true;
  const auto make = [&] { return natively(call, create); };
  const int code = owed ? make() : synchronize(call, *known, make, &told);
  if (code == MPI_SUCCESS)
    open_file(call, *known, *file, name, mode);
  else if (told)
    ++known->owed_creations;
  return code;
}

int File_close(MPI_File* file) {
  File* known = file == nullptr ? nullptr : find_file(*file);
  const auto native = [&] { return pmpi::File_close(file); };
  if (known == nullptr) return pass_file_call(native);
  const MPI_File handle = *file;
  Call call;
  const int code = meet(call, *known, known->split == kNoRequest, native);
  if (code != MPI_SUCCESS) return code;
  ask_storage(call, *known, FileOperation::kClose, events::kCollectiveAccess);
  call.rt.files.forget(handle);
  return code;
}

int File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype element, MPI_Datatype pattern,
                  const char* representation, MPI_Info info) {
  return together(
      file, false, [&](const File& known) { return is_view(known, at, element, pattern, representation); },
      [&] { return pmpi::File_set_view(file, at, element, pattern, representation, info); },
      [&](File& known) { take_view(known, element, pattern); });
}

int File_set_size(MPI_File file, MPI_Offset size) {
  return together(
      file, true, [&](const File& known) { return size >= 0 && is_writable(known); },
      [&] { return pmpi::File_set_size(file, size); });
}

int File_preallocate(MPI_File file, MPI_Offset size) {
  return together(
      file, true, [&](const File& known) { return size >= 0 && is_writable(known); },
      [&] { return pmpi::File_preallocate(file, size); });
}

int File_sync(MPI_File file) {
  return together(file, true, is_writable, [&] { return pmpi::File_sync(file); });
}

int File_seek_shared(MPI_File file, MPI_Offset offset, int whence) {
  return together(
      file, true,
      [&](const File& known) {
        const bool from = whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END;
        return from && (offset >= 0 || whence != MPI_SEEK_SET) && !known.has(MPI_MODE_SEQUENTIAL);
      },
      [&] { return pmpi::File_seek_shared(file, offset, whence); },
      [&](File& known) {
        if (whence == MPI_SEEK_SET) known.ordered = offset * known.unit;
      });
}

int File_set_atomicity(MPI_File file, int flag) {
  return together(
      file, false, [](const File&) { return true; }, [&] { return pmpi::File_set_atomicity(file, flag); });
}

int File_set_info(MPI_File file, MPI_Info info) {
  return together(
      file, false, [&](const File&) { return info != MPI_INFO_NULL; },
      [&] { return pmpi::File_set_info(file, info); });
}

int File_get_size(MPI_File file, MPI_Offset* size) {
  return alone(file, [&] { return pmpi::File_get_size(file, size); });
}

int File_get_position_shared(MPI_File file, MPI_Offset* offset) {
  return alone(file, [&] { return pmpi::File_get_position_shared(file, offset); });
}

/// Of no file that is open: on the process's own communicator.
int File_delete(const char* name, MPI_Info info) {
  const auto native = [&] { return pmpi::File_delete(name, info); };
  const Communicator* self = communicator(world_of_one());
  if (self == nullptr) return pass_file_call(native);
  Call call;
  const int code = natively(call, native);
  if (code != MPI_SUCCESS) return code;
  call_has_begun();
  File nothing;
  nothing.comm = call.rt.communicators.find(world_of_one())->shared_from_this();
  ask_storage(call, nothing, FileOperation::kMetadata, 0);
  return code;
}

}  // namespace handlers
}  // namespace nplus1::stubs
