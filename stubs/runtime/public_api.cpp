// include/nplus1.h, as the preloaded library provides it.
#include <algorithm>

#include "stubs/runtime/guard.hpp"
#include "stubs/runtime/own_part.hpp"
#include "stubs/runtime/regions.hpp"
#include "stubs/runtime/runtime.hpp"

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

using namespace nplus1;
using namespace nplus1::stubs;

NPLUS1_EXPORT void nplus1_compute(double seconds) {
  if (!active()) return;
  runtime()->locked_thread().clock.add(from_seconds(std::max(0.0, seconds)));
}
NPLUS1_EXPORT void nplus1_region_begin(const char* name) {
  if (name != nullptr)
    region_edge(events::EventKind::kRegionBegin, name, __builtin_return_address(0),
                __builtin_frame_address(0));
}
NPLUS1_EXPORT void nplus1_region_end(const char* name) {
  if (name != nullptr)
    region_edge(events::EventKind::kRegionEnd, name, __builtin_return_address(0), __builtin_frame_address(0));
}
NPLUS1_EXPORT void nplus1_send_to_self(const void* buffer, int count, MPI_Datatype datatype) {
  record_own_part(buffer, count, datatype, __builtin_return_address(0), __builtin_frame_address(0));
}
/// Fortran's: the datatype by its handle in Fortran.
NPLUS1_EXPORT void nplus1_send_to_self_f(const void* buffer, int count, MPI_Fint datatype) {
  record_own_part(buffer, count, MPI_Type_f2c(datatype), __builtin_return_address(0),
                  __builtin_frame_address(0));
}
NPLUS1_EXPORT int nplus1_active(void) {
  return active() ? 1 : 0;
}
