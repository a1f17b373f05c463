// Ranks that end without MPI_Finalize: by _exit(), exit() or the end of main. Hydra takes the end of such a rank's
// connection for a failure and kills all others, also those that would have ended in the next millisecond: the job's
// exit code is decided by who is faster. So a rank waits a moment for the others. Where all end, each takes its leave of
// Hydra as MPI_Finalize would have, and the exit codes are the program's own; else Hydra does what it does bare. Under
// Open MPI's starter all is as bare.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "stubs/access/watch.hpp"
#include "stubs/guard/guard.hpp"
#include "stubs/runtime/launch/launcher.hpp"
#include "stubs/runtime/launch/role.hpp"
#include "stubs/runtime/runtime.hpp"

#ifdef NPLUS1_COVERAGE
extern "C" void __gcov_dump(void);  // NOLINT: libgcov's
#endif

namespace nplus1::stubs {
namespace {

constexpr int kMomentMs = 1000;

/// Not in a child of vfork(), which sees the rank's memory.
void end_as_others_do() noexcept {
  if (!active() || getpid() != own_process()) return;
  set_active(false);
  access::end();
  try {
    if (takes_leave() && runtime()->line.end_together(kMomentMs)) take_leave();
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
