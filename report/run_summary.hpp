// What one run came to: filled by the simulator (counts by patterns::MessageStatistics, the rest by
// simnode/node), written by report/results.hpp. Plain data; the file format is docs/formats/summary.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/rank_matrix.hpp"
#include "support/units.hpp"

namespace nplus1::report {

/// One kind of collective call: which MPI function, on how many members, from which root.
struct CollectiveCount {
  std::string name;                           // "MPI_Bcast"
  std::uint32_t comm_size = 0;                // members of the communicator
  std::optional<std::int32_t> root;           // rank in the communicator; empty for rootless collectives
  std::vector<std::uint64_t> calls_per_rank;  // by world rank
};

/// Messages of more than the previous bucket's and at most `upper` bytes (empty: no limit).
struct SizeBucket {
  std::optional<Bytes> upper;
  std::uint64_t count = 0;
};

/// Transfers of one kind between windows, all pairs together.
struct OneSidedCount {
  std::string operation;  // "put", "get", "accumulate", ...
  std::uint64_t transfers = 0;
  std::uint64_t bytes = 0;  // both ways
};

/// What all ranks did with files.
struct IoCount {
  /// By read, write and their like of the C library and the kernel, but for MPI-IO.
  struct System {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
  };
  std::uint64_t files = 0;  // by name; all that follows is of MPI-IO
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  Duration time{};     // in MPI_File_X, all ranks together
  Duration waiting{};  // of it: for others
  std::optional<System> system;
};

/// Calls that the simulator passes through without modelling them (MPI_Comm_spawn, ...).
struct Unmodelled {
  struct Calls {
    std::string name;
    std::uint64_t count = 0;
  };
  std::uint64_t calls = 0;
  double share = 0;  // of the virtual time of all ranks, 0..1
  std::vector<Calls> by_name;
};

/// How far the answer can be believed: everything here but `events` and `active_ranks` is 0 or false in a
/// clean run.
struct Trust {
  std::uint64_t active_ranks = 0;      // ranks from which the stubs reported anything
  std::uint64_t events = 0;            // events that the simulator received
  std::uint64_t clock_mismatches = 0;  // a rank's own clock differed from the simulator's
  std::uint64_t order_inversions = 0;  // a match was decided before an earlier message was known
  std::uint64_t forced_decisions = 0;  // the simulator had to decide without proof
  bool relies_on_buffering = false;    // only the simulated rendezvous blocked the program
  std::uint32_t cores = 0;             // of the machine (of the simulator's host)
};

/// What the run has left behind to be analysed.
struct Recording {
  std::string path;  // relative to the result folder
  std::uint64_t bytes = 0;
  std::uint64_t expected_bytes = 0;  // of the whole run, had nothing been dropped
  std::uint64_t events = 0;
  std::uint64_t dropped = 0;  // events that are not in it: size cap, full disk
  double hashing_s = 0;       // all ranks together, on the content of messages
};

/// What a virtual time of estimated compute times lies in (docs/clock.md).
struct TimeInterval {
  Duration lowest{};
  Duration from{}, to{};  // with the probability of `share`
  Duration highest{};
  double share = 0;
};

struct RunSummary {
  std::string application;  // as the user named it
  std::uint32_t ranks = 0;
  Duration virtual_time{};  // the latest rank's end
  double wall_time_s = 0;
  std::string network;       // NetworkModel::describe()
  std::string storage;       // StorageModel::describe(); empty: not simulated
  std::string clock;         // "cpu" or "wall"
  std::string clock_reason;  // why that one: "asked for", "17 processes share 2 cores"
  std::string compute;       // "measured", "fixed:1e-06", ...
  std::string protocol;      // "conservative" or "riesen"
  std::string transport;     // "shm", "tcp", "shm+tcp"
  bool direct = false;       // time stamps went straight to the receiver
  bool late_clocks = false;  // ranks went on without being told when their calls ended

  RankMatrix messages;                   // point-to-point messages
  RankMatrix bytes;                      // and their payload
  std::vector<OneSidedCount> one_sided;  // without those that there are none of
  std::optional<IoCount> io;             // nothing if no file was used
  std::vector<CollectiveCount> collectives;
  std::vector<CollectiveCount>
      communicator_calls;  // Comm_split and the like: collective, but without payload
  std::vector<SizeBucket> message_sizes;
  Unmodelled unmodelled;

  std::vector<Time> rank_end;          // by rank: the virtual time of its last event
  std::vector<Duration> compute_time;  // by rank: virtual time outside MPI

  std::optional<Recording> recording;  // empty: nothing was recorded

  Trust trust;
  std::vector<std::string> links;  // lines about the links of a platform; not in summary.json
  bool complete = false;           // every rank reached MPI_Finalize
  std::vector<std::string> notes;  // sentences for the reader
  std::optional<TimeInterval> virtual_time_interval{};
};

}  // namespace nplus1::report
