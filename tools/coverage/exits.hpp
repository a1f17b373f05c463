// Included before every source of a coverage build (option NPLUS1_COVERAGE): a process that ends with _exit() runs no
// destructors, and its counters would be lost. The preloaded library, whose _exit() is its own, does the same there.
#pragma once

#include <stdlib.h>
#include <unistd.h>

extern "C" void __gcov_dump(void);  // NOLINT: libgcov's

[[noreturn]] inline void nplus1_counted_exit(int code) noexcept {
  __gcov_dump();
  ::_exit(code);
}

namespace std {  // NOLINT: where the macro below leads std::_Exit
using ::nplus1_counted_exit;
}

#define _exit nplus1_counted_exit
#define _Exit nplus1_counted_exit
