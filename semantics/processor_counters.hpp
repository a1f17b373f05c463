// What the processor counts of a thread: instructions and cycles in user mode, read without a system call
// (perf_event_open, rdpmc). For `--clock instructions`.
//
// A counter is of the thread that opened it and may be read by that thread only. It keeps no file open: the kernel's page
// holds the event. A forked child has no such page. Source: linux/perf_event.h, struct perf_event_mmap_page.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "support/result.hpp"

namespace nplus1::semantics {

struct ProcessorCounts {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  friend bool operator==(const ProcessorCounts&, const ProcessorCounts&) = default;
};

class ProcessorCounter {
 public:
  virtual ~ProcessorCounter() = default;
  /// Since the thread opened it. Nothing while the kernel needs the registers for somebody else.
  [[nodiscard]] virtual std::optional<ProcessorCounts> read() noexcept = 0;
};

/// Of the calling thread. Errors: why this host's counters cannot be read, and what to do instead. For tests: with
/// TEST_NPLUS1_COUNTS in the environment, the program's own two numbers nplus1_test_counts (instructions, cycles), 0 in
/// programs without; there are none if it is set to none.
[[nodiscard]] Result<std::unique_ptr<ProcessorCounter>> open_processor_counter();

/// One counter's value, as the kernel's page (perf_event_mmap_page, or a type with the same members) says to read it:
/// the kernel changes `lock` whenever it moves the event, and then what was read in between does not fit together.
/// `read_register` is rdpmc. Nothing if the event is in no register, or is moved again and again.
template <class Page, class ReadRegister>
[[nodiscard]] std::optional<std::uint64_t> read_counter(const volatile Page& page,
                                                        ReadRegister&& read_register) noexcept {
  constexpr int kTries = 64;
  for (int i = 0; i < kTries; ++i) {
    const auto lock = page.lock;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the kernel runs on this thread's processor
    const auto index = page.index;
    auto count = static_cast<std::uint64_t>(page.offset);
    const unsigned width = page.pmc_width;
    if (index != 0 && width > 0 && width <= 64) {
      const unsigned above = 64U - width;  // the register's sign
      const auto in_register = static_cast<std::uint64_t>(read_register(index - 1)) << above;
      count += static_cast<std::uint64_t>(static_cast<std::int64_t>(in_register) >> above);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (page.lock != lock) continue;
    if (index == 0) return std::nullopt;
    return count;
  }
  return std::nullopt;
}

}  // namespace nplus1::semantics
