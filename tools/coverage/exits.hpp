// Included before every source of a coverage build (option NPLUS1_COVERAGE): a process that ends with _exit(), or becomes
// another program, runs no destructors, and its counters would be lost. GCC replaces exec itself only where the
// language's extensions are on. The preloaded library, whose _exit() is its own, counts there (leaving.cpp).
#pragma once

#include <stdlib.h>
#include <unistd.h>

extern "C" void __gcov_dump(void);   // NOLINT: libgcov's
extern "C" void __gcov_reset(void);  // NOLINT

[[noreturn]] inline void nplus1_counted_exit(int code) noexcept {
  __gcov_dump();
  ::_exit(code);
}

inline int nplus1_counted_execve(const char* path, char* const* words, char* const* environment) {
  __gcov_dump();
  ::execve(path, words, environment);
  __gcov_reset();  // what was dumped is not to be dumped again
  return -1;
}

inline int nplus1_counted_execvp(const char* file, char* const* words) {
  __gcov_dump();
  ::execvp(file, words);
  __gcov_reset();
  return -1;
}

namespace std {  // NOLINT: where the macro below leads std::_Exit
using ::nplus1_counted_exit;
}

#define _exit nplus1_counted_exit
#define _Exit nplus1_counted_exit
#define execve nplus1_counted_execve
#define execvp nplus1_counted_execvp
