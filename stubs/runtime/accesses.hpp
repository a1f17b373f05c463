// The runtime's side of `nplus1 run --record-accesses`: which buffers calls use, and what stubs/access/ saw of them,
// as events (events::Access, docs/formats/events.md). Exists where accesses are recorded. Called with the runtime's lock
// held, while everything is open.
#pragma once

#include <mpi.h>

#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "stubs/access/watch.hpp"
#include "stubs/runtime/arguments/typemaps.hpp"
#include "stubs/runtime/point_to_point.hpp"
#include "stubs/runtime/runtime.hpp"
#include "stubs/transport/last_words.hpp"

namespace nplus1::stubs {

class Accesses {
 public:
  /// Tells what was seen since the thread's last call.
  void begin_call(Call& call);
  /// What the call has used is watched from here on.
  void end_call(Call& call);
  /// The call's next event is a send's or receive's of `data`: tells its last touch, and whose first touch it is.
  /// `request`: where a non-blocking one is remembered.
  /// `wildcard`: its source or tag is known only when it came out.
  void use(Call& call, const Payload& data, bool receives, bool nonblocking, Request& request,
           bool wildcard = false);
  /// A non-blocking receive is performed into memory of our own, with what stands in the program's: its pages are
  /// closed, and a peer may write the message by itself. The program's memory gets it when the request is complete.
  [[nodiscard]] Transfer shadowed(Call& call, const Transfer& receive, const Request& request);
  /// The receive has failed, or was never made.
  void drop_shadow(const Request& request);
  /// MPI has received what `request` waits for; its status still says how much that is.
  void arrived(const Request& request);
  /// A request is complete for the program.
  void complete(Request& request);
  /// Request_free of one that is not: nobody will say when it is over.
  void free(Call& call, Request& request);
  /// MPI works on the program's memory for as long as `request` is active.
  void works_on_memory(const Request& request);
  /// An MPI call other than a send or receive reads or writes memory.
  void touched(Call& call, const Payload& data);
  /// The program asks for what a status tells.
  void status_used(Call& call, const MPI_Status* status);
  /// Statuses that the call fills in for `request`.
  void fills_status(const Request& request, const MPI_Status* status);
  /// What the recording of accesses took, for the last event.
  void sum_up(transport::LastWords& words) const;
  [[nodiscard]] Typemaps& typemaps() { return typemaps_; }

 private:
  void flush(Call& call);
  void tell_last_touch(Call& call, const access::Touch& touch, std::uint64_t bytes);

  struct Shadow;

  Typemaps typemaps_;
  std::vector<WatchedUse> ending_;                                   // calls on their way out
  std::unordered_map<std::uint16_t, std::uint64_t> first_ordinals_;  // of each thread's call
  std::unordered_map<const Request*, std::shared_ptr<Shadow>> shadows_;
  std::unordered_set<const Request*> working_;
  std::unordered_set<const Request*> wildcards_;
  std::unordered_map<const MPI_Status*, std::uint64_t> statuses_;
  bool suspended_ = false;
};

/// What a call has touched that is no event of its own; only where accesses are recorded.
void tell_touched(std::initializer_list<Payload> memory);
void tell_status_use(const MPI_Status* status);

}  // namespace nplus1::stubs
