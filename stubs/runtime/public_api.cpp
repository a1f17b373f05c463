// include/nplus1.h, as the preloaded library provides it.
#include <algorithm>
#include <unordered_map>

#include "stubs/runtime/guard.hpp"
#include "stubs/runtime/runtime.hpp"

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

using namespace nplus1;
using namespace nplus1::stubs;

namespace {

void region(events::EventKind kind, const char* name) {
  if (!active() || name == nullptr) return;
  Call call{false};
  events::Event event;
  event.kind = kind;
  event.aux = call.rt.region_id(name);
  call.emit(event);
}

}  // namespace

NPLUS1_EXPORT void nplus1_compute(double seconds) {
  if (!active()) return;
  runtime()->locked_thread().clock.add(from_seconds(std::max(0.0, seconds)));
}
NPLUS1_EXPORT void nplus1_region_begin(const char* name) {
  region(events::EventKind::kRegionBegin, name);
}
NPLUS1_EXPORT void nplus1_region_end(const char* name) {
  region(events::EventKind::kRegionEnd, name);
}
NPLUS1_EXPORT int nplus1_active(void) {
  return active() ? 1 : 0;
}
