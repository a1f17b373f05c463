#include "stubs/runtime/line/vain_looks.hpp"

#include <ctime>
#include <mutex>

#include "stubs/clock/thread_clock.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/runtime/hooks/progress_hook.hpp"

namespace nplus1::stubs {

/// Generalised requests complete when the program says so, maybe in a function that MPI polls.
void VainLooks::note(bool simulated) {
  if (expects_others_.load(std::memory_order_relaxed)) return;
  if (calls_counted(MpiCall::MPI_Grequest_start) + calls_counted(MpiCall::MPIX_Grequest_start) +
          calls_counted(MpiCall::MPIX_Grequest_class_allocate) >
      0)
    return expect_others();
  transport::RankBlock* block = line_.block();
  if (block != nullptr) {
    block->native_moves.store(native_moves(), std::memory_order_relaxed);
    block->native_polls.fetch_add(1, std::memory_order_release);
  } else if (simulated) {
    tell();
  }
}

/// Over TCP, at intervals.
void VainLooks::tell() {
  constexpr std::int64_t kBetweenNs = 500'000'000;
  const std::uint32_t looks = looks_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  if (now - told_ns_.load(std::memory_order_relaxed) < kBetweenNs) return;
  std::unique_lock held{lock_, std::defer_lock};
  if (!lock_.is_held_here() && !held.try_lock()) return;
  told_ns_.store(now, std::memory_order_relaxed);
  line_.tell_looks(looks, native_moves());
}

}  // namespace nplus1::stubs
