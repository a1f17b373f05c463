// Calls of a native recording (nplus1 run --native --record): MPI does what it does without us, and what came
// of it is told afterwards. Completing calls are MPI's own, on the native requests; called with the lock
// held, which is released while MPI waits.
#pragma once

#include <mpi.h>

#include <vector>

#include "stubs/runtime/runtime.hpp"

namespace nplus1::stubs::native {

/// The requests of ours in a completing call's array.
struct Completing {
  int count;
  MPI_Request* handles;
  const std::vector<Request*>& requests;
  const std::vector<int>& positions;  // of these in `handles`
};

int wait_all(Call& call, const Completing& c, MPI_Status statuses[]);
int wait_any(Call& call, const Completing& c, int* index, MPI_Status* status);
int wait_some(Call& call, const Completing& c, int* outcount, int indices[], MPI_Status statuses[]);
int test_all(Call& call, const Completing& c, int* flag, MPI_Status statuses[]);
int test_any(Call& call, const Completing& c, int* index, int* flag, MPI_Status* status);
int test_some(Call& call, const Completing& c, int* outcount, int indices[], MPI_Status statuses[]);

/// The end of a blocking receive or of one half of a combined one.
int finish_receive(Call& call, Request& request, MPI_Status* status);
/// What a probe or a receive has found, for the call's own outcome.
void note_message(Call& call, const Communicator& comm, const MPI_Status& status);

}  // namespace nplus1::stubs::native
