// The runtime's side of `nplus1 run --record-accesses`: which buffers calls use, and what stubs/access/ saw of them,
// as events (events::Access, docs/formats/events.md). Exists where accesses are recorded. Called with the runtime's lock
// held, while everything is open.
#pragma once

#include <mpi.h>

#include <unordered_map>
#include <vector>

#include "stubs/access/watch.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/runtime/typemaps.hpp"

namespace nplus1::stubs {

class Accesses {
 public:
  /// Tells what was seen since the thread's last call.
  void begin_call(Call& call);
  /// What the call has used is watched from here on.
  void end_call(Call& call);
  /// The call's next event is a send's or receive's of `data`: tells its last touch, and whose first touch it is.
  /// `request`: where a non-blocking one is remembered.
  void use(Call& call, const Payload& data, bool receives, bool nonblocking, Request& request);
  /// A request is complete for the program.
  void complete(Request& request);
  /// An MPI call other than a send or receive reads or writes memory.
  void touched(Call& call, const Payload& data, bool write);
  /// The last event, with what the recording of accesses took.
  void finalize(Call& call, events::Event event);
  [[nodiscard]] Typemaps& typemaps() { return typemaps_; }

 private:
  void flush(Call& call);
  void tell_last_touch(Call& call, const access::Touch& touch, std::uint64_t bytes);

  Typemaps typemaps_;
  std::vector<WatchedUse> ending_;  // calls on their way out
};

}  // namespace nplus1::stubs
