// What `nplus1 overlap measure` does inside a rank (Natvig and Elster 2010, section 2.5): on the program's own MPI and
// network, without a simulator, chains of blocking messages are performed in turn as they are written and made
// non-blocking, and the time of both is taken. docs/overlap.md, "Measuring".
//
// A deferred receive is completed before the program sees its memory: the pages of its buffer are closed from the call
// on (stubs/access), and the first access, or a call that must not be crossed, waits for all messages of the chain.
// Called by wrappers, and by handlers of stubs/access on the program's only thread; where it has several, nothing is
// deferred. Nothing fails: what cannot be deferred or measured is performed as it is written.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/mpi_call.hpp"
#include "stubs/access/watch.hpp"
#include "stubs/measure/sample.hpp"
#include "stubs/runtime/arguments/own_pages.hpp"
#include "stubs/runtime/arguments/own_types.hpp"
#include "stubs/runtime/arguments/typemaps.hpp"
#include "stubs/runtime/capture/call_paths.hpp"

namespace nplus1::stubs::measure {

enum class Mode : std::uint8_t { kBlocking, kDeferred };
inline constexpr std::size_t kModes = 2;

enum class EndedBy : std::uint8_t { kTouch, kOverlap, kCall, kFinalize };
inline constexpr std::size_t kEnds = 4;

/// One direction of a blocking call.
struct Half {
  bool receives;
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int peer;
  int tag;
};

/// A call and the path to it.
struct Context {
  events::MpiCall call{};
  CallSiteId site{};
  friend auto operator<=>(const Context&, const Context&) = default;
};

/// One message of a chain, for estimates from what the network was measured to take.
struct Message {
  bool receives = false;
  int peer = 0;  // in MPI_COMM_WORLD; negative: in none
  MPI_Count bytes = 0;
};

/// Times are nanoseconds.
struct ModeTimes {
  Sample communication;  // in the calls, and waiting for what they began
  Sample overhead;       // closing and opening pages, faults, copies: what only measuring and deferring take
  Sample round;          // from the beginning of the chain until it, or one that begins as it, begins again
  double least = 0;      // of its communication, and of the overhead where it is deferred
};

struct ChainTimes {
  std::uint64_t seen = 0;
  std::array<ModeTimes, kModes> modes;
  Sample between;  // from its last call until what ends it
  std::array<std::uint64_t, kEnds> ended_by{};
  CallSiteId ending{};  // of its first time
  std::uint64_t offset = 0;
  bool inexact = false;
  std::vector<Message> messages;  // of its first time
};

class Measuring {
 public:
  Measuring();

  /// A blocking call of the program's, made of `n` halves. `plain` performs it as it is written.
  int call(const Half* halves, std::size_t n, MPI_Comm comm, MPI_Status* status,
           const std::function<int()>& plain);
  /// Ends the chain that is under way: its messages are complete and its memory open when this returns.
  void end(EndedBy why, const access::Hit* hit = nullptr);
  /// A call other than those of chains, which works on this memory alone.
  void works_on(const void* buffer, MPI_Count count, MPI_Datatype type, bool writes);
  /// Memory is about to be given back.
  void frees(const void* begin, std::size_t bytes);
  /// The program may have more threads from here on.
  void threads_changed() { recheck_threads_ = true; }
  /// Nothing is deferred or measured any more.
  void stop(const char* why);
  void forget(MPI_Datatype type) {
    typemaps_.forget(type);
    own_types_.forget(type);
  }
  /// What was measured, as text (docs/formats/overlap_measured.md), after the last call.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool under_way() const { return running_.open; }

 private:
  /// What the chains that begin with a call have in common.
  struct Start {
    std::uint64_t begun = 0;
    std::uint64_t seed = 0;  // the same in all ranks of one program
    ChainTimes* last = nullptr;
    Mode last_mode{};
    std::int64_t last_tick = 0;
  };
  struct Pending {
    MPI_Request request = MPI_REQUEST_NULL;
    bool receives = false;
    OwnPages shadow;  // null: MPI works on the program's memory
    void* buffer = nullptr;
    MPI_Count count = 0;
    OwnType type;  // if there is a shadow
    MPI_Count bytes = 0;
    MPI_Status* status = MPI_STATUS_IGNORE;  // the program's
    MPI_Status told{};                       // as it was filled in
  };
  struct Running {
    bool open = false;
    Mode mode{};
    Start* start = nullptr;
    std::vector<Context> contexts;
    std::vector<Message> messages;
    std::vector<Pending> pending;
    std::vector<access::Cells> sent, received;
    std::int64_t begin_tick = 0, exit_tick = 0;
    double communication_ns = 0, copies_ns = 0, overhead_ns = 0;
  };

  [[nodiscard]] bool may_begin();
  [[nodiscard]] bool may_defer(const Half* halves, std::size_t n, MPI_Comm comm, const MPI_Status* status);
  [[nodiscard]] bool watch(const Half* halves, std::size_t n, std::vector<access::Cells>& cells);
  [[nodiscard]] bool overlaps(const Half* halves, std::size_t n,
                              const std::vector<access::Cells>& cells) const;
  void begin(const Context& context);
  void note(const Half& half, MPI_Comm comm);
  int defer(const Half& half, MPI_Comm comm, MPI_Status* status);
  void complete();
  void give_back(Pending& pending, const MPI_Status& status);
  void note_end(EndedBy why, const access::Hit* hit, std::int64_t end_tick);
  [[nodiscard]] std::string messages_text(const ChainTimes& chain) const;

  CallPaths paths_;
  std::vector<std::string> frames_;  // by number of the path, from 1
  Typemaps typemaps_;
  OwnTypes own_types_;
  std::map<Context, Start> starts_;
  std::map<std::vector<Context>, ChainTimes> chains_;
  Running running_;
  MPI_Group world_ = MPI_GROUP_NULL;
  std::string stopped_;
  bool recheck_threads_ = true;
  int threads_of_mpi_ = 0;
  std::uint64_t not_deferrable_ = 0, chains_lost_ = 0;
};

/// Of the calling thread; null while nothing is measured, and for threads other than the one that called MPI_Init.
[[nodiscard]] Measuring* measuring() noexcept;

/// What MPI and the kernel take on this machine, measured in MPI_Init: collective over `comm`. Text as above.
[[nodiscard]] std::string benchmarks(MPI_Comm comm);

/// Nanoseconds since some moment.
[[nodiscard]] double now_ns();

}  // namespace nplus1::stubs::measure
