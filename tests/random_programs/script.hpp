// What all ranks know of a script, and what one rank has of it. Every rank follows the whole script: what others do
// is known everywhere without a message, because all decisions come from the same random numbers.
//
// Why no script can deadlock: steps have one order, the same on all ranks, and a rank that blocks in a step waits
// only for what others do in the same or an earlier one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tests/random_programs/books.hpp"
#include "tests/random_programs/layout.hpp"
#include "tests/random_programs/random.hpp"

namespace random_programs {

/// Known to all ranks, also to those that are no members: they have MPI_COMM_NULL.
struct Communicator {
  int id = 0;
  MPI_Comm handle = MPI_COMM_NULL;
  std::vector<int> members;  // world ranks; of an intercommunicator the first group
  std::vector<int> others;   // the second group, else empty
  std::vector<std::vector<int>> sources,
      destinations;    // of a topology, by member; ranks of this communicator or
                       // MPI_PROC_NULL
  int dimensions = 0;  // of a grid
  std::vector<int> extents, periods;
  int half_open = 0;  // messages of which one side is not posted yet

  bool inter() const { return !others.empty(); }
  bool has(int world) const;
  /// The group of `world`, and the group that it sends to.
  const std::vector<int>& group_of(int world) const;
  const std::vector<int>& peers_of(int world) const;
  int size() const { return static_cast<int>(members.size() + others.size()); }
  std::vector<int> everybody() const;
};

/// The place of `world` in `group`, or -1.
int index_in(const std::vector<int>& group, int world);

/// A message that is under way, or of which only one side is posted.
struct Message {
  int id, comm, source, destination, tag;  // world ranks
  Base base;
  long bases;
  bool sent, received;  // posted by its rank
  std::uint64_t key() const;
  long bytes() const { return bases * base.size; }
};

/// Something of one rank that a request stands for. All ranks know that it exists, its owner has the rest.
struct Operation {
  int owner;
  int message;  // of which it is one side, or -1: nothing keeps it from completing
  bool persistent;
  bool
      collective;  // and persistent: with these, many-handed calls of MPICH 4.0.2 report errors that are none
  MPI_Request request;
  std::function<void(const MPI_Status&)> finish;
};

struct Options {
  std::uint64_t seed = 0;
  int steps = 30;
  std::vector<bool> skipped;       // steps to leave out
  std::vector<std::string> kinds;  // empty: all
  int largest = 1 << 20;           // bytes of a message
  bool persistent = false;         // persistent collectives too
  bool errors = false;             // steps with calls that return errors
  bool threads = false;            // steps with several threads, under MPI_THREAD_MULTIPLE
  bool one_sided = false;          // windows
  bool pairs = false;              // messages of MPI_DOUBLE_INT and its like
  bool trace = false;
};

/// Smaller tags are used again and again.
constexpr int kFirstUniqueTag = 100;
/// A rank may be scripts ahead of another, who asks for a message from anybody by a tag of the script that it is in.
constexpr int kTagsOfAScript = 100000;
constexpr int kTagsOfAThread = 500;

struct Script {
  int rank = 0, size = 0;
  Options options;
  int step = 0;
  Random random{0};                        // of this step, the same on all ranks
  Random own{0};                           // decisions that nobody else has to know
  std::deque<Communicator> communicators;  // the first is MPI_COMM_WORLD
  std::map<int, Message> messages;         // those of which one side is not posted
  std::vector<Operation> operations;       // not complete, of all ranks
  Books* books = nullptr;
  std::uint64_t digest = 0;  // of what has the same outcome with and without a simulated network
  std::uint64_t order =
      0;  // of what the network decides: who came first, how often a test failed, what time it is
  int next_id = 1, next_tag = kFirstUniqueTag;
  int small_tags = 0;  // where those begin that are used again and again
  bool in_thread = false, shares_communicator = false;
  std::vector<std::shared_ptr<void>> until_end;  // of the script
  std::vector<std::shared_ptr<void>> kept;       // until the end of all

  [[noreturn]] void wrong(const std::string& what) const;
  void check(bool holds, const char* what) const {
    if (!holds) wrong(what);
  }
  void note(std::uint64_t what) { digest += mix(what); }  // in any order
  void note_order(std::uint64_t what) { order = mix(order, what); }
  std::uint64_t unique() const { return mix(options.seed, static_cast<std::uint64_t>(step) + 7); }
  Communicator* find(int id);
  bool large() { return own.chance(15); }  // whether to call the function with large counts
};

/// Calls an MPI function and counts it.
#define CALL(script, name, ...) ((script).books->call("MPI_" #name), MPI_##name(__VA_ARGS__))
/// One of the two forms, chosen by `large`.
#define CALL_SIZED(script, large, name, ...) \
  ((script).books->call("MPI_" #name), (large) ? MPI_##name##_c(__VA_ARGS__) : MPI_##name(__VA_ARGS__))

// --- complete.cpp ---
/// Completes operations of this rank, by some means.
void complete(Script& s, std::vector<Operation*> operations);
/// The step: some of what can be completed, everywhere; `all` takes all of it.
void complete_step(Script& s, bool all);
/// Completes one request now.
void complete_now(Script& s, MPI_Request& request, const std::function<void(const MPI_Status&)>& finish);
/// Something that `owner` completes in a later step; `request` and `finish` are its alone.
void later(Script& s, int owner, int message = -1, MPI_Request request = MPI_REQUEST_NULL,
           std::function<void(const MPI_Status&)> finish = {});

// --- messages.cpp ---
void message_step(Script& s);
void answer_step(Script& s, bool all);
void exchange_step(Script& s);
void ready_step(Script& s);
void persistent_step(Script& s);
void nobody_step(Script& s);
void cancel_step(Script& s);
void free_step(Script& s);
// --- wildcards.cpp ---
void fan_in_step(Script& s);
void pending_fan_in_step(Script& s);
void master_worker_step(Script& s);
// --- collectives.cpp ---
void collective_step(Script& s);
// --- errors.cpp ---
void refused_step(Script& s);
void truncated_step(Script& s);
// --- threads.cpp ---
void threads_step(Script& s);
// --- one_sided.cpp ---
void one_sided_step(Script& s);
// --- steps.cpp ---
/// All of a script, among the members of `world`; `between` is called before each step.
void perform(Script& s, const Communicator& world, const std::function<void()>& between);
// --- communicators.cpp ---
void communicator_step(Script& s);
void free_communicator_step(Script& s, bool all);

/// A communicator of at least `least` members (both groups together); null if there is none.
Communicator* random_communicator(Script& s, int least, bool inter_too = true);
/// Bytes of a message: mostly small, sometimes around a limit of MPI or of a model.
long random_bytes(Script& s);

}  // namespace random_programs
