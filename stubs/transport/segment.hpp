// The shared-memory segment between the ranks of one host and the simulator. The simulator creates it as an
// anonymous memfd and hands it to each rank over a unix socket, so nothing is ever left in /dev/shm.
//
// Per rank: a ring of events to the simulator, a ring of answers back, an inbox of message stamps from other
// ranks, and a doorbell to sleep on. All rings carry 64-byte slots; one writer and one reader each.
// Positions count slots since the start and are reduced modulo the capacity (a power of two).
//
// What stands in it was written by other processes, one of which may have run wild: no offset, position or number is
// used before it is checked against what this process knows by itself (how many ranks there are). The memory's size
// is sealed, so that nobody can take pages away under a reader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "events/event.hpp"

namespace nplus1::transport {

inline constexpr std::size_t kEventSlots = 1024;
inline constexpr std::size_t kAnswerSlots = 256;
inline constexpr std::size_t kStampsPerGrab = 64;
/// Room for message stamps; untouched pages take no memory.
inline constexpr std::uint64_t kArenaBytes = std::uint64_t{4} << 30;
/// The arena is opened to a process in steps of this size, as far as stamps lie in it: a program that locks all its
/// memory (mlockall) would else wait for 4 GiB of pages.
inline constexpr std::uint64_t kArenaStep = std::uint64_t{4} << 20;

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

/// One thread of a rank that may have several. Written by the thread.
struct ThreadCell {
  std::atomic<std::uint32_t> owner;  // its number within the rank + 1; 0: nobody's
  std::atomic<std::int32_t> tid;
  std::atomic<std::uint32_t> activity;  // odd while inside MPI, even in the application
};
/// A thread has that of its number modulo this, unless a later one has taken it.
inline constexpr std::size_t kThreadCells = 64;

/// Where a rank says when it entered a collective that nobody leaves before all have entered, and finds when it ends there
/// (stubs/runtime/requests/collective_ends.hpp).
struct alignas(64) CollectiveSlot {
  // Written by the rank.
  std::atomic<std::int64_t> entry_ps;
  std::atomic<std::uint64_t> call;  // which: the same at all members
  // Written by who came last.
  std::atomic<std::int64_t> exit_ps;
  std::atomic<std::uint64_t> told;  // the call that ends then
};

/// One rank's part of the segment.
struct alignas(64) RankBlock {
  // Written by the rank.
  alignas(64) std::atomic<std::uint64_t> event_head;
  std::atomic<std::uint64_t> answer_tail;
  std::atomic<std::uint32_t> activity;  // odd while inside MPI, even in the application
  std::atomic<std::uint32_t>
      native_wait;  // threads that look again and again whether the MPI library is done
  std::atomic<std::uint32_t> native_polls;  // how often it has looked in vain inside MPI, and slept
  std::atomic<std::uint32_t> native_moves;  // how often the MPI library's progress has found something
  std::atomic<std::uint32_t>
      team_waits;  // threads that have nothing to do until others of the rank have ended their parts
  std::int32_t pid;
  ThreadCell threads[kThreadCells];
  // Written by the simulator.
  alignas(64) std::atomic<std::uint64_t> event_tail;
  std::atomic<std::uint64_t> answer_head;
  // The doorbell: bump `bell`, and wake it when `sleeping`.
  alignas(64) std::atomic<std::uint32_t> bell;
  std::atomic<std::uint32_t> sleeping;
  // Two stacks of stamps (stubs/transport/inbox.hpp): messages to me, and stamps of mine that were read.
  alignas(64) std::atomic<std::uint64_t> inbox;
  alignas(64) std::atomic<std::uint64_t> returned;
  CollectiveSlot collective;
  Slot events[kEventSlots];
  Slot answers[kAnswerSlots];
};

inline constexpr std::size_t kArrivalCounters = 4096;
inline constexpr std::size_t kMostTwinsAtOnce = 256;  // of a host's ranks

/// While twins measure long stretches, for which they need their cores for themselves (stubs/twin/places.hpp).
struct Quiet {
  std::atomic<std::int64_t> until[8];              // as Header::twins_until
  alignas(64) std::atomic<std::uint32_t> changes;  // a futex: one of them is over
};

struct alignas(64) Header {
  alignas(64) std::atomic<std::uint64_t> arena_next;
  alignas(64) std::atomic<std::uint32_t> simulator_sleeping;
  // Members that have entered a synchronising collective, by a hash of communicator and call. Only saves
  // wake-ups: where two calls share a counter, the simulator looks by itself a little later.
  alignas(64) std::atomic<std::uint32_t> arrivals[kArrivalCounters];
  // Twins that measure now (stubs/twin/places.hpp): the time stamp counter until which one may, at most. What stands there
  // after that was left by a rank that has died.
  alignas(64) std::atomic<std::int64_t> twins_until[kMostTwinsAtOnce];
  alignas(64) Quiet quiet;
};

/// A mapped segment. Copyable view; the mapping lives until the process ends.
class Segment {
 public:
  Segment() = default;
  explicit operator bool() const { return base_ != nullptr; }

