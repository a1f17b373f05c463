#include "stubs/runtime/regions.hpp"

#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {
void region_edge(events::EventKind kind, const std::string& name, const void* return_address,
                 const void* frame, bool is_address) {
  if (!active()) return;
  const SiteScope scope{return_address, frame};
  Call call{false, Clock::kAdrift};
  events::Event event;
  event.kind = kind;
  event.aux = call.rt.line.region_id(name, is_address);
  Capture* capture = call.rt.capture();
  const bool begins = kind == events::EventKind::kRegionBegin;
  // Both edges belong to what the region has recorded.
  if (capture != nullptr && begins) capture->enter(name);
  call.emit(event);
  if (capture != nullptr && !begins) capture->leave(name);
}

}  // namespace nplus1::stubs
