// The one vocabulary of events: what a rank tells the simulator about an MPI call, and what every
// analysis reads. An Event is 64 bytes so that it fills one slot of the shared-memory ring; lists
// (request ids, counts per member, members of a communicator) follow in extension slots.
//
// Ranks in events are ranks in MPI_COMM_WORLD, whatever communicator the call used; members of a
// communicator are indexed by their rank in it. An event describes one call of one thread of one rank;
// a rank's events form one stream in the order in which the process made them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "support/collective_kind.hpp"
#include "support/ids.hpp"
#include "support/units.hpp"

namespace nplus1::events {

enum class EventKind : std::uint8_t {
  kNone = 0,
  // Point-to-point. A blocking call is the non-blocking one with its wait fused in.
  kSend,         // Send, Ssend, Bsend, Rsend
  kIsend,        // their I-forms, and Start of a persistent send
  kRecv,         // Recv, Mrecv (then kMatched is set)
  kIrecv,        // Irecv, Imrecv, Start of a persistent receive
  kWait,         // Wait, Waitall, Waitany, Waitsome: see CompletionMode; extension: u32 request ids
  kTest,         // Test, Testall, Testany, Testsome, Request_get_status: likewise
  kProbe,        // Probe, Mprobe
  kIprobe,       // Iprobe, Improbe
  kCancelled,    // the MPI library cancelled `request` before it was matched
  kRequestFree,  // `request` will never be waited for
  // Collectives: `operation` is a CollectiveKind, `peer` the root (member index, -1 if none).
  kCollective,   // blocking
  kIcollective,  // non-blocking or persistent: completes through `request`
  // Everything else
  kCommDefine,       // `aux` is the communicator's global key; extension: u32 world ranks of the members
  kUnmodelledEnter,  // the rank is in a call that the simulator does not model: its clock is unknown
  kUnmodelledExit,
  kLocal,  // a call or pause whose only effect is its `compute`; a part kept by the rank: OwnPart; or an
           // access to the memory of a message: Access
  kRegionBegin,  // `aux` is the region id
  kRegionEnd,
  // Definitions; they stay between rank and simulator, which tells sinks by EventSink::on_...
  // (events/sink.hpp)
  kSiteDefine,      // call path `site`: extension: its frames as text; `aux` its length
  kRegionDefine,    // region `aux`: extension: its name; `size` its length
  kDatatypeDefine,  // datatype `aux`: extension: its name; `tag` its length; `size` bytes of one element
  kFinalize,        // the rank's last event
  // Between rank and simulator only, in native recordings: how the thread's last event came out. Extension:
  // an Answer (kExit, or kMatch of a receive), then `aux` u32 positions that completed.
  kOutcome,
  // Between rank and simulator only: the computing before the rank's event number `aux` takes `compute_ps` when its
  // data are in the caches, as a twin of the process has measured (docs/clock.md).
  kWarmTime,
  // One-sided communication; `comm` is the window, which has a communicator of its own for the simulator. Here, because
  // recordings of older versions know the others by their numbers.
  kOneSided,  // put, get, accumulate ...: OneSidedOperation; `size` bytes to the target `peer`, `aux` bytes back
  kWindowSync,  // fence, post, start, lock, flush ...: see WindowSync; extension: u32 world ranks of a group
  // Files; `comm` is the file, which has a communicator of its own for the simulator.
  kFileAccess,  // FileOperation; `size` bytes from byte `aux` of the file on; `tag`: FileManner
};
inline constexpr EventKind kLastEventKind = EventKind::kFileAccess;

/// A call that the engine gives its end: all of MPI's but regions, pauses, and what is not modelled.
[[nodiscard]] constexpr bool is_modelled_call(EventKind kind) {
  return (kind >= EventKind::kSend && kind <= EventKind::kIcollective) || kind == EventKind::kOneSided ||
         kind == EventKind::kWindowSync || kind == EventKind::kFileAccess;
}

/// What a kOneSided does at its target (MPI 4.0, section 12.3).
enum class OneSidedOperation : std::uint8_t {
  kPut,
  kGet,
  kAccumulate,
  kGetAccumulate,
  kFetchAndOp,
  kCompareAndSwap,
};

/// A kWindowSync (MPI 4.0, section 12.5). `peer` is the target of a kLock, kUnlock, kFlush or kFlushLocal.
enum class WindowSync : std::uint8_t {
  kFence,
  kPost,      // words: the origins
  kStart,     // words: the targets
  kComplete,  // likewise
  kWait,      // words: the origins
  kTest,      // likewise
  kLock,      // `tag`: LockMode
  kLockAll,   // likewise
  kUnlock,
  kUnlockAll,
  kFlush,
  kFlushAll,
  kFlushLocal,
  kFlushLocalAll,
};

/// `tag` of a kLock or kLockAll.
enum LockMode : std::int32_t {
  kSharedLock = 0,
  kExclusiveLock = 1,
  kLockWithoutAsking = 2,  // MPI_MODE_NOCHECK: the program knows that nobody else holds one
};

/// What a kFileAccess asks of the storage (MPI 4.0, chapter 14).
enum class FileOperation : std::uint8_t {
  kRead,
  kWrite,
  kOpen,      // `aux`: the file's name, as a region's number
  kClose,     // nothing of the file comes after it
  kMetadata,  // its size, its position, what is to be on the disk: without bytes
  kTurn,      // the shared pointer: the call goes on when nobody can come before it, and takes no time itself
};

/// Bits of `tag` of a kFileAccess.
enum FileManner : std::int32_t {
  kCollectiveAccess = 1,  // all members of the file's communicator make the call
  kMeetFirst = 2,  // and the storage is asked when all have (those that do not block; others have met before)
  kScatteredAccess = 4,  // the bytes do not lie side by side in the file
  kInTurn = 8,           // by the shared pointer, after a kTurn of the same call
};

/// Which requests a kWait or kTest event completes.
enum class CompletionMode : std::uint8_t { kAll, kAny, kSome };

/// How a send may complete (MPI 4.0, section 3.4). Standard, buffered and ready sends follow the
/// network's eager threshold; a buffered send never waits; a synchronous send waits for its receive.
enum class SendMode : std::uint8_t { kStandard, kSynchronous, kBuffered, kReady };

/// `peer` of a rooted collective on an intercommunicator at the root itself (MPI_ROOT). The rest of its group
/// has kProcNull, the other group the root's index in its group.
inline constexpr std::int32_t kIntercommRoot = -3;

/// Bits of Event::flags.
enum EventFlag : std::uint8_t {
  kNeedsAnswer = 1,   // the thread sleeps until the simulator answers
  kReportMatch = 2,   // a receive whose match the rank must be told (wildcard, or posted behind one)
  kMatched = 4,       // kRecv/kIrecv of a message that a matching probe took: `aux` is its sequence number
  kInPlace = 4,       // collectives: MPI_IN_PLACE, what the caller keeps for itself is where it belongs
  kTakesMessage = 8,  // kProbe/kIprobe that is an Mprobe/Improbe: removes the message it finds
  kEmptyBlocksTravel =
      8,  // kAlltoallv between groups: also blocks without bytes are exchanged (MPI_Ialltoallw)
  kPersistent = 16,
  kKeepsRequests = 64,      // kTest that leaves its requests as they are (Request_get_status)
  kHasBytesPerMember = 32,  // the extension lists i64: a collective's bytes per member, an access's distance
  kHasDetail = 128,         // a Detail follows the event: one slot, and one for its excerpt if it has one
};

/// One MPI call. Unused fields are zero. Layout is part of the ring protocol (docs/formats/).
struct Event {
  EventKind kind{};
  std::uint8_t flags{};      // EventFlag
  std::uint8_t operation{};  // SendMode | CompletionMode | CollectiveKind | ..., by kind
  std::uint8_t reserved{};
  ThreadId thread{};
  std::uint16_t call{};  // MpiCall: the function the application called
  CommId comm{};         // on the ring: the sender's own numbering; from the node on: the global one
  RequestId request{};   // request created, started, cancelled or freed
  CallSiteId site{};
  std::int32_t peer{};  // destination or source (world rank, kAnySource, kProcNull); root
  std::int32_t tag{};
  std::uint32_t extension{};  // number of 64-byte slots that follow
  std::int64_t compute_ps{};  // virtual time since the thread's last exit, charged before the call
  std::int64_t size{};        // payload bytes; collectives: see docs/formats/events.md
  std::int64_t entry_ps{};    // the thread's virtual clock at entry, compute included
  std::uint64_t aux{};  // by kind; kWait/kTest: number of request ids; collectives: number of list entries

