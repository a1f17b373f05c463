// Ranks that end without MPI_Finalize: by _exit(), exit() or the end of main. Hydra takes the end of such a rank's
// connection for a failure and kills all others, also those that would have ended in the next millisecond: the job's
// exit code is decided by who is faster. So a rank waits a moment for the others. Where all end, each takes its leave of
// Hydra as MPI_Finalize would have, and the exit codes are the program's own; else Hydra does what it does bare.
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "stubs/access/watch.hpp"
#include "stubs/runtime/guard.hpp"
#include "stubs/runtime/keeper.hpp"
#include "stubs/runtime/keeper_pmi.hpp"
#include "stubs/runtime/runtime.hpp"

#ifdef NPLUS1_COVERAGE
extern "C" void __gcov_dump(void);  // NOLINT: libgcov's
#endif

namespace nplus1::stubs {
namespace {

constexpr int kMomentMs = 1000;

void take_leave_of_hydra(int descriptor) {
  LineReader lines{descriptor};
  if (!write_all(descriptor, "cmd=finalize\n")) return;
  [[maybe_unused]] const auto answer = lines.next(std::chrono::milliseconds{kMomentMs});
}

/// Not in a child of vfork(), which sees the rank's memory.
void end_as_others_do() noexcept {
  if (!active() || getpid() != own_process()) return;
  set_active(false);
  access::end();
  try {
    const int descriptor = process_manager();
    if (descriptor >= 0 && runtime()->end_together(kMomentMs)) take_leave_of_hydra(descriptor);
  } catch (...) {  // no memory for a line: as bare
  }
}

__attribute__((destructor)) void end_of_process() {
  end_as_others_do();
}

[[noreturn]] void end_now(int code) {
  end_as_others_do();
#ifdef NPLUS1_COVERAGE  // no destructor will write the counters
  __gcov_dump();
#endif
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace
}  // namespace nplus1::stubs

#define NPLUS1_EXPORT extern "C" __attribute__((visibility("default")))

NPLUS1_EXPORT void _exit(int code) {
  nplus1::stubs::end_now(code);
}
NPLUS1_EXPORT void _Exit(int code) noexcept {
  nplus1::stubs::end_now(code);
}
