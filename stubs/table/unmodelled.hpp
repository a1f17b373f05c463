// Around an MPI call that the simulator does not model: while it runs, the rank's virtual clock is unknown.
// Constructed by the generated wrappers at depth 0 of an active runtime, from any thread. Never fails.
#pragma once

#include "events/mpi_call.hpp"

namespace nplus1::stubs {

class UnmodelledScope {
 public:
  explicit UnmodelledScope(events::MpiCall call) noexcept;
  ~UnmodelledScope();
  UnmodelledScope(const UnmodelledScope&) = delete;
  UnmodelledScope& operator=(const UnmodelledScope&) = delete;

 private:
  events::MpiCall call_;
};

}  // namespace nplus1::stubs
