// Pages that a thread touches for the first time. Each is a fault, in which the kernel finds a page and clears it, and on a virtual machine
// its host may have to find one, too: 1.6 to 5.9 us a page, and in one run nearly twice what it is in the next (docs/benchmarks.md). What
// a program does once (reads its input, fills its arrays) is mostly that, and no twin repeats it.
//
// What a page takes at the moment is measured by touching others: the pages before them in the kernel's list went to the program.
//
// One thread. Linux; elsewhere nothing is known. Memory: 1 MiB at most, after many faults.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nplus1::stubs {

struct PageFaults {
  std::int64_t count = 0;
  std::int64_t each_ns = 0;
};

class FirstTouch {
 public:
  FirstTouch() = default;
  FirstTouch(const FirstTouch&) = delete;
  FirstTouch& operator=(const FirstTouch&) = delete;
  ~FirstTouch();

  /// Counts the thread's faults from here on.
  void begin() noexcept;
  /// ... no longer.
  void forget() noexcept { before_ = -1; }
  /// Those since begin(), and what each takes now; none where they are few, or begin() was not called since the last time. Takes a quarter of
  /// what they took, 0.5 ms at most.
  [[nodiscard]] PageFaults end() noexcept;

 private:
  [[nodiscard]] std::int64_t cost_of_one_ns(std::int64_t like) noexcept;

  std::int64_t before_ = -1;
  void* touched_ = nullptr;  // kept until others are touched, which else would be the same ones
  std::size_t bytes_ = 0;
};

}  // namespace nplus1::stubs
