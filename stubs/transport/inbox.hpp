// Message stamps from sender to receiver through shared memory. Each rank's inbox is a lock-free stack:
// writers push, the reader takes everything at once and reverses it, so stamps of one sender stay in order.
// Read stamps go back to their sender the same way. Nobody ever waits for anybody, not even for a process
// that was killed.
#pragma once

#include "stubs/transport/segment.hpp"

namespace nplus1::transport {

/// The sender's side: its own pool of stamps. One per process; not thread-safe.
class StampSender {
 public:
  StampSender(Segment segment, std::int32_t me) : segment_{segment}, me_{me} {}

  /// A stamp to fill; null only when the arena is exhausted (64 million stamps in flight).
  [[nodiscard]] Stamp* allocate();
  /// Puts `stamp` into the inbox of `destination` and rings if it sleeps.
  void deliver(Stamp& stamp, std::int32_t destination);

 private:
  bool grab();

  Segment segment_;
  std::int32_t me_;
  std::uint64_t free_ = 0;  // offset of the first free stamp
};

/// The receiver's side. One per process; not thread-safe.
/// What other processes have written is believed only as far as it can be true: an offset where no stamp can be, or a
/// list that goes round in circles, ends reading for good (broken()); nothing else is touched.
class StampReceiver {
 public:
  StampReceiver(Segment segment, std::int32_t me) : segment_{segment}, me_{me} {}

  /// Calls `take(const Stamp&)` for each stamp delivered so far, in order per sender.
  template <class Take>
  void drain(Take&& take) {
    while (Stamp* stamp = next()) {
      take(static_cast<const Stamp&>(*stamp));
      give_back(*stamp);
    }
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  [[nodiscard]] Stamp* next();
  [[nodiscard]] bool take_all();
  void give_back(Stamp& stamp);

  Segment segment_;
  std::int32_t me_;
  std::uint64_t first_ = 0;  // next stamp to read, oldest first
  std::uint64_t left_ = 0;   // as many are to be read; 0 = take what has come since
  bool broken_ = false;
};

}  // namespace nplus1::transport
