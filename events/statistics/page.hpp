// One rank's page of statistics (docs/formats/statistics.md): a file that the rank has mapped, so that whoever reads it
// from outside sees what the rank has counted and what it is doing, also when the rank hangs, is stopped, or was killed.
// Its tables have a fixed size, taken when it is made. Numbers are in the machine's order.
//
// Written by the rank's threads without locks: a slot is taken by its key (compare and swap), counts are added after
// that. A reader may see a count that lacks the call under way. ThreadState has a sequence number: odd while it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace nplus1::events::statistics {

inline constexpr char kMagic[8] = {'n', 'p', '1', 's', 't', 'a', 't', '\n'};
inline constexpr std::uint32_t kVersion = 1;
/// Of a job's file: the pages of all ranks, one after the other, each without what is empty.
inline constexpr const char* kFileEnding = ".n1stat";

enum class PageState : std::uint32_t { kRunning = 1, kFinalized = 2 };

/// The tables of a page, in the order in which they lie there.
enum class TableKind : std::uint32_t {
  kThreads,        // ThreadState
  kSites,          // Site
  kPeers,          // Peer
  kSizes,          // Size
  kCollectives,    // Collective
  kCommunicators,  // Communicator: by members
  kLive,           // Live: communicators that exist
  kMembers,        // MemberRange
  kPaths,          // Path
  kText,           // char
  kCount
};
inline constexpr std::size_t kTables = static_cast<std::size_t>(TableKind::kCount);

struct Table {
  std::uint64_t offset = 0;  // bytes from the page's beginning
  std::uint32_t entries = 0;
  std::uint32_t entry_bytes = 0;
};

struct Header {
  char magic[8];
  std::uint32_t version;
  PageState state;
  std::uint64_t page_bytes;
  std::int32_t rank;
  std::int32_t ranks;
  std::int64_t process;
  double ns_per_tick;
  std::int64_t begin_tick;     // the end of MPI_Init
  std::int64_t begin_real_ns;  // CLOCK_REALTIME then
  std::int64_t end_tick;       // of MPI_Finalize's beginning; 0 before
  std::uint64_t unplaced;      // messages whose end is not known
  std::uint64_t lost;          // counts that found their table full, and are missing there
  std::uint32_t paths;         // entries in use
  std::uint32_t text;          // bytes in use
  std::uint32_t member_ranges;
  std::uint32_t reserved;
  char host[64];
  char program[256];
  char job[128];
  Table tables[kTables];
};

/// What a thread waits for within its call.
enum class WaitKind : std::uint16_t { kNone, kReceive, kSend, kCollective, kOther };
struct Wait {
  std::int32_t peer = 0;  // rank in MPI_COMM_WORLD; -1: any; -2: none
  WaitKind kind = WaitKind::kNone;
  std::uint16_t call = 0;  // that started the operation: MpiCall
};
inline constexpr std::size_t kMostWaits = 16;

struct ThreadState {
  std::uint32_t sequence = 0;  // odd: it changes. Steps by two with each entry and exit
  std::uint32_t used = 0;
  std::uint16_t call = 0;    // MpiCall: the one under way, or the last one
  std::uint16_t inside = 0;  // whether it is under way
  std::uint32_t path = 0;    // of it
  std::int64_t since_tick = 0;
  std::uint64_t communicator = 0;  // Live::key; 0: none, or not known
  std::uint64_t ordinal = 0;       // of the collective on it, from 1; 0: no collective
  std::int32_t root = -1;          // world rank
  std::uint32_t members = 0;       // of the communicator: index into kMembers, plus 1; 0: not known
  std::uint32_t ranges = 0;
  std::uint32_t waits = 0;  // may be more than kMostWaits
  Wait wait[kMostWaits]{};
};

