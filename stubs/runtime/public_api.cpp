// include/nplus1.h, as the preloaded library provides it.
#include <algorithm>

#include "stubs/runtime/guard.hpp"
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
NPLUS1_EXPORT int nplus1_active(void) {
  return active() ? 1 : 0;
}
