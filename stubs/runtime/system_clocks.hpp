// The system's clocks in virtual time (--virtual-clocks), and which clocks the program reads. begin() is collective over
// all ranks; the rest from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace nplus1::stubs {

class SystemClocks {
 public:
  void begin();
  /// What the clock `id` shows at virtual time zero: the same for CLOCK_REALTIME on all ranks.
  [[nodiscard]] std::int64_t origin_ns(clockid_t id) const;

  /// The program reads a clock: `virtual_one`, MPI_Wtime's, or the system's.
  void note_read(bool virtual_one) {
    (virtual_one ? reads_of_virtual_ : reads_of_system_).fetch_add(1, std::memory_order_relaxed);
  }
  /// How often it read the system's, if it never asked for MPI_Wtime.
  [[nodiscard]] std::int64_t reads_of_others() const {
    return reads_of_virtual_.load(std::memory_order_relaxed) == 0
               ? reads_of_system_.load(std::memory_order_relaxed)
               : 0;
  }

 private:
  std::atomic<std::int64_t> reads_of_virtual_{0};
  std::atomic<std::int64_t> reads_of_system_{0};
  std::int64_t origin_ns_ = 0;              // CLOCK_REALTIME's
  std::array<std::int64_t, 16> lead_ns_{};  // of each system clock before CLOCK_REALTIME
};

}  // namespace nplus1::stubs
