#include "stubs/runtime/regions.hpp"

#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {
namespace {

/// Lends the thread a call site where it is not in an MPI call.
class SiteScope {
 public:
  SiteScope(const void* site, const void* frame) : site_{call_state.site}, frame_{call_state.frame} {
    call_state.site = site;
    call_state.frame = frame;
  }
  ~SiteScope() {
    call_state.site = site_;
    call_state.frame = frame_;
  }
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;

 private:
  const void* site_;
  const void* frame_;
};

}  // namespace

void region_edge(events::EventKind kind, const std::string& name, const void* return_address,
                 const void* frame, bool is_address) {
  if (!active()) return;
  const SiteScope scope{return_address, frame};
  Call call{false};
  events::Event event;
  event.kind = kind;
  event.aux = call.rt.region_id(name, is_address);
  Capture* capture = call.rt.capture();
  const bool begins = kind == events::EventKind::kRegionBegin;
  // Both edges belong to what the region has recorded.
  if (capture != nullptr && begins) capture->enter(name);
  call.emit(event);
  if (capture != nullptr && !begins) capture->leave(name);
}

}  // namespace nplus1::stubs
