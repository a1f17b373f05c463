#include "calibrate/host_measure.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace nplus1::calibrate {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kMostMemory = std::size_t{256} << 20U;
constexpr std::size_t kLeastMemory = std::size_t{64} << 20U;
/// On a host whose cores others have, rounds take longer: after so long as many must do.
constexpr std::chrono::seconds kPatience{15};
constexpr int kFewestRounds = 3;
constexpr double kRoundS = 0.008;
constexpr std::size_t kMostLoads = 16384;  // short of a time slice, also where each takes 300 ns

/// This thread's CPU time, in seconds: while others run, nothing passes.
double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Keeps the compiler from computing it beforehand, or not at all.
template <class T>
void used(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}

// --- floating point ---

// Ten chains x = x a + b side by side, so that none waits for itself; named one by one, so that each stays in a register.
// A function for each width: a vector is a register only where its function may use it. `one_by_one` keeps the scalars
// from being made a vector. Returns the operations.
#define NPLUS1_CHAINS(name, type, lanes, target_of, one_by_one)                  \
  __attribute__((target(target_of))) double name(std::size_t times) {            \
    typedef type Number;                                                         \
    Number p = Number{} + 1., q = p + 1., r = q + 1., s = r + 1., t = s + 1.;    \
    Number u = t + 1., v = u + 1., w = v + 1., x = w + 1., y = x + 1.;           \
    const Number a = Number{} + 0.999, b = Number{} + 1e-3;                      \
    for (std::size_t i = 0; i < times; ++i) {                                    \
      p = p * a + b, q = q * a + b, r = r * a + b, s = s * a + b, t = t * a + b; \
      u = u * a + b, v = v * a + b, w = w * a + b, x = x * a + b, y = y * a + b; \
      one_by_one                                                                 \
    }                                                                            \
    used(p + q + r + s + t + u + v + w + x + y);                                 \
    return 2.0 * 10 * (lanes) * static_cast<double>(times);                      \
  }
typedef double Vector128 __attribute__((vector_size(16)));
typedef double Vector256 __attribute__((vector_size(32)));
typedef double Vector512 __attribute__((vector_size(64)));
NPLUS1_CHAINS(scalar_chains, double, 1, "sse2",
              asm volatile(""
                           : "+x"(p), "+x"(q), "+x"(r), "+x"(s), "+x"(t), "+x"(u), "+x"(v), "+x"(w), "+x"(x),
                             "+x"(y));)
NPLUS1_CHAINS(chains_128, Vector128, 2, "sse2", )
NPLUS1_CHAINS(chains_256, Vector256, 4, "avx2,fma", )
NPLUS1_CHAINS(chains_512, Vector512, 8, "avx512f", )
#undef NPLUS1_CHAINS

// --- memory ---

/// Reads all of it, with as many sums at a time as loads can be under way.
#define NPLUS1_READ_ALL(name, bits, target_of)                                                   \
  __attribute__((target(target_of))) double name(const unsigned char* from, std::size_t bytes) { \
    typedef unsigned long long Vector __attribute__((vector_size((bits) / 8)));                  \
    Vector sums[8] = {};                                                                         \
    for (std::size_t at = 0; at + 8 * sizeof(Vector) <= bytes; at += 8 * sizeof(Vector))         \
      for (std::size_t c = 0; c < 8; ++c) {                                                      \
        Vector v;                                                                                \
        std::memcpy(&v, from + at + c * sizeof(Vector), sizeof(Vector));                         \
        sums[c] += v;                                                                            \
      }                                                                                          \
    used(sums);                                                                                  \
    return static_cast<double>(bytes);                                                           \
  }
NPLUS1_READ_ALL(read_128, 128, "sse2")
NPLUS1_READ_ALL(read_256, 256, "avx2")
NPLUS1_READ_ALL(read_512, 512, "avx512f")
#undef NPLUS1_READ_ALL

unsigned widest() {
  if (__builtin_cpu_supports("avx512f")) return 512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 256;
  return 128;
}

/// Memory that the kernel may back with huge pages, so that what is measured is caches, and not page tables.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_{bytes} {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    madvise(at, bytes, MADV_HUGEPAGE);
    at_ = static_cast<unsigned char*>(at);
    std::memset(at_, 1, bytes);
  }
  ~Memory() {
    if (at_ != nullptr) munmap(at_, bytes_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] unsigned char* at() const { return at_; }

 private:
  unsigned char* at_ = nullptr;
  std::size_t bytes_;
};

/// One cycle through all lines of the first `bytes`, in an order that no prefetcher follows (Sattolo's algorithm).
void make_cycle(unsigned char* at, std::size_t bytes) {
  const std::size_t lines = bytes / kLine;
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random{1};
  for (std::size_t i = lines - 1; i > 0; --i) std::swap(order[i], order[random() % i]);
  for (std::size_t i = 0; i < lines; ++i) {
    void* next = at + std::size_t{order[i]} * kLine;
    std::memcpy(at + i * kLine, &next, sizeof(next));
  }
}

void* follow(void* from, std::size_t loads) {
  void* at = from;
  for (std::size_t i = 0; i < loads; ++i) {
    std::memcpy(&at, at, sizeof(at));
    asm volatile("" : "+r"(at));
  }
  return at;
}

