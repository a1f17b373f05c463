// What a rank counts, and says of itself, in its page (events/statistics/page.hpp): made at the end of MPI_Init, written
// by the handlers of libnplus1-statistics.so around the program's own MPI calls, which they make unchanged.
// From any thread. Nothing here waits for anybody but for a moment for another thread of the process, calls MPI where the
// program's call has failed, or throws; where the page's tables are full, counts are lost, and their number is kept.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "events/mpi_call.hpp"
#include "events/statistics/page.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/runtime/capture/call_paths.hpp"
#include "stubs/runtime/communicators/communicators.hpp"
#include "stubs/statistics/request_table.hpp"
#include "support/collective_kind.hpp"

namespace nplus1::stubs::statistics {

namespace page = events::statistics;

/// A communicator as the page has it.
struct CommUse : std::enable_shared_from_this<CommUse> {
  std::shared_ptr<stubs::Communicator> known;
  page::Communicator* counts = nullptr;    // null: the table is full
  std::atomic<page::Live*> live{nullptr};  // likewise, or the program has freed the communicator
  std::uint32_t size = 0;
  std::uint32_t members = 0;  // of the page
  std::uint32_t ranges = 0;
  std::atomic<std::uint64_t> collectives{0};  // begun
  /// Another has begun: which one.
  std::uint64_t begin_collective();
  [[nodiscard]] std::int32_t world(int peer) const;  // -1: any; -2: none
};

/// A collective as messages between members (patterns/collective_fans.hpp), or as what is left of it for the counts.
struct Fan {
  CollectiveKind kind{};
  MpiCall call = MpiCall::kNone;  // of a persistent operation: what made it; kNone: the call under way
  std::int32_t root = -1;         // member index, as events have it
  std::int32_t root_world = -2;   // the other end of the messages; -2: this rank has none
  std::optional<std::int64_t> to_root;
  std::optional<std::int64_t> from_root;
  bool unplaced = false;
  struct Edge {
    std::int32_t peer;
    std::int64_t bytes;
  };
  std::vector<Edge> edges;  // of neighbourhoods
};

/// What starting a persistent request does.
struct Prepared {
  RequestUse use;
  std::shared_ptr<CommUse> comm;  // the program may free it before it starts the request
  std::int64_t bytes = 0;
  std::optional<Fan> fan;
};

/// A thread that calls MPI.
struct Thread {
  page::ThreadState* state = nullptr;
  std::unique_ptr<CallPaths> paths;
  std::vector<std::uint32_t> numbers;  // by CallPaths' own
  struct Seen {
    MPI_Comm comm{};
    std::uint64_t generation = 0;
    CommUse* use = nullptr;
  };
  static constexpr std::size_t kSeen = 8;
  Seen seen[kSeen]{};
  ~Thread();
};

class Recorder {
 public:
  /// Collective over MPI_COMM_WORLD. Null, after one message for the job, where no page can be had.
  static Recorder* make(int thread_level);

  [[nodiscard]] Thread& thread();
  [[nodiscard]] std::uint32_t path(Thread& thread, const void* site, const void* frame);

  /// Null for handles that are not known yet: they may be no communicators.
  [[nodiscard]] CommUse* find(Thread& thread, MPI_Comm comm);
  /// Of a valid handle, new if need be: of one that a call of MPI's has just accepted.
  [[nodiscard]] CommUse* find_or_add(Thread& thread, MPI_Comm comm);
  CommUse* add_communicator(MPI_Comm comm, stubs::Origin origin, std::uint64_t creation);
  void forget(MPI_Comm comm);

  void note_request(MPI_Request request, const RequestUse& use);
  [[nodiscard]] RequestUse request(MPI_Request request) const;
  void prepare(MPI_Request request, std::unique_ptr<Prepared> prepared);
  [[nodiscard]] const Prepared* prepared(MPI_Request request);
  /// Takes it out; null for requests that are not persistent.
  [[nodiscard]] std::unique_ptr<Prepared> unprepare(MPI_Request request);

  void message(std::uint64_t layer, bool incoming, std::int32_t peer, std::int64_t bytes);
  void count_size(std::uint64_t layer, std::uint64_t bytes);
  /// Bytes of the fan's messages.
  std::uint64_t count_fan(const Fan& fan);
  void count_collective(MpiCall call, bool blocking, const Fan& fan, std::uint32_t size, std::uint64_t bytes,
                        std::uint64_t ticks);
  page::Site* site(std::uint32_t path, MpiCall call, std::uint32_t comm_size);
  void lose() noexcept;

  /// Gathers all pages into one file of rank 0's, and removes them. Collective; before MPI_Finalize.
  void finish();

  [[nodiscard]] page::Header& header() { return *header_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  friend struct Thread;
  Recorder() = default;
  template <class Entry>
  [[nodiscard]] Entry* table(page::TableKind kind) {
    return reinterpret_cast<Entry*>(reinterpret_cast<char*>(header_) +
                                    header_->tables[static_cast<std::size_t>(kind)].offset);
  }
  [[nodiscard]] std::uint32_t entries(page::TableKind kind) const {
    return header_->tables[static_cast<std::size_t>(kind)].entries;
  }
  bool map_page(int rank, int ranks);
  /// While lock_ is held.
  CommUse* add_held(MPI_Comm comm, stubs::Origin origin, std::uint64_t creation);
  std::uint32_t intern(const std::string& frames);
  std::uint32_t intern_members(const std::vector<std::int32_t>& members, std::uint32_t& ranges);
  page::Live* live_slot(std::uint64_t key);
  [[nodiscard]] std::string squeezed();
  bool write_joined(const std::string& own, int ranks);

  page::Header* header_ = nullptr;
  MPI_Comm own_ = MPI_COMM_NULL;
  std::string base_;    // of the job's file
  std::string folder_;  // of the pages
  std::string file_;    // this rank's page; empty: memory of its own
  std::mutex lock_;
  Communicators communicators_;
  std::unordered_map<MPI_Comm, std::shared_ptr<CommUse>> by_handle_;
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> member_lists_;  // by hash
  std::atomic<std::uint64_t> generation_{1};
  std::unordered_map<std::string, std::uint32_t> paths_;
  std::unordered_map<MPI_Request, std::unique_ptr<Prepared>> prepared_;
  std::optional<RequestTable> requests_;
};

/// Lives until the process ends; null before MPI_Init and where there is no page.
[[nodiscard]] Recorder* recorder();
void set_recorder(Recorder* recorder);

[[nodiscard]] std::int64_t bytes_of(MPI_Count count, MPI_Datatype type);

}  // namespace nplus1::stubs::statistics
