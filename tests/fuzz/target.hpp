// What every fuzz target is: one reader, given any bytes. It must return: a crash, an endless loop, memory out of
// proportion, or an exception is a finding. Two programs are made of each (CMakeLists.txt): with clang, libFuzzer's; with
// any compiler one that mutates by itself (driver.cpp), which the tests run for a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nplus1::fuzz {

using Input = std::span<const std::uint8_t>;

/// To be defined by each target. Whether the reader took the whole input.
[[nodiscard]] bool run(Input input);
/// Inputs that get far: where mutation starts from. The reader must take text as it is (is_text()), and some of what chance
/// makes.
[[nodiscard]] std::vector<std::string> seeds();
/// Whether inputs are lines of words, which are mutated as such.
[[nodiscard]] bool is_text();

/// No input may take longer: what it says is then out of proportion to what it is.
inline constexpr unsigned kSecondsEach = 20;
/// run(), which is a crash when it, or a child that it forks, has had that much processor time: on a busy machine, or where the
/// process is stopped for a while, time that passes says nothing.
bool run_in_time(Input input);

/// For a target whose format has lengths and counts: the input with one of its values changed and all lengths right, so
/// that the reader gets further than it does with loose bytes. Nothing where a target does not define it.
[[nodiscard]] std::optional<std::string> mutated_by_structure(Input input, std::uint64_t seed);

/// `input` changed in a few places: numbers to extremes, words and lines copied and cut, bytes. `partner`: another
/// input, to take pieces from.
[[nodiscard]] std::string mutated(std::string_view input, std::string_view partner, bool text,
                                  std::uint64_t seed);

[[nodiscard]] inline std::string_view as_text(Input input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

/// The input as a file without a place in the file system: in /proc/self/fd, as long as this lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::filesystem::path path() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Where an input that needs files has them: in memory, if there is such a place.
[[nodiscard]] inline std::filesystem::path in_memory() {
  const std::filesystem::path shared{"/dev/shm"};
  return std::filesystem::is_directory(shared) ? shared : std::filesystem::temp_directory_path();
}

/// Takes numbers off the input, zeros behind its end: the fuzzer decides what a generator does.
class Choices {
 public:
  explicit Choices(Input input) : left_{input} {}
  [[nodiscard]] bool empty() const { return left_.empty(); }
  std::uint8_t byte();
  /// 0..limit-1.
  std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : number(2) % limit; }
  /// One in `n`.
  bool once_in(std::uint64_t n) { return byte() % n == 1; }
  /// A number that is mostly sound: below `usual`; now and then an extreme, or anything.
  std::int64_t value(std::int64_t usual);

 private:
  std::uint64_t number(int bytes);
  Input left_;
};

}  // namespace nplus1::fuzz