struct Site {
  std::uint64_t key = 0;  // path + 1 << 32 | call << 16 ... : site_key()
  std::uint64_t comm_size = 0;
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;
  std::uint64_t longest_ticks = 0;
  std::uint64_t messages = 0;  // of MPI-IO: accesses, or files opened, that MPI has accepted
  std::uint64_t bytes = 0;
  std::uint64_t least = 0;  // bytes + 1 of a message, an access or a collective's payload; 0: none
  std::uint64_t most = 0;
};

/// Messages between this rank and another, in one layer.
struct Peer {
  std::uint64_t key = 0;  // layer + 1 << 40 | incoming << 32 | peer
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

struct Size {
  std::uint64_t layer = 0;  // + 1
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
};

struct Collective {
  std::uint64_t key = 0;   // call + 1 << 48 | blocking << 40 | kind << 32 | comm_size
  std::uint64_t root = 0;  // member index + 1; 0: none
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
};

/// All communicators with the same members in the same order.
struct Communicator {
  std::uint64_t key = 0;
  std::uint32_t members = 0;  // as of ThreadState
  std::uint32_t ranges = 0;
  std::uint32_t size = 0;
  std::uint32_t first_group = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t collective_calls = 0;
  std::uint64_t ticks = 0;
  std::uint64_t waiting_ticks = 0;
};

struct Live {
  std::uint64_t key = 0;
  std::uint64_t collectives = 0;  // begun by this rank so far
};

/// `count` world ranks from `first`, `stride` apart.
struct MemberRange {
  std::int32_t first = 0;
  std::int32_t stride = 0;
  std::uint32_t count = 0;
};

struct Path {
  std::uint32_t offset = 0;  // into kText: frames, "MODULE+0xOFFSET BUILD_ID" each, with newlines between
  std::uint32_t bytes = 0;
};

/// Layers: 0 is point-to-point, k + 1 CollectiveKind k.
inline constexpr std::uint64_t kPointToPointLayer = 0;
/// Of sizes alone: accesses to files.
inline constexpr std::uint64_t kReadLayer = 1000, kWriteLayer = 1001;

[[nodiscard]] constexpr std::uint64_t site_key(std::uint32_t path, std::uint16_t call) {
  return (std::uint64_t{path} + 1) << 16U | call;
}
[[nodiscard]] constexpr std::uint64_t peer_key(std::uint64_t layer, bool incoming, std::uint32_t peer) {
  return (layer + 1) << 40U | std::uint64_t{incoming} << 32U | peer;
}
[[nodiscard]] constexpr std::uint64_t collective_key(std::uint16_t call, bool blocking, std::uint8_t kind,
                                                     std::uint32_t comm_size) {
  return (std::uint64_t{call} + 1) << 48U | std::uint64_t{blocking} << 40U | std::uint64_t{kind} << 32U |
         comm_size;
}

/// How many entries a page of a job of `ranks` has of each table, how large they are, and where they lie; the page's
/// bytes.
inline std::uint64_t lay_out(std::uint32_t ranks, Table (&tables)[kTables]) {
  std::uint32_t peers = 1024;
  while (peers < 8 * std::uint64_t{ranks} && peers < (1U << 18U)) peers *= 2;
  const Table wanted[kTables] = {{0, 64, sizeof(ThreadState)},  {0, 4096, sizeof(Site)},
                                 {0, peers, sizeof(Peer)},      {0, 4096, sizeof(Size)},
                                 {0, 2048, sizeof(Collective)}, {0, 1024, sizeof(Communicator)},
                                 {0, 1024, sizeof(Live)},       {0, 16384, sizeof(MemberRange)},
                                 {0, 4096, sizeof(Path)},       {0, 1U << 19U, 1}};
  std::uint64_t at = (sizeof(Header) + 63) / 64 * 64;
  for (std::size_t i = 0; i < kTables; ++i) {
    tables[i] = wanted[i];
    tables[i].offset = at;
    at += (std::uint64_t{wanted[i].entries} * wanted[i].entry_bytes + 63) / 64 * 64;
  }
  return at;
}

static_assert(std::is_trivially_copyable_v<Header> && std::is_trivially_copyable_v<ThreadState>);

}  // namespace nplus1::events::statistics
