// The memory of a twin: which of it the program may have changed in a pass, and how it is brought back. In the twin
// only, on a stack of its own, without libc's state.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace nplus1::stubs::twin {

/// Private writable memory, [begin, end), of this process when it was made.
struct Area {
  std::uintptr_t begin, end;
};

class Pages {
 public:
  /// Reads the process's map, and takes away whatever it shares with others and could write to, but for [ours, ours_end).
  /// False: too much, or unreadable.
  [[nodiscard]] bool find(std::uintptr_t ours, std::uintptr_t ours_end) noexcept;
  /// Keeps of `parent`, which stands still, the pages that this process has written to since it was made. False: too many, or
  /// the parent's memory cannot be read.
  [[nodiscard]] bool keep_written(pid_t parent) noexcept;
  /// All that is kept is as it was.
  void restore() const noexcept;
  /// In the parent: the pages that the twin has written to are its own again, before it writes to them.
  void take_back() noexcept;
  /// In the parent, after any twin: so are all that were its own before. A copy leaves them write-protected, and each would be a
  /// page fault in one of the program's stretches.
  void take_back_all() const noexcept;

 private:
  static constexpr std::size_t kMostAreas = 2048;
  static constexpr std::size_t kMostRuns = 16384;
  struct Run {
    std::uintptr_t begin;
    std::size_t bytes;
  };
  [[nodiscard]] static bool take_away(const Run& shared) noexcept;
  [[nodiscard]] bool add(std::uintptr_t page) noexcept;
  std::size_t areas_ = 0;
  std::size_t runs_ = 0;
  std::byte* copy_ = nullptr;
  long map_ = -1;  // the twin's /proc/self/pagemap
  Area area_[kMostAreas];
  Run run_[kMostRuns];
};

}  // namespace nplus1::stubs::twin
