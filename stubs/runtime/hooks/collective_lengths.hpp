// Members of a collective operation that disagree about its lengths: an error that MPI's blocking forms report, and its
// non-blocking ones, in which we carry them (collective.cpp), pass over. MPICH's schedules look at two bits of a message's
// tag, by which the members of a failing collective warn each other, and not at whether it was cut off. So each message of
// such a schedule that does not fit is handed to MPI with that bit set. Then the schedule fails, warns who gets its later
// messages, and the operation ends with an error as MPI's blocking form would.
//
// Needs MPICH over UCX (ucx.hpp); elsewhere lengths stay unchecked. Any thread; nothing here fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace nplus1::stubs {

/// The lengths of one collective operation, as long as MPI works on it.
class CollectiveLengths : public std::enable_shared_from_this<CollectiveLengths> {
 public:
  /// `exactly`: the bytes of the one message that this member receives, which may not be shorter either (MPI_Bcast).
  explicit CollectiveLengths(std::optional<std::size_t> exactly) noexcept : exactly_{exactly} {}
  ~CollectiveLengths();
  CollectiveLengths(const CollectiveLengths&) = delete;
  CollectiveLengths& operator=(const CollectiveLengths&) = delete;

  /// A message did not fit, here or at a member that has warned this one.
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  /// One was longer than what it was received into.
  [[nodiscard]] bool truncated() const noexcept { return truncated_.load(std::memory_order_acquire); }

  /// While one lives, the thread makes MPI begin the operation: what MPI sends and receives first shows its tag.
  class Begins {
   public:
    explicit Begins(CollectiveLengths* lengths) noexcept;
    ~Begins();
    Begins(const Begins&) = delete;
    Begins& operator=(const Begins&) = delete;
  };

 private:
  friend void begins_with(std::uint64_t tag) noexcept;
  friend struct WatchedReceive;

  std::optional<std::size_t> exactly_;
  std::atomic<bool> failed_{false}, truncated_{false};
  std::vector<std::uint64_t> operations_;  // guarded by the register's lock
};

/// MPI sends a message with this tag of UCX's.
void begins_with(std::uint64_t tag) noexcept;

/// ucp_tag_recv_nbx, by way of `receive`: of a watched operation with our callback in front of MPI's.
using TagReceive = void*(void* worker, void* buffer, std::size_t count, std::uint64_t tag, std::uint64_t mask,
                         const void* parameters);
void* receive_watched(TagReceive* receive, void* worker, void* buffer, std::size_t count, std::uint64_t tag,
                      std::uint64_t mask, const void* parameters) noexcept;

}  // namespace nplus1::stubs
