// Partitioned communication (MPI 4.0, chapter 4): each partition of the sender's is a message of its own, that leaves at its
// MPI_Pready; docs/partitioned.md has equations and decisions. The messages of all partitioned requests travel on one
// communicator of ours, natively and for the simulator, with tags that the sender deals out; the first message of a
// request, sent by its first MPI_Start, tells the receiver of them. MPI's own partitioned requests are never made.
// With the runtime's lock held.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stubs/runtime/partitioned_request.hpp"

namespace nplus1::stubs {

/// The receives of a round; who sends has been introduced. MPI's code.
int post_partitions(Call& call, Partitioned& partitioned);

/// The requests that the simulator knows for `requests`: halves of an Isendrecv, messages of a partitioned request. Waits until
/// all of these have been started: until other threads have called MPI_Pready, and a receiver has been introduced.
std::vector<Request*> simulated(Call& call, std::span<Request* const> requests);
/// The same without waiting; empty, and the time of a failed test passes, if one is still to be started.
std::optional<std::vector<Request*>> simulated_now(Call& call, std::span<Request* const> requests);

/// Whether all `messages` are complete: one MPI_Test of the simulator's, that leaves them as they are.
bool have_come(Call& call, std::span<Request* const> messages);

/// Ends the round natively.
void settle_partitions(Call& call, Partitioned& partitioned);
/// The status of a request whose round has ended.
void describe_partitions(const Partitioned& partitioned, MPI_Status* status);
/// The request is inactive again.
void retire_partitions(Call& call, Partitioned& partitioned);
/// MPI_Request_free of an active request.
void abandon_partitions(Call& call, const std::shared_ptr<Partitioned>& partitioned);

/// MPI_Waitany and its relatives, where one of the requests is partitioned: by looking at one after the other.
int test_any_partitioned(int count, MPI_Request handles[], int* index, int* flag, MPI_Status* status);
int test_some_partitioned(int count, MPI_Request handles[], int* outcount, int indices[],
                          MPI_Status statuses[]);

}  // namespace nplus1::stubs
