// The counters of coverage (clang's inline-8bit-counters) of the program or module that this is linked into, in memory that
// its forked children share: a reader that is guarded by a child would be tried blindly otherwise. Whole pages of them only;
// what else lies on the first and the last is not to be shared.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

/// Of each program and module its own, from the linker.
extern "C" __attribute__((visibility("hidden")))
std::uint8_t __start___sancov_cntrs[],  // NOLINT(bugprone-reserved-identifier)
    __stop___sancov_cntrs[];            // NOLINT(bugprone-reserved-identifier)

/// libFuzzer's: to be told twice does no harm.
extern "C" void __sanitizer_cov_8bit_counters_init(  // NOLINT(bugprone-reserved-identifier)
    std::uint8_t* begin, std::uint8_t* end);

namespace {

/// GNU ld leaves what the compiler says of a module's counters to libFuzzer at nothing, so that is said again; before anything
/// loads another module, for libFuzzer compares with the last.
__attribute__((constructor(101))) void share_counters() {
  __sanitizer_cov_8bit_counters_init(__start___sancov_cntrs, __stop___sancov_cntrs);
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(__start___sancov_cntrs) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(__stop___sancov_cntrs) / page * page;
  if (first >= end) return;
  auto* const counters = reinterpret_cast<std::uint8_t*>(first);
  const std::vector<std::uint8_t> values(counters, counters + (end - first));
  ::mmap(counters, values.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  std::memcpy(counters, values.data(), values.size());
}

}  // namespace