  [[nodiscard]] Duration compute() const { return Duration{compute_ps}; }
  [[nodiscard]] Time entry() const { return Time{Duration{entry_ps}}; }
  [[nodiscard]] Bytes payload() const { return bytes(size); }
  [[nodiscard]] RankId peer_rank() const { return RankId{peer}; }
  [[nodiscard]] SendMode send_mode() const { return static_cast<SendMode>(operation); }
  [[nodiscard]] CompletionMode completion_mode() const { return static_cast<CompletionMode>(operation); }
  [[nodiscard]] CollectiveKind collective() const { return static_cast<CollectiveKind>(operation); }
  [[nodiscard]] OneSidedOperation one_sided() const { return static_cast<OneSidedOperation>(operation); }
  [[nodiscard]] WindowSync window_sync() const { return static_cast<WindowSync>(operation); }
  [[nodiscard]] FileOperation file_operation() const { return static_cast<FileOperation>(operation); }
  [[nodiscard]] bool has(EventFlag f) const { return (flags & f) != 0; }
};
static_assert(sizeof(Event) == 64 && std::is_trivially_copyable_v<Event>);

inline constexpr std::size_t kSlotBytes = 64;

/// What a recording keeps of a call beyond what the simulator needs. Fields that do not apply are zero.
struct Detail {
  std::int64_t wall_entry_ns{};   // real time (CLOCK_REALTIME) at which the call began
  std::int64_t wall_before_ns{};  // real time at which the thread's previous MPI call had ended
  std::uint64_t buffer{};         // address of the data's lowest byte: sent by sends, received by receives
  std::int64_t count{};           // elements, as the application passed them
  std::uint64_t prefix{};         // the first 8 bytes of the packed payload, zero-padded; sends only
  std::uint64_t polynomial{};     // 61-bit polynomial hash, or sketch, of the packed payload; sends only
  std::uint32_t crc{};            // CRC-32 of the packed payload, as zlib computes it; sends only
  DatatypeId datatype{};          // on the ring: the sender's own numbering; from the node on: the global one
  std::uint8_t content{};         // DetailContent
  std::uint8_t reserved[7]{};     // the first four, with kHasSketch: a float, the sum of absolute values
  // With kHasPayload: the whole packed payload, zero-padded. With kHasSamples: floats, see kSamples. Else
  // zero. A slot of its own on the ring, which only these two have.
  std::array<std::uint64_t, 8> excerpt{};

