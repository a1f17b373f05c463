// How fast a host computes: what `nplus1 calibrate --host` measures, its file (docs/formats/host.md), and how many
// times longer one host takes than another. Pure but for reading a file; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace nplus1::calibrate {

/// A cache level or the memory: what a single thread gets of it.
struct MemoryLevel {
  std::string name;           // "L1", "L2", "L3", "memory"
  std::uint64_t bytes = 0;    // of the level; of memory: 0
  std::uint64_t touched = 0;  // bytes that the measurement went over
  double bandwidth = 0;       // read, bytes per second
  double latency_s = 0;       // of a load that depends on the load before it
};

struct Host {
  std::string name, processor, date;
  double scalar_flops = 0;  // additions and multiplications of doubles a second, one at a time
  double vector_flops = 0;  // with the widest vectors that the processor and our compiler have
  unsigned vector_bits = 0;
  std::vector<MemoryLevel> levels;  // nearest first; the last is the memory
};

inline constexpr std::string_view kHostSchema = "nplus1-host/1";

[[nodiscard]] std::string host_json(const Host& host);
/// Errors name the key, and `name` as the file.
[[nodiscard]] Result<Host> parse_host(std::string_view json, const std::string& name);
/// At most a megabyte.
[[nodiscard]] Result<Host> read_host(const std::filesystem::path& file);

/// What computing is limited by.
struct HostRatio {
  std::string kind;   // "scalar", "vector", "L1", "L1-latency", ... "memory", "memory-latency"
  double factor = 1;  // the time there, divided by the time here
};

/// Of all kinds that both files have.
[[nodiscard]] std::vector<HostRatio> host_ratios(const Host& here, const Host& there);

/// `--host-speed FILE:FILE[:KIND]`: how many times longer computing takes there, if all of it is of that kind (scalar, if
/// none is said), and all that the two files say. Nothing of `text` names a file: no value.
struct HostComparison {
  Host here, there;
  std::string kind;
  double factor = 1;
  std::vector<HostRatio> all;
};
[[nodiscard]] Result<HostComparison> compare_hosts(std::string_view text);

}  // namespace nplus1::calibrate
