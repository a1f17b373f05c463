// Ties a target to libFuzzer: its own mutations, ours, the seeds where there is no corpus yet, and guidance by what forked
// children reach.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/fuzz/target.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// The program's counters of coverage (clang's inline-8bit-counters), from the linker.
extern "C" std::uint8_t __start___sancov_cntrs[],
    __stop___sancov_cntrs[];  // NOLINT(bugprone-reserved-identifier)

namespace {

/// The counters into memory that children share: a reader that is guarded by a child would be tried blindly otherwise. Whole
/// pages of them only; what else lies on the first and the last is not to be shared.
void share_counters() {
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

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  share_counters();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(nplus1::fuzz::run_in_time({data, size}));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  static const std::vector<std::string> seeds = nplus1::fuzz::seeds();
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const std::string partner = seeds.empty() ? std::string{} : seeds[seed % seeds.size()];
  std::string next;
  if (size <= 1)
    next = partner;
  else if (seed % 3 == 0)
    return LLVMFuzzerMutate(data, size, most);
  else
    next = nplus1::fuzz::mutated(input, partner, nplus1::fuzz::is_text(), seed);
  if (next.size() > most) next.resize(most);
  std::memcpy(data, next.data(), next.size());
  return next.size();
}
