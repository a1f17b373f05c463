// One read or write of a file, whatever its form: where it begins, what it moves, and how the simulator is told. The
// handlers (file_access_handlers.cpp) describe the call once. docs/files.md has the rules.
//
// In handlers, without the runtime's lock. Never fail: MPI's code is returned as it is.
#pragma once

#include <mpi.h>

#include <functional>

#include "events/event.hpp"
#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {

struct FileAccess {
  /// Whose pointer says where the access begins.
  enum class Pointer : std::uint8_t {
    kExplicit,
    kIndividual,
    kShared,
    kOrdered,  // the shared one, by rank
  };

  MPI_File file{};
  events::FileOperation what{};
  Pointer pointer{};
  MPI_Offset offset = 0;  // kExplicit: in elementary types of the view
  Payload data;
};

/// Null for a file that the simulator was not told of. Takes the runtime's lock.
[[nodiscard]] File* find_file(MPI_File handle);

/// A request to the storage without bytes, and its virtual end; `manner`: events::FileManner.
void ask_storage(Call& call, const File& file, events::FileOperation what, std::int32_t manner,
                 std::uint64_t number = 0);
/// The call's members wait for each other; `legal`: as far as is known MPI takes the call. Otherwise it is asked first, and
/// nobody is told of what it refuses. MPI's code.
int meet(Call& call, const File& file, bool legal, const std::function<int()>& native);
/// Runs MPI's own function, with the lock released; what it reads and writes is not the program's own (SystemIo).
int natively(Call& call, const std::function<int()>& native);
/// Runs a call that is not modelled.
int pass_file_call(const std::function<int()>& native);

using NativeAccess = std::function<int(MPI_Status*)>;
using NativeStart = std::function<int(MPI_Request*)>;

/// MPI_File_read and its like: by one rank, and by all of the file's together.
int access_alone(const FileAccess& access, MPI_Status* status, const NativeAccess& native);
int access_together(const FileAccess& access, MPI_Status* status, const NativeAccess& native);
/// Those that do not block.
int start_alone(const FileAccess& access, MPI_Request* request, const NativeStart& native);
int start_together(const FileAccess& access, MPI_Request* request, const NativeStart& native);
/// Split collectives.
int begin_together(const FileAccess& access, const std::function<int()>& native);
int end_together(MPI_File file, MPI_Status* status, const NativeAccess& native);

}  // namespace nplus1::stubs
