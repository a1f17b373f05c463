// What is known of requests, for who waits for them. A table as large as it will ever be: a request that finds its set full
// takes another one's place. Never taken out: a handle that is used again is written again.
// From any thread; where threads are told to share it, one may wait for another for a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

#include "events/mpi_call.hpp"
#include "events/statistics/page.hpp"

namespace nplus1::stubs::statistics {

struct RequestUse {
  std::int32_t peer = -2;
  events::statistics::WaitKind kind = events::statistics::WaitKind::kNone;
  events::MpiCall call = events::MpiCall::kNone;
  std::uint64_t communicator = 0;  // of a collective: as in page::ThreadState
  std::uint64_t ordinal = 0;
  std::uint32_t members = 0;
  std::uint32_t ranges = 0;
};

class RequestTable {
 public:
  static constexpr std::size_t kSets = 8192, kWays = 4;

  /// `shared`: several threads may call it at a time.
  explicit RequestTable(bool shared);

  /// `handle` is the request's, and not 0.
  void note(std::uint64_t handle, const RequestUse& use);
  [[nodiscard]] std::optional<RequestUse> find(std::uint64_t handle) const;

 private:
  struct Slot {
    std::uint64_t handle;
    RequestUse use;
  };
  static_assert(std::is_trivially_destructible_v<Slot>);
  struct Free {
    void operator()(Slot* slots) const;
  };
  static constexpr std::size_t kLocks = 64;

  /// Holds the set back from other threads.
  [[nodiscard]] std::unique_lock<std::mutex> hold(std::size_t set) const;

  std::unique_ptr<Slot[], Free> slots_;  // untouched where no request was; null: no memory, nothing is known
  bool shared_;
  mutable std::mutex locks_[kLocks];
};

}  // namespace nplus1::stubs::statistics
