// Whether this process may have a copy without anybody noticing. In the process itself, on its first thread; nothing allocates.
#pragma once

#include <cstdint>

namespace nplus1::stubs::twin {

struct Alone {
  int threads = 0;                 // those of the MPI library too; 0: nothing can be read
  bool traced = false;             // a debugger is told of each copy
  bool filtered = false;           // by itself (seccomp): its filter of system calls may end who makes a copy
  std::int64_t private_pages = 0;  // of its memory, which a copy has to be shown
  bool bears_the_first =
      false;  // the next child is the first of a PID namespace, which ends with it (unshare)

  /// `most_threads`: those that stay out of a copy's way.
  [[nodiscard]] bool may_have_a_twin(int most_threads) const {
    return threads > 0 && threads <= most_threads && !traced && !filtered && !bears_the_first;
  }
};
[[nodiscard]] Alone look_around() noexcept;

}  // namespace nplus1::stubs::twin
