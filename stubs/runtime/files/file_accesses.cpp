// MPI is asked first where one rank moves data, so that the simulator is told what was moved, and nothing of what MPI
// refuses. What waits natively for others has been told before: the members have met in virtual time when each tells of its
// own bytes. By the shared pointer MPI moves in the order of virtual time: who has the turn keeps it until it tells of its
// bytes, because nothing later is decided before.
#include "stubs/runtime/files/file_accesses.hpp"

#include <algorithm>

#include "stubs/pmpi.hpp"
#include "stubs/runtime/arguments/arguments.hpp"
#include "stubs/runtime/arguments/private_copy.hpp"
#include "stubs/runtime/collectives/collective.hpp"
#include "stubs/runtime/completion/completion.hpp"
#include "stubs/runtime/hooks/error_hook.hpp"
#include "stubs/table/unmodelled.hpp"

namespace nplus1::stubs {
namespace {

using events::FileOperation;
using Pointer = FileAccess::Pointer;

events::Event event_of(const File& file, FileOperation what, std::int32_t manner) {
  events::Event event;
  event.kind = events::EventKind::kFileAccess;
  event.operation = static_cast<std::uint8_t>(what);
  event.comm = file.comm->number;
  event.peer = -1;
  event.tag = manner;
  return event;
}

/// What MPI looks at before it waits for anybody: as ROMIO does.
bool is_legal(const File& file, const FileAccess& access) {
  const bool writes = access.what == FileOperation::kWrite;
  if (file.has(writes ? MPI_MODE_RDONLY : MPI_MODE_WRONLY)) return false;
  const bool shared = access.pointer == Pointer::kShared || access.pointer == Pointer::kOrdered;
  if (!shared && file.has(MPI_MODE_SEQUENTIAL)) return false;
  if (access.pointer == Pointer::kExplicit && access.offset < 0) return false;
  if (access.data.count < 0 || !usable(access.data.type)) return false;
  return file.split == kNoRequest && payload_bytes(access.data.count, access.data.type) % file.unit == 0;
}

MPI_Offset byte_offset(MPI_File handle, MPI_Offset at) {
  MPI_Offset bytes = 0;
  return pmpi::File_get_byte_offset(handle, at, &bytes) == MPI_SUCCESS ? std::max<MPI_Offset>(0, bytes) : 0;
}

/// The first byte in the file. Only for calls that are legal, so that none of these reports an error.
MPI_Offset first_byte(const File& file, const FileAccess& access) {
  MPI_Offset at = access.offset;
  switch (access.pointer) {
    case Pointer::kExplicit:
      break;
    case Pointer::kIndividual:
      if (pmpi::File_get_position(access.file, &at) != MPI_SUCCESS) return 0;
      break;
    case Pointer::kShared:
      if (file.has(MPI_MODE_SEQUENTIAL)) return 0;  // nobody may ask
      if (pmpi::File_get_position_shared(access.file, &at) != MPI_SUCCESS) return 0;
      break;
    case Pointer::kOrdered:
      if (file.has(MPI_MODE_SEQUENTIAL)) return 0;
      at = (file.ordered + file.comm->my_index * payload_bytes(access.data.count, access.data.type)) /
           file.unit;
      break;
  }
  return byte_offset(access.file, at);
}

/// What will be moved, of an access whose end is not known yet: reads end with the file.
MPI_Count expected_bytes(const File& file, const FileAccess& access, MPI_Offset first) {
  const MPI_Count asked = payload_bytes(access.data.count, access.data.type);
  if (access.what != FileOperation::kRead || file.has(MPI_MODE_SEQUENTIAL)) return asked;
  MPI_Offset size = 0;
  if (pmpi::File_get_size(access.file, &size) != MPI_SUCCESS) return asked;
  const MPI_Count there = std::max<MPI_Count>(0, size - first);
  return file.scattered && there > 0 ? asked : std::min(asked, there);
}

MPI_Count moved_bytes(const FileAccess& access, const MPI_Status& status) {
  MPI_Count bytes = 0;
  if (pmpi::Get_elements_x(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes >= 0) return bytes;
  return payload_bytes(access.data.count, access.data.type);
}

std::int32_t manner_of(const File& file, const FileAccess& access) {
  std::int32_t manner = file.scattered ? events::kScatteredAccess : 0;
  if (access.pointer == Pointer::kShared) manner |= events::kInTurn;
  return manner;
}

void tell(Call& call, const File& file, const FileAccess& access, MPI_Offset first, MPI_Count bytes,
          std::int32_t manner, RequestId request) {
  call_has_begun();
  events::Event event = event_of(file, access.what, manner | manner_of(file, access));
  event.size = bytes;
  event.aux = static_cast<std::uint64_t>(first);
  event.request = request;
  if (request == kNoRequest) event.flags = events::kNeedsAnswer;
  const CallData data{access.data};
  call.emit(event, nullptr, &data);
}

void await_end(Call& call) {
  if (const auto answer = call.await_answer()) call.exit_at(answer->exit());
}

/// Waits until nobody can use the shared pointer before this rank.
void take_turn(Call& call, const File& file) {
  if (const auto answer = call.ask(event_of(file, FileOperation::kTurn, events::kInTurn)))
    call.exit_at(answer->exit());
}

/// All members' accesses together, if they are alike.
void move_ordered(File& file, const FileAccess& access) {
  if (access.pointer == Pointer::kOrdered)
    file.ordered += file.comm->members() * payload_bytes(access.data.count, access.data.type);
}

std::unique_ptr<Request> make_request(Call& call, MPI_Request native) {
  std::unique_ptr<Request> made = call.rt.requests.make();
  made->kind = RequestKind::kFile;
  made->id = call.rt.messages.next_request_id();
  made->active = true;
  made->peer = kAnySource;
  made->native = native;
  return made;
}

int start(const FileAccess& access, MPI_Request* request, std::int32_t manner, const NativeStart& native) {
  const File* file = find_file(access.file);
  if (file == nullptr) return pass_file_call([&] { return native(request); });
  Call call;
  call.rt.vain_looks.expect_others();  // a disk may end the wait for it
  const bool legal = is_legal(*file, access);
  if (legal && access.pointer == Pointer::kShared) take_turn(call, *file);
  const MPI_Offset first = legal ? first_byte(*file, access) : 0;
  const MPI_Count bytes =
      legal ? expected_bytes(*file, access, first) : payload_bytes(access.data.count, access.data.type);
  const auto kind = access.what == FileOperation::kRead ? SystemIo::kBytesRead : SystemIo::kBytesWritten;
  const int code = call.rt.system_io.leave_out_started(kind, static_cast<std::uint64_t>(bytes), [&] {
    return call.unlocked([&] { return native(request); });
  });
  if (code != MPI_SUCCESS) return code;
  call_has_begun();
  std::unique_ptr<Request> made = make_request(call, *request);
  tell(call, *file, access, first, bytes, manner, made->id);
  call.exit_at(call.entry());
  call.rt.requests.insert(*request, std::move(made));
  return code;
}

}  // namespace

File* find_file(MPI_File handle) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  return rt.files.find(handle);
}

int natively(Call& call, const std::function<int()>& native) {
  return call.rt.system_io.leave_out([&] { return call.unlocked(native); });
}

int pass_file_call(const std::function<int()>& native) {
  const UnmodelledScope scope{current_call()};
  return native();
}

void ask_storage(Call& call, const File& file, FileOperation what, std::int32_t manner,
                 std::uint64_t number) {
  events::Event event = event_of(file, what, manner);
  event.aux = number;
  if (const auto answer = call.ask(event)) call.exit_at(answer->exit());
}

int meet(Call& call, const File& file, bool legal, const std::function<int()>& native) {
  if (legal) return synchronize(call, *file.comm, [&] { return natively(call, native); });
  const int code = natively(call, native);
  if (code != MPI_SUCCESS) return code;
  return synchronize(call, *file.comm, [] { return MPI_SUCCESS; });
}

int access_alone(const FileAccess& access, MPI_Status* status, const NativeAccess& native) {
  const File* file = find_file(access.file);
  if (file == nullptr) return pass_file_call([&] { return native(status); });
  Call call;
  const bool legal = is_legal(*file, access);
  if (legal && access.pointer == Pointer::kShared) take_turn(call, *file);
  const MPI_Offset first = legal ? first_byte(*file, access) : 0;
  MPI_Status own;
  MPI_Status* const told = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = natively(call, [&] { return native(told); });
  if (code != MPI_SUCCESS) return code;
  tell(call, *file, access, first, moved_bytes(access, *told), 0, kNoRequest);
  await_end(call);
  return code;
}

int access_together(const FileAccess& access, MPI_Status* status, const NativeAccess& native) {
  File* file = find_file(access.file);
  if (file == nullptr) return pass_file_call([&] { return native(status); });
  Call call;
  const bool legal = is_legal(*file, access);
  const MPI_Offset first = legal ? first_byte(*file, access) : 0;
  MPI_Status own;
  MPI_Status* const told = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = meet(call, *file, legal, [&] { return native(told); });
  if (code != MPI_SUCCESS) return code;
  move_ordered(*file, access);
  // ROMIO's status counts what was asked for, also beyond the end of the file.
  const MPI_Count bytes = legal ? std::min(moved_bytes(access, *told), expected_bytes(*file, access, first))
                                : moved_bytes(access, *told);
  tell(call, *file, access, first, bytes, events::kCollectiveAccess, kNoRequest);
  await_end(call);
  return code;
}

int start_alone(const FileAccess& access, MPI_Request* request, const NativeStart& native) {
  return start(access, request, 0, native);
}

int start_together(const FileAccess& access, MPI_Request* request, const NativeStart& native) {
  return start(access, request, events::kCollectiveAccess | events::kMeetFirst, native);
}

/// MPI may do all of it where it begins, and wait for others there: so the members meet there in virtual time, too. What
/// follows goes on by itself.
int begin_together(const FileAccess& access, const std::function<int()>& native) {
  File* file = find_file(access.file);
  if (file == nullptr) return pass_file_call(native);
  Call call;
  call.rt.vain_looks.expect_others();
  const bool legal = is_legal(*file, access);
  const MPI_Offset first = legal ? first_byte(*file, access) : 0;
  const MPI_Count bytes = legal ? expected_bytes(*file, access, first) : 0;
  const int code = meet(call, *file, legal, native);
  if (code != MPI_SUCCESS) return code;
  move_ordered(*file, access);
  file->split = call.rt.messages.next_request_id();
  tell(call, *file, access, first, bytes, events::kCollectiveAccess, file->split);
  call.exit_at(call.entry());
  return code;
}

int end_together(MPI_File handle, MPI_Status* status, const NativeAccess& native) {
  File* file = find_file(handle);
  if (file == nullptr) return pass_file_call([&] { return native(status); });
  Call call;
  const int code = natively(call, [&] { return native(status); });
  if (file->split == kNoRequest) return code;
  call_has_begun();
  Request begun;
  begun.id = std::exchange(file->split, kNoRequest);
  Request* const one[] = {&begun};
  std::vector<std::uint32_t> slots;
  const events::Event event =
      completion_event(events::EventKind::kWait, events::CompletionMode::kAll, one, slots);
  if (const auto answer = call.ask(event, slots.data())) call.exit_at(answer->exit());
  return code;
}

}  // namespace nplus1::stubs
