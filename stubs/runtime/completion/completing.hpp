// How calls that complete requests come to their outcome: in virtual time, or as MPI itself has it. Two strategies with one
// interface, chosen per call; both leave MPI's own errors and statuses to the program. Called with the runtime's lock held,
// which is released while a call waits.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs {

/// The active requests of ours in a call's array of handles, and where they stand in it.
struct Selection {
  int count = 0;
  MPI_Request* handles = nullptr;
  std::vector<Request*> requests;
  std::vector<int> positions;
  bool partitioned = false;  // one of them is a partitioned request
  bool foreign = false;      // some pending request is not ours (MPI-IO, RMA, generalised)
};

/// MPI_Wait and its relatives (MPI 4.0, sections 3.7.3 and 3.7.5), of a selection with at least one request. Each returns
/// MPI's code.
class Completing {
 public:
  virtual int wait(Call& call, const Selection& s, MPI_Status* status) const = 0;
  virtual int wait_all(Call& call, const Selection& s, MPI_Status statuses[]) const = 0;
  virtual int wait_any(Call& call, const Selection& s, int* index, MPI_Status* status) const = 0;
  virtual int wait_some(Call& call, const Selection& s, int* outcount, int indices[],
                        MPI_Status statuses[]) const = 0;
  virtual int test(Call& call, const Selection& s, int* flag, MPI_Status* status) const = 0;
  virtual int test_all(Call& call, const Selection& s, int* flag, MPI_Status statuses[]) const = 0;
  virtual int test_any(Call& call, const Selection& s, int* index, int* flag, MPI_Status* status) const = 0;
  virtual int test_some(Call& call, const Selection& s, int* outcount, int indices[],
                        MPI_Status statuses[]) const = 0;

 protected:
  ~Completing() = default;
};

/// Virtual time decides; where the simulator has died, what MPI has completed.
[[nodiscard]] const Completing& simulated_completing();
/// MPI's own calls, of which is told what came of them.
[[nodiscard]] const Completing& native_completing();

[[nodiscard]] inline const Completing& completing(const Runtime& rt) {
  return rt.native() ? native_completing() : simulated_completing();
}

/// Whether a test of all finds them complete.
[[nodiscard]] bool finds_all_complete(Call& call, const Selection& s, std::uint8_t flags = 0);

}  // namespace nplus1::stubs
