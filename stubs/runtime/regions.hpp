// Regions of the program, from the public header, from MPI_Pcontrol and from functions built with
// -finstrument-functions: an event at each edge. From any thread, inside or outside MPI; never fails.
#pragma once

#include <string>

#include "events/event.hpp"
#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {

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

/// An edge of the region `name`: kRegionBegin or kRegionEnd. `return_address`, `frame`: of the function that
/// the application called (__builtin_return_address(0), __builtin_frame_address(0)).
/// `is_address`: the name is MODULE+0xOFFSET, to be resolved after the run.
void region_edge(events::EventKind kind, const std::string& name, const void* return_address,
                 const void* frame, bool is_address = false);

}  // namespace nplus1::stubs
