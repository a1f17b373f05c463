// include/nplus1.h, as the preloaded library provides it.
#include <algorithm>

#include "stubs/guard/guard.hpp"
#include "stubs/library/library_of_mpi.hpp"
#include "stubs/runtime/own_part.hpp"
#include "stubs/runtime/regions.hpp"
#include "stubs/runtime/runtime.hpp"

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

using namespace nplus1;
using namespace nplus1::stubs;

NPLUS1_EXPORT void nplus1_compute(double seconds) {
  if (!active()) return;
  guarded([=] { runtime()->threads.locked_mine().clock.add(from_seconds(std::max(0.0, seconds))); });
}
NPLUS1_EXPORT void nplus1_region_begin(const char* name) {
  const void* site = __builtin_return_address(0);
  const void* frame = __builtin_frame_address(0);
  if (name != nullptr) guarded([=] { region_edge(events::EventKind::kRegionBegin, name, site, frame); });
}
NPLUS1_EXPORT void nplus1_region_end(const char* name) {
  const void* site = __builtin_return_address(0);
  const void* frame = __builtin_frame_address(0);
  if (name != nullptr) guarded([=] { region_edge(events::EventKind::kRegionEnd, name, site, frame); });
}
NPLUS1_EXPORT void nplus1_send_to_self(const void* buffer, int count, MPI_Datatype datatype) {
  const void* site = __builtin_return_address(0);
  const void* frame = __builtin_frame_address(0);
  guarded([=] { record_own_part(buffer, count, datatype, site, frame); });
}
/// Fortran's: the datatype by its handle in Fortran.
NPLUS1_EXPORT void nplus1_send_to_self_f(const void* buffer, int count, MPI_Fint datatype) {
  const void* site = __builtin_return_address(0);
  const void* frame = __builtin_frame_address(0);
  guarded([=] { record_own_part(buffer, count, library::type_of_fortran(datatype), site, frame); });
}
NPLUS1_EXPORT int nplus1_active(void) {
  return active() ? 1 : 0;
}