/// The data or unified cache of that level that this processor's first core sees, as the kernel tells; 0 if it does not.
std::size_t cache_bytes(int level) {
  for (int index = 0;; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream level_file{folder + "level"}, type_file{folder + "type"}, size_file{folder + "size"};
    int of_level = 0;
    std::string type;
    std::size_t size = 0;
    char unit = ' ';
    if (!(level_file >> of_level) || !(type_file >> type)) return 0;
    if (of_level != level || type == "Instruction" || !(size_file >> size)) continue;
    size_file >> unit;
    return size << (unit == 'M' ? 20U : unit == 'K' ? 10U : 0U);
  }
}

/// What is surely in no nearer cache, and surely in this one, whoever else uses it: the geometric mean of the two sizes
/// (half of the first); of memory four times the last.
std::vector<MemoryLevel> levels_here() {
  std::vector<MemoryLevel> levels;
  std::size_t last = 0;
  for (int level = 1; level <= 4; ++level) {
    const std::size_t bytes = cache_bytes(level);
    if (bytes <= last) continue;
    const double mean =
        std::sqrt(static_cast<double>(bytes) * static_cast<double>(last > 0 ? last : bytes / 4));
    levels.push_back(
        {"L" + std::to_string(level), bytes, static_cast<std::size_t>(mean) / 4096 * 4096, 0, 0});
    last = bytes;
  }
  levels.push_back({"memory", 0, std::clamp(4 * last, kLeastMemory, kMostMemory), 0, 0});
  return levels;
}

/// How often something is to be done to take about kRoundS.
std::size_t times_for(const std::function<void(std::size_t)>& work) {
  std::size_t times = 1;
  while (true) {
    const double begin = cpu_now();
    work(times);
    const double took = (cpu_now() - begin);
    if (took > kRoundS / 4)
      return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(times) * kRoundS / took));
    times *= 4;
  }
}

/// Something that is measured in many rounds: the shortest time of one of its units.
struct Quantity {
  std::function<void(std::size_t)> work;
  double units_each = 1;  // of one time
  std::size_t warm = 1;   // times until all of it is in its cache
  std::size_t times = 1;
  double best = std::numeric_limits<double>::infinity();

  void calibrate() { times = times_for(work); }
  void round() {
    work(warm);
    const double begin = cpu_now();
    work(times);
    best = std::min(best, (cpu_now() - begin) / (static_cast<double>(times) * units_each));
  }
};

std::string processor_name() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "unknown";
}

std::string today() {
  char date[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::strftime(date, sizeof(date), "%Y-%m-%d", &parts);
  return date;
}

std::string host_name() {
  char name[256] = "unknown";
  gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace

Result<Host> measure_host(int rounds) {
  Host host{host_name(), processor_name(), today(), 0, 0, widest(), levels_here()};
  std::size_t chased = 0;
  for (const MemoryLevel& level : host.levels) chased += level.touched;
  const Memory for_reading{host.levels.back().touched}, for_chasing{chased};
  if (for_reading.at() == nullptr || for_chasing.at() == nullptr)
    return Error{
        "there is no memory for two blocks of " + std::to_string(host.levels.back().touched >> 20U) + " MiB",
        "make room, and measure again"};
  const auto chains = host.vector_bits == 512   ? chains_512
                      : host.vector_bits == 256 ? chains_256
                                                : chains_128;
  const auto read_all = host.vector_bits == 512 ? read_512 : host.vector_bits == 256 ? read_256 : read_128;
  std::vector<Quantity> all;
  all.push_back({[](std::size_t times) { used(scalar_chains(1000 * times)); }, scalar_chains(1000)});
  all.push_back({[chains](std::size_t times) { used(chains(1000 * times)); }, chains(1000)});
  unsigned char* free = for_chasing.at();
  for (const MemoryLevel& level : host.levels) {
    const std::size_t touched = level.touched;
    all.push_back({[&for_reading, read_all, touched](std::size_t times) {
                     for (std::size_t i = 0; i < times; ++i) used(read_all(for_reading.at(), touched));
                   },
                   static_cast<double>(touched)});
    const std::size_t loads = std::min(kMostLoads, touched / kLine);
    make_cycle(free, touched);
    all.push_back({[at = static_cast<void*>(free), loads](std::size_t times) mutable {
                     for (std::size_t i = 0; i < times; ++i) at = follow(at, loads);
                     used(at);
                   },
                   static_cast<double>(loads), level.bytes == 0 ? 1 : touched / kLine / loads + 1});
    free += touched;
  }
  for (Quantity& quantity : all) quantity.calibrate();
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    if (round >= kFewestRounds && std::chrono::steady_clock::now() - begin > kPatience) break;
    for (Quantity& quantity : all) quantity.round();
  }
  host.scalar_flops = 1 / all[0].best;
  host.vector_flops = 1 / all[1].best;
  for (std::size_t i = 0; i < host.levels.size(); ++i) {
    host.levels[i].bandwidth = 1 / all[2 + 2 * i].best;
    host.levels[i].latency_s = all[3 + 2 * i].best;
  }
  return host;
}

}  // namespace nplus1::calibrate
