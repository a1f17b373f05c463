// The shared-memory segment between the ranks of one host and the simulator. The simulator creates it as an
// anonymous memfd and hands it to each rank over a unix socket, so nothing is ever left in /dev/shm.
//
// Per rank: a ring of events to the simulator, a ring of answers back, an inbox of message stamps from other
// ranks, and a doorbell to sleep on. All rings carry 64-byte slots; one writer and one reader each.
// Positions count slots since the start and are reduced modulo the capacity (a power of two).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "events/event.hpp"

namespace nplus1::transport {

inline constexpr std::uint64_t kMagic =
    0x31'73'75'6c'70'6e'01'00;  // "nplus1", protocol version in the low half
inline constexpr std::size_t kEventSlots = 1024;
inline constexpr std::size_t kAnswerSlots = 256;
inline constexpr std::size_t kStampsPerGrab = 64;
/// Room for message stamps; untouched pages take no memory.
inline constexpr std::uint64_t kArenaBytes = std::uint64_t{4} << 30;

struct alignas(events::kSlotBytes) Slot {
  std::byte bytes[events::kSlotBytes];
};

/// What a sender tells the receiver about a message, so that the receiver can compute its own virtual time
/// (docs/architecture.md, "Off the critical path"). Lives in the arena; goes back to its owner's free list.
struct alignas(64) Stamp {
  std::atomic<std::uint64_t> next;  // offset in the segment, 0 = none
  std::uint64_t comm;               // global key of the communicator
  std::int64_t at_ps;               // eager: arrival; rendezvous: when the sender is ready
  std::int64_t size;
  std::uint64_t sequence;  // which message of `source` to this rank
  std::int32_t source;     // world rank; also the owner of the stamp
  std::int32_t tag;
  std::uint32_t rendezvous;
};
static_assert(sizeof(Stamp) == 64);

/// One rank's part of the segment.
struct alignas(64) RankBlock {
  // Written by the rank.
  alignas(64) std::atomic<std::uint64_t> event_head;
  std::atomic<std::uint64_t> answer_tail;
  std::atomic<std::uint32_t> activity;     // odd while inside MPI, even in the application
  std::atomic<std::uint32_t> native_wait;  // 1 while the rank waits for the MPI library itself
  std::int32_t pid;
  // Written by the simulator.
  alignas(64) std::atomic<std::uint64_t> event_tail;
  std::atomic<std::uint64_t> answer_head;
  // The doorbell: bump `bell`, and wake it when `sleeping`.
  alignas(64) std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> sleeping;
  // Two stacks of stamps (stubs/transport/inbox.hpp): messages to me, and stamps of mine that were read.
  alignas(64) std::atomic<std::uint64_t> inbox;
  alignas(64) std::atomic<std::uint64_t> returned;
  Slot events[kEventSlots];
  Slot answers[kAnswerSlots];
};

inline constexpr std::size_t kArrivalCounters = 4096;

struct alignas(64) Header {
  std::uint64_t magic;
  std::int32_t ranks;
  std::int32_t simulator_pid;
  std::uint64_t total_bytes;
  std::uint64_t arena_begin;
  alignas(64) std::atomic<std::uint64_t> arena_next;
  alignas(64) std::atomic<std::uint32_t> simulator_sleeping;
  // Members that have entered a synchronising collective, by a hash of communicator and call. Only saves
  // wake-ups: where two calls share a counter, the simulator looks by itself a little later.
  alignas(64) std::atomic<std::uint32_t> arrivals[kArrivalCounters];
};

/// A mapped segment. Copyable view; the mapping lives until the process ends.
class Segment {
 public:
  Segment() = default;
  explicit Segment(void* base) : base_{static_cast<std::byte*>(base)} {}
  explicit operator bool() const { return base_ != nullptr; }

  [[nodiscard]] Header& header() const { return *reinterpret_cast<Header*>(base_); }
  [[nodiscard]] RankBlock& rank(std::int32_t r) const {
    return reinterpret_cast<RankBlock*>(base_ + sizeof(Header))[r];
  }
  [[nodiscard]] Stamp& stamp(std::uint64_t offset) const { return *reinterpret_cast<Stamp*>(base_ + offset); }
  [[nodiscard]] std::uint64_t offset(const Stamp& s) const {
    return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&s) - base_);
  }

  /// Bytes of a segment for `ranks`, arena included.
  [[nodiscard]] static std::uint64_t bytes_for(std::int32_t ranks) {
    return sizeof(Header) + static_cast<std::uint64_t>(ranks) * sizeof(RankBlock) + kArenaBytes;
  }
  /// Lays out a zeroed mapping for `ranks`.
  void initialise(std::int32_t ranks, std::int32_t simulator_pid) const;

 private:
  std::byte* base_ = nullptr;
};

/// Makes a memfd of the right size; -1 with errno set on failure.
[[nodiscard]] int create_segment_fd(std::int32_t ranks);
/// Maps it; a false Segment with errno set on failure.
[[nodiscard]] Segment map_segment(int fd, std::uint64_t bytes);

/// Sleeps on `word` while it is `expected`, at most `nanoseconds`. Spurious returns are allowed.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t nanoseconds);
void futex_wake(std::atomic<std::uint32_t>& word);

/// Wakes `block`'s rank if it sleeps; what it should see must have been published before.
inline void ring_doorbell(RankBlock& block) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (block.sleeping.load(std::memory_order_relaxed) != 0) {
    block.bell.fetch_add(1, std::memory_order_relaxed);
    futex_wake(block.bell);
  }
}

}  // namespace nplus1::transport
