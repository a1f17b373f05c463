// Calls that matter to a recording only: MPI_Pcontrol (MPI 4.0, section 14.2.4) and MPI_Type_free.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <optional>

#include "stubs/handlers.hpp"
#include "stubs/pmpi.hpp"
#include "stubs/runtime/accesses.hpp"
#include "stubs/runtime/regions.hpp"
#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {
namespace {

constexpr std::size_t kLongestName = 256;

/// The text at `address`; nothing if no text is there. Whether an argument was passed at all only the
/// application knows, so the kernel reads it: it refuses bad addresses.
std::optional<std::string> text_at(const char* address) {
  int ends[2];
  if (address == nullptr || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  char text[kLongestName] = {};
  std::size_t length = 0;
  while (length + 1 < sizeof(text) && ::write(ends[1], address + length, 1) == 1 &&
         ::read(ends[0], text + length, 1) == 1 && text[length] != '\0')
    ++length;
  ::close(ends[0]);
  ::close(ends[1]);
  if (length == 0 || length + 1 == sizeof(text)) return std::nullopt;
  return std::string{text, length};
}

bool is_readable(const std::string& name) {
  for (const char c : name)
    if (static_cast<unsigned char>(c) < ' ') return false;
  return true;
}

/// As IPM has it: (1, "name") begins the region, (-1, "name") ends it.
void ipm_region(int level, const char* address) {
  if (level != 1 && level != -1) return;
  const auto name = text_at(address);
  if (!name || !is_readable(*name)) return;
  region_edge(level > 0 ? events::EventKind::kRegionBegin : events::EventKind::kRegionEnd, *name, call_site(),
              call_frame());
}

/// As mpiP has it: 0 pauses the recording, another level resumes it.
void pause_or_resume(int level) {
  Runtime& rt = *runtime();
  const std::lock_guard guard{rt.lock};
  if (rt.capture() != nullptr) rt.capture()->pause(level == 0);
}

/// MPI's Fortran bindings pass the level alone.
bool is_from_fortran() {
  Dl_info info{};
  return dladdr(call_site(), &info) != 0 && info.dli_fname != nullptr &&
         kind_of_module(info.dli_fname) == ModuleKind::kMpi;
}

}  // namespace

namespace handlers {

int Pcontrol(const int level, va_list more) {
  if (!runtime()->settings().pcontrol_ipm)
    pause_or_resume(level);
  else if (!is_from_fortran())
    ipm_region(level, va_arg(more, const char*));
  return pmpi::Pcontrol(level);
}

int Type_free(MPI_Datatype* type) {
  count_call(current_call());
  Runtime& rt = *runtime();
  if (type != nullptr) {
    const std::lock_guard guard{rt.lock};
    rt.own_types.forget(*type);
    rt.instruments.forget(*type);
  }
  return pmpi::Type_free(type);
}

// Calls that touch memory and take nobody else's part: events only where accesses are recorded.
#define NPLUS1_PACK(Count)                                                                              \
  int Pack(const void* inbuf, Count incount, MPI_Datatype type, void* outbuf, Count outsize,            \
           Count* position, MPI_Comm comm) {                                                            \
    const Count begin = position == nullptr ? 0 : *position;                                            \
    const int code = pmpi::Pack(inbuf, incount, type, outbuf, outsize, position, comm);                 \
    if (code == MPI_SUCCESS)                                                                            \
      tell_touched(                                                                                     \
          {{inbuf, incount, type}, {static_cast<char*>(outbuf) + begin, *position - begin, MPI_BYTE}}); \
    count_call(current_call());                                                                         \
    return code;                                                                                        \
  }                                                                                                     \
  int Unpack(const void* inbuf, Count insize, Count* position, void* outbuf, Count outcount,            \
             MPI_Datatype type, MPI_Comm comm) {                                                        \
    const Count begin = position == nullptr ? 0 : *position;                                            \
    const int code = pmpi::Unpack(inbuf, insize, position, outbuf, outcount, type, comm);               \
    if (code == MPI_SUCCESS)                                                                            \
      tell_touched({{static_cast<const char*>(inbuf) + begin, *position - begin, MPI_BYTE},             \
                    {outbuf, outcount, type}});                                                         \
    count_call(current_call());                                                                         \
    return code;                                                                                        \
  }                                                                                                     \
  int Reduce_local(const void* inbuf, void* inoutbuf, Count count, MPI_Datatype type, MPI_Op op) {      \
    const int code = pmpi::Reduce_local(inbuf, inoutbuf, count, type, op);                              \
    if (code == MPI_SUCCESS) tell_touched({{inbuf, count, type}, {inoutbuf, count, type}});             \
    count_call(current_call());                                                                         \
    return code;                                                                                        \
  }
NPLUS1_PACK(int)
NPLUS1_PACK(MPI_Count)
#undef NPLUS1_PACK

#define NPLUS1_STATUS_USE(Name, Count)                                  \
  int Name(const MPI_Status* status, MPI_Datatype type, Count* count) { \
    tell_status_use(status);                                            \
    count_call(current_call());                                         \
    return pmpi::Name(status, type, count);                             \
  }
NPLUS1_STATUS_USE(Get_count, int)
NPLUS1_STATUS_USE(Get_count, MPI_Count)
NPLUS1_STATUS_USE(Get_elements, int)
NPLUS1_STATUS_USE(Get_elements, MPI_Count)
NPLUS1_STATUS_USE(Get_elements_x, MPI_Count)
#undef NPLUS1_STATUS_USE

}  // namespace handlers
}  // namespace nplus1::stubs
