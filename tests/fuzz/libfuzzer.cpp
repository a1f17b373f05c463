// Ties a target to libFuzzer: its own mutations, ours, and the seeds where there is no corpus yet.
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/fuzz/target.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

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
