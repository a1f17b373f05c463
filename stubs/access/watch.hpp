// Watching the memory of messages while the program computes: `nplus1 run --record-accesses`.
//
// The pages of watched buffers are closed (mprotect) when a call of the program's into MPI has ended, and opened before
// the next begins, so that neither MPI nor its network library, in whatever thread, meets a closed page. An access to a
// closed page raises SIGSEGV: the handler (faults.cpp) sees by the cells whether it hit a buffer or only its page. A hit
// is written down, and the buffer opened as far as nothing more is to be learned; after a miss the instruction is
// executed alone, by single step, and the page closed again. System calls, whose arguments may lie in closed pages, are
// dispatched to us (dispatch.cpp), which also shows what they access. docs/accesses.md.
//
// A buffer is watched for three things at a time: the first access after its last call, accesses between a
// non-blocking call and its completion, and the last access before its next call. For the last one the buffer is closed
// again at each call of MPI's: what was touched since the one before counts as touched until then.
//
// Handlers take no memory and no lock that interrupted code may hold: all here is static, and the lock is held with the
// knowledge of its thread only while nothing of the program's is touched. Functions below are called from inside of MPI
// wrappers, on any thread, unless they say otherwise; none fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "events/event.hpp"
#include "stubs/access/cells.hpp"
#include "support/units.hpp"

namespace nplus1::stubs {
class ThreadClock;
}

namespace nplus1::stubs::access {

/// What an access must be to count: any, or a write.
enum class Watched : std::uint8_t { kNothing = 0, kWrites = 1, kAll = 2 };

inline constexpr std::size_t kMostPath = 12;

/// Return addresses, innermost first; the first one is behind the first byte of the instruction that touched. Empty
/// where an MPI call did, or nobody knows.
struct Path {
  std::uint32_t size = 0;
  const void* at[kMostPath] = {};
};

/// An access, as it is told.
struct Record {
  events::Access which{};
  events::Toucher who{};
  bool write = false;
  bool inexact = false;
  std::uint64_t ordinal = 0;  // of the call whose buffer it is
  std::uint64_t offset = 0;   // in the buffer
  std::int64_t at_ps = 0;     // the thread's virtual time
  std::int64_t tick = 0;
  std::int64_t measured_ps = -1;       // since the thread's last call, where it was seen between calls
  const ThreadClock* clock = nullptr;  // of the thread that tells it
  Path path;
};

/// The last access so far of one kind.
struct Touch {
  bool open = false;     // until when is not known yet: at the latest until the thread's next call of MPI's
  bool of_call = false;  // an MPI call, or nothing is known: the path is that of the next call
  bool inexact = true;
  bool write = false;
  events::Toucher who{};
  std::uint64_t offset = 0;
  std::int64_t until_ps = 0;  // over by then
  Path path;
};

/// Calls of MPI's that share a buffer: several sends of the same data may be under way, or wait for its first write.
struct Sharers {
  static constexpr std::size_t kMost = 16;
  std::uint64_t ordinals[kMost] = {};
  std::size_t count = 0;

  [[nodiscard]] bool has(std::uint64_t ordinal) const;
  /// The oldest makes room where there is none: its ordinal, else 0.
  [[nodiscard]] std::uint64_t add(std::uint64_t ordinal);
  void remove(std::uint64_t ordinal);
};

/// A buffer that some call of MPI's has used.
struct Buffer {
  Cells cells;
  bool live = false;
  bool partly = false;  // some of its pages cannot be watched
  Watched after{}, flight{}, track{}, armed{};
  Sharers waiting, flying;  // the calls that `after` and `flight` are for
  std::uint32_t races = 0;
  std::uint64_t used = 0;                      // by age
  std::uint64_t first_page = 0, end_page = 0;  // that may be closed
  const ThreadClock* clock = nullptr;          // of the thread that used it last
  Touch any, written;
};

/// The first access that a buffer waited for.
struct Hit {
  bool happened = false;
  bool inexact = false;
  bool write = false;
  events::Toucher who{};
  std::uint64_t ordinal = 0;  // of a call whose buffer it is
  std::uint64_t offset = 0;   // in the buffer
  long system_call = -1;      // that the program is about to make, where it is one
  Path path;
};

struct Cost {
  std::uint64_t faults = 0, steps = 0, protects = 0, system_calls = 0, given_up = 0, left_open = 0, lost = 0;
  std::int64_t fault_ns = 0, step_ns = 0, protect_ns = 0, system_call_ns = 0;
};

/// Arms the process, with everything open; empty, or why not. From the main thread, once. `measured`: compute times are,
/// and what is caught distorts them.
[[nodiscard]] std::string begin(bool measured);
[[nodiscard]] bool begun() noexcept;
/// The calling thread's clock, which stands in pages of its own.
void set_clock(ThreadClock* clock) noexcept;
/// Opens everything, for good.
void end() noexcept;

/// For who moves messages while the program computes, and must finish them before it goes on: `finish` is called when a
/// buffer that waits is hit, and before each system call in which the program may wait for others, make another process
/// or thread, or end. On the program's thread, in a handler or at the end of a wrapper, without the lock; it calls
/// release_all() where something was watched. Nothing is told as a Record then. Null: nobody wants to know.
void on_hit(void (*finish)(const Hit& hit) noexcept) noexcept;
/// Opens everything, and forgets all buffers.
void release_all() noexcept;

/// A wrapper begins and ends.
void enter() noexcept;
void leave() noexcept;

/// The buffer with these cells; made if there is none (then nothing is known of it before `now_ps`). Null where it
/// cannot be watched.
[[nodiscard]] Buffer* buffer_of(const Cells& cells, std::int64_t now_ps, const void* frame);
/// An MPI call touches cells: told to all buffers that overlap them. `first_ordinal`: of the call, whose own parts do
/// not race with each other.
void touched_by_call(const Cells& cells, bool write, bool inexact, std::int64_t now_ps,
                     std::uint64_t first_ordinal);
/// A call touches what nobody knows: all that is waited for counts as touched.
void touched_somewhere(std::int64_t now_ps);
/// While somebody else may work on memory of ours, nothing is closed: what is waited for then counts as touched when
/// the call returns.
void suspend(bool on);
/// The buffer will not be watched any more.
void forget(Buffer& buffer);
/// A record that did not come from a handler.
void add_record(const Record& record);
/// The call is over at `now_ps`: what it touched was touched until then.
void call_over(Buffer& buffer, bool write, std::int64_t now_ps);
/// The thread's interval has measured `measured` and is to be `given` long: what was seen in it is moved to the same
/// fraction of it.
void settle(const ThreadClock* clock, Time base, Duration measured, Duration given);
/// Open touches end at `now_ps`: a call of MPI's begins.
void checkpoint(const ThreadClock* clock, std::int64_t now_ps);
/// The call has come out at `now_ps`: its first touch is waited for.
void watch_after(Buffer& buffer, Watched what, std::uint64_t ordinal, std::int64_t now_ps);
/// Of a buffer with pages that cannot be watched: it may be touched from now on, and nobody would see it.
void tell_unseen(Buffer& buffer, Watched what, std::uint64_t ordinal, std::int64_t now_ps);
void watch_flight(Buffer& buffer, Watched what, std::uint64_t ordinal);

/// Takes the oldest record of that thread (null: of any) out of the log; false if there is none.
[[nodiscard]] bool take_record(const ThreadClock* clock, Record& record);
[[nodiscard]] Cost cost() noexcept;

}  // namespace nplus1::stubs::access
