// A rank's line to the simulator: events out, answers in, and a place to sleep. Two kinds: shared memory on
// the simulator's host, a TCP socket elsewhere. One per process; the caller serialises (the runtime's lock),
// except prepare_sleep/sleep/awake, which any thread may call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "events/event.hpp"
#include "stubs/transport/segment.hpp"

namespace nplus1::transport {

class Channel {
 public:
  virtual ~Channel() = default;

  /// Appends an event, its detail (if not null; says so in the event) and its extension (`event.extension`
  /// slots). Waits for space; never drops.
  virtual void write(const events::Event& event, const void* extension,
                     const events::Detail* detail = nullptr) = 0;
  /// Makes the simulator look at what was written.
  virtual void ring() = 0;
  /// The next slot that the simulator sent, if any.
  virtual bool read(Slot& slot) = 0;

  /// Sleep without missing a wake-up: ticket = prepare_sleep(); if nothing has changed: sleep(ticket, ns);
  /// awake().
  virtual std::uint32_t prepare_sleep() = 0;
  virtual void sleep(std::uint32_t ticket, std::int64_t nanoseconds) = 0;
  virtual void awake() = 0;

  /// The rank goes on without the simulator, which is told so: it lets all others go, too.
  virtual void leave() = 0;
  /// The process is about to end. Waits until all ranks are, and says whether that came about within `milliseconds`
  /// (shared-memory kind only; else never).
  [[nodiscard]] virtual bool end_together(int milliseconds) = 0;
  /// Whether the simulator has died or left.
  [[nodiscard]] virtual bool simulator_gone() = 0;
  /// How often ring() has written 8 bytes to the simulator.
  [[nodiscard]] virtual std::uint64_t wakes() const { return 0; }
  /// Shared state, for the shared-memory kind only (null for TCP).
  [[nodiscard]] virtual RankBlock* block() = 0;
};

/// Over TCP a rank that waits shows by an event of no kind, now and then, what RankBlock shows on the simulator's host: how
/// often it has looked in vain, and how often MPI's progress has found something.
[[nodiscard]] inline events::Event shown_looks(std::uint32_t looks, std::uint32_t moves) {
  events::Event event;
  event.kind = events::EventKind::kNone;
  event.aux = std::uint64_t{looks} << 32U | moves;
  return event;
}

/// What is said on the unix socket, which else stays silent: by a rank that ends or leaves the simulation, and, when
/// all end, by the simulator.
enum Word : char { kLeave = 'l', kEnd = 'e', kAllEnd = 'a' };

/// `socket` stays open as the sign of life; `wake_fd` is the simulator's eventfd.
std::unique_ptr<Channel> make_shared_memory_channel(Segment segment, std::int32_t rank, int socket,
                                                    int wake_fd);
std::unique_ptr<Channel> make_tcp_channel(int socket);

}  // namespace nplus1::transport