  [[nodiscard]] std::int32_t ranks() const { return mapping_->ranks; }
  [[nodiscard]] Header& header() const { return *reinterpret_cast<Header*>(base_); }
  /// `r` must be in [0, ranks()): a number from outside is checked with has_rank() first.
  [[nodiscard]] RankBlock& rank(std::int32_t r) const {
    return reinterpret_cast<RankBlock*>(base_ + sizeof(Header))[r];
  }
  [[nodiscard]] bool has_rank(std::int32_t r) const { return r >= 0 && r < mapping_->ranks; }
  /// The stamp at `offset`; null if no stamp can be there. One thread at a time.
  [[nodiscard]] Stamp* stamp(std::uint64_t offset) const {
    if (offset < arena_begin(mapping_->ranks) || offset > mapping_->bytes - sizeof(Stamp) ||
        offset % sizeof(Stamp) != 0)
      return nullptr;
    if (offset >= mapping_->open && !open_up_to(offset)) return nullptr;
    return reinterpret_cast<Stamp*>(base_ + offset);
  }
  [[nodiscard]] std::uint64_t offset(const Stamp& s) const {
    return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&s) - base_);
  }

  /// Whether at most one more of the host's processes than `cores` is awake, the simulator and the caller among them: then whoever
  /// waits for a moment and yields, instead of going to sleep, keeps nobody waiting.
  [[nodiscard]] bool may_wait_awake(int cores) const {
    int awake = header().simulator_sleeping.load(std::memory_order_relaxed) == 0 ? 1 : 0;
    for (std::int32_t r = 0; r < ranks() && awake <= cores + 1; ++r)
      if (rank(r).pid != 0 && rank(r).sleeping.load(std::memory_order_relaxed) == 0) ++awake;
    return awake <= cores + 1;
  }

  /// Where the stamps of `ranks` ranks begin, and bytes of the segment with them.
  [[nodiscard]] static std::uint64_t arena_begin(std::int32_t ranks) {
    return (sizeof(Header) + static_cast<std::uint64_t>(ranks) * sizeof(RankBlock) + kArenaStep - 1) /
           kArenaStep * kArenaStep;
  }
  [[nodiscard]] static std::uint64_t bytes_for(std::int32_t ranks) {
    return arena_begin(ranks) + kArenaBytes;
  }
  /// Lays out a zeroed mapping.
  void initialise() const;

 private:
  /// What this process knows of the mapping, all copies of the view alike.
  struct Mapping {
    std::int32_t ranks;
    std::uint64_t bytes;
    std::uint64_t open;  // so far it can be read and written
  };
  friend Segment map_segment(int fd, std::int32_t ranks);
  [[nodiscard]] static Mapping* own_page();
  [[nodiscard]] bool open_up_to(std::uint64_t offset) const;

  std::byte* base_ = nullptr;
  Mapping* mapping_ = nullptr;
};

/// Makes a memfd of the right size, which nobody can change; -1 with errno set on failure.
[[nodiscard]] int create_segment_fd(std::int32_t ranks);
/// Whether `fd` is sealed memory of the size that `ranks` need.
[[nodiscard]] bool is_segment(int fd, std::int32_t ranks);
/// Maps it; a false Segment with errno set on failure.
[[nodiscard]] Segment map_segment(int fd, std::int32_t ranks);

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