  [[nodiscard]] bool has_excerpt() const;
};
inline constexpr std::size_t kExcerptBytes = 64;
static_assert(sizeof(Detail) == kSlotBytes + kExcerptBytes && std::is_trivially_copyable_v<Detail>);

/// Elements of a long payload that a Detail has as floats in the first 16 bytes of its excerpt: number i,
/// counted from 0, is element (elements - 1) * (i + 1) / kSamples. Rounding keeps their order, so maxima can
/// be told.
inline constexpr std::size_t kSamples = 4;

/// Bits of Detail::content: what is known of the payload.
enum DetailContent : std::uint8_t {
  kHasCrc = 1,
  kHasPrefix = 2,
  kHasPolynomial = 4,
  kHasSketch = 8,     // `polynomial` holds a double instead: the weighted sum of floating-point elements
  kHasElements = 16,  // the polynomial's coefficients are the integers sent, not words of 8 bytes
  kScattered = 32,    // the data's bytes are not side by side in memory
  kHasPayload = 64,   // all of it, in `excerpt`; hashes follow from it (events/payload) and are left out
  kHasSamples = 128,
};

inline bool Detail::has_excerpt() const {
  return (content & (kHasPayload | kHasSamples)) != 0;
}

/// Event::operation of a kLocal that tells of a part that the rank keeps.
enum class OwnPart : std::uint8_t {
  kTold,     // by the program: nplus1_send_to_self
  kBetween,  // inferred: one block of a vector whose others went to all other ranks
  kAddedTo,  // inferred: lies where the rank has sent from before, told of before it receives as much
};

/// Event::operation of a kLocal that tells of an access to the buffer of another call of the rank, which `aux`
/// names by its place in the rank's stream (TimedEvent::ordinal). Values are disjoint from OwnPart's. The event
/// stands where the access happened; `size` is the offset in that buffer of the first byte touched. Fields:
/// docs/formats/events.md. Source: Natvig and Elster, "Run-Time Analysis and Instrumentation for Communication
/// Overlap Potential" (EuroMPI 2010), sections 2.3 to 2.6.
enum class Access : std::uint8_t {
  kFirstTouch = 16,  // the first read or write of a receive's buffer after the receive came out
  kFirstWrite,       // the first write to a send's buffer after the send came out
  kLastTouch,        // the last access before the call that the call's operation conflicts with
  kEarlyTouch,       // a race: a conflicting access between a non-blocking call and its completion
  kStatusUse,        // the program asked for the status of a receive
};

/// Event::peer of an access: who touched the buffer.
enum class Toucher : std::int32_t {
  kProgram,     // its own code
  kMpiCall,     // an MPI call, to which the event's call path leads
  kSystemCall,  // the kernel, on the program's behalf
  kRelease,     // free, realloc, munmap and the like: the memory is gone
  kEnd,         // the end of the run
};

/// Bits of Event::tag of an access.
enum AccessBit : std::int32_t {
  kInexactAccess = 1,  // only the page, or the interval, is known: to be taken for an access
  kWriteAccess = 2,
};

/// A read or write of a file.
[[nodiscard]] inline bool moves_file_bytes(const Event& event) {
  return event.kind == EventKind::kFileAccess && event.file_operation() <= FileOperation::kWrite;
}

/// `aux` is a region's number.
[[nodiscard]] inline bool names_file(const Event& event) {
  return event.kind == EventKind::kFileAccess && event.file_operation() == FileOperation::kOpen;
}

[[nodiscard]] inline bool is_access(const Event& event) {
  return event.kind == EventKind::kLocal &&
         event.operation >= static_cast<std::uint8_t>(Access::kFirstTouch) &&
         event.operation <= static_cast<std::uint8_t>(Access::kStatusUse);
}

/// The lists that follow an event. At most one of them is not empty.
struct Extension {
  std::span<const std::uint32_t> words;  // request ids; members of a communicator; neighbourhood edges
  std::span<const std::int64_t> sizes;   // bytes per member
};

/// What the simulator answers to a rank: when a call ends and how it came out. Travels in 64-byte slots too.
enum class AnswerKind : std::uint8_t {
  kNone = 0,
  kExit,      // the call that asked ends at `exit_ps`; extension: u32 positions completed (kSome)
  kMatch,     // receive `request` got the message (source, tag, sequence); may come before its wait
  kNotice,    // print `extension` as text on stderr and go on
  kDeadlock,  // every rank is blocked for ever: print `extension` as text if told to, and end the job
};

struct Answer {
  AnswerKind kind{};
  std::uint8_t flag{};  // kTest/kIprobe: completed; kDeadlock: this rank prints the report
  ThreadId thread{};
  std::int32_t index{};  // kAny: position of the completed request, -1 if none; kSome: how many
  RequestId request{};
  std::int32_t source{};  // kMatch, probes: world rank of the sender
  std::int32_t tag{};
  std::uint32_t extension{};  // number of 64-byte slots that follow
  std::uint64_t
      sequence{};          // which message of that sender to this rank, counted from 0 over all communicators
  std::int64_t exit_ps{};  // virtual time at which the call returns
  std::int64_t size{};     // payload bytes of the message
  std::uint64_t aux{};
  std::uint64_t reserved{};  // kWindowSync: when the thread's interface has sent what it has to, ps; else 0

  [[nodiscard]] Time exit() const { return Time{Duration{exit_ps}}; }
};
static_assert(sizeof(Answer) == 64 && std::is_trivially_copyable_v<Answer>);

}  // namespace nplus1::events
