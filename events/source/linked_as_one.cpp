// A program whose code lies in other units than its declarations (link-time optimisation): tells where a call in an
// inlined function returns to, and the lines of that call and of the one that was inlined.
#include <dlfcn.h>

#include <cstdio>

extern "C" __attribute__((noinline)) const void* where_i_return_to() {
  asm volatile("");
  return __builtin_return_address(0);
}

namespace solver {
inline __attribute__((always_inline)) const void* step(int* line) {
  *line = __LINE__ + 1;
  const void* here = where_i_return_to();
  asm volatile("" ::: "memory");  // no tail call
  return here;
}
__attribute__((noinline)) const void* solve(int* line, int* outer) {
  *outer = __LINE__ + 1;
  return step(line);
}
}  // namespace solver

int main() {
  int line = 0, outer = 0;
  const void* address = solver::solve(&line, &outer);
  Dl_info info{};
  if (dladdr(address, &info) == 0) return 1;
  std::printf(
      "%zx %d %d\n",
      static_cast<std::size_t>(static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase)),
      line, outer);
}
