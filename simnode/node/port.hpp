// The simulator's end of one rank's line: slots in, slots out. Shared memory for ranks of this host, TCP for
// others. Single-threaded.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "events/event.hpp"
#include "stubs/transport/segment.hpp"

namespace nplus1::simnode::node {

/// Puts events, their details and their extensions together again.
class EventAssembler {
 public:
  /// Takes the next slot; true when `event()` and `extension()` are complete. Throws std::runtime_error when an event
  /// announces more than any has.
  bool take(const transport::Slot& slot);
  [[nodiscard]] const events::Event& event() const { return event_; }
  /// Null where the event has none.
  [[nodiscard]] const events::Detail* detail() const {
    return event_.has(events::kHasDetail) ? &detail_ : nullptr;
  }
  /// What followed event and detail: its lists.
  [[nodiscard]] std::span<const std::byte> extension() const { return extension_; }

 private:
  events::Event event_;
  events::Detail detail_;
  std::vector<std::byte> extension_;
  std::uint32_t missing_ = 0;
  bool detail_next_ = false;
  bool excerpt_next_ = false;
};

class Port {
 public:
  virtual ~Port() = default;
  /// Calls `take(slot)` for what has come, at most `limit` slots; how many there were. Throws std::runtime_error when
  /// the line holds what no rank writes.
  virtual std::size_t read(std::size_t limit, const std::function<void(const transport::Slot&)>& take) = 0;
  /// Sends what fits of the queue of answers, and wakes the rank if anything was sent.
  virtual void flush() = 0;
  [[nodiscard]] virtual bool has_input() const = 0;
  /// Shared state of the rank; null over TCP.
  [[nodiscard]] virtual transport::RankBlock* block() { return nullptr; }

  void send(const events::Answer& answer, std::span<const std::byte> extension);
  [[nodiscard]] virtual bool has_output() const { return !queue_.empty(); }

  EventAssembler assembler;

 protected:
  std::deque<transport::Slot> queue_;
};

std::unique_ptr<Port> make_shared_memory_port(transport::RankBlock& block);
std::unique_ptr<Port> make_tcp_port(int socket);

}  // namespace nplus1::simnode::node
