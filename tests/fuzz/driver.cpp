// Runs a target without libFuzzer: on the files named, and on mutations of its seeds. One line at the end. A crash
// leaves its input in the file that --keep names, written before each run.
//   fuzz_X [--runs N] [--seconds S] [--seed K] [--keep FILE] [FILE...]
// The seconds are processor time, its children's too.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "support/sanitized.hpp"
#include "tests/fuzz/target.hpp"

namespace nplus1::fuzz {
namespace {

/// Nor may an input take more memory.
constexpr rlim_t kMemory = rlim_t{3} << 30U;

struct Words {
  std::uint64_t runs = 0;
  std::uint64_t seconds = 0;
  std::uint64_t seed = 1;
  std::string keep;
  std::vector<std::string> files;
};

Words parse(int count, char** words) {
  Words parsed;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto number = [&] { return i + 1 < count ? std::strtoull(words[++i], nullptr, 10) : 0; };
    if (word == "--runs")
      parsed.runs = number();
    else if (word == "--seconds")
      parsed.seconds = number();
    else if (word == "--seed")
      parsed.seed = number();
    else if (word == "--keep" && i + 1 < count)
      parsed.keep = words[++i];
    else
      parsed.files.push_back(word);
  }
  return parsed;
}

/// Processor time so far, with that of the children that have ended.
double seconds_used() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  return seconds;
}

bool run_one(const std::string& input, const std::string& keep) {
  if (!keep.empty()) std::ofstream{keep, std::ios::binary} << input;
  return run_in_time({reinterpret_cast<const std::uint8_t*>(input.data()), input.size()});
}

/// A reader that refuses where mutation starts from is not tried at all.
void run_seeds(const std::vector<std::string>& seeds, const std::string& keep) {
  std::size_t whole = 0;
  for (const std::string& seed : seeds) whole += run_one(seed, keep) ? 1U : 0U;
  if (whole >= (is_text() ? seeds.size() : 1)) return;
  std::fprintf(stderr, "of %zu seeds the reader takes %zu: nothing gets far from the others\n", seeds.size(),
               whole);
  std::exit(1);
}

std::uint64_t run_all(const Words& words) {
  std::uint64_t runs = 0;
  for (const std::string& file : words.files) {
    std::ifstream in{file, std::ios::binary};
    static_cast<void>(run_one({std::istreambuf_iterator<char>{in}, {}}, words.keep));
    ++runs;
  }
  std::vector<std::string> pool = seeds();
  run_seeds(pool, words.keep);
  runs += pool.size();
  const std::size_t fixed = pool.size();
  const auto until = static_cast<double>(words.seconds);
  for (std::uint64_t i = 0; i < words.runs || (words.seconds > 0 && seconds_used() < until); ++i) {
    const std::uint64_t k = words.seed * 0x9e3779b97f4a7c15U + i;
    std::string next = mutated(pool[i % pool.size()], pool[k % pool.size()], is_text(), k);
    static_cast<void>(run_one(next, words.keep));
    // Mutations of mutations: depth without knowing which was worth it.
    if (pool.size() < fixed + 200)
      pool.push_back(std::move(next));
    else if (i % 3 == 0)
      pool[fixed + k % 200] = std::move(next);
    ++runs;
  }
  return runs;
}

}  // namespace
}  // namespace nplus1::fuzz

int main(int count, char** words) {
  const rlimit memory{nplus1::fuzz::kMemory, nplus1::fuzz::kMemory};
  if (!nplus1::kReservesAddresses) setrlimit(RLIMIT_AS, &memory);
  const std::uint64_t runs = nplus1::fuzz::run_all(nplus1::fuzz::parse(count, words));
  std::printf("%llu runs in %.0f s\n", static_cast<unsigned long long>(runs), nplus1::fuzz::seconds_used());
  return 0;
}
